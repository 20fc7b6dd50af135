/**
 * A machine's clock that is set back revives nothing: what ends at a time ends by the plane's clock,
 * which never runs back. Over the real gateway, replica and ledger.
 */

import { uuidv7 } from '@governance/shared/ids';
import { DEFAULT_INBOUND_ACTIONS } from '@governance/shared/inbound-settings';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { decideHold, INJECTED_PAGE } from '../testing/test-holds.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';
import { createTestWorkflows } from '../testing/test-workflows.ts';

const MINUTE_MS = 60_000;
/** What the machine's clock was set back by. */
let behind = 0;
let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  upstream = await startTestUpstream({ tools: [{ name: 'careful_read' }, INJECTED_PAGE] });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    policies: [
      {
        id: uuidv7(),
        name: 'Careful',
        rego: 'package c\nescalate contains "ask" if input.request.tool_name == "careful_read"',
      },
    ],
    config: { holdWaitMs: 1 },
    issuesTokens: true,
    planeNow: () => Date.now() + behind,
  });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

beforeEach(async () => {
  await plane.records();
  behind = 0;
  agent = plane.addAgent();
});

async function call(headers: Record<string, string>, name = 'read_page') {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } };
  const { status, json } = await plane.post('/mcp/v1/up', message, headers);
  return { status, code: json?.error?.code, text: JSON.stringify(json) };
}

it("no agent's token, known or new, and one that is issued then is valid", async () => {
  const known = { authorization: agent.bearer() };
  const unused = { authorization: agent.bearer() };
  expect(await call(known)).toMatchObject({ status: 200, code: undefined });
  behind = 20 * MINUTE_MS;
  expect(await call(known)).toMatchObject({ status: 401 });
  expect(await call(unused)).toMatchObject({ status: 401 });
  const answer = await fetch(`${plane.url}/api/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      grant_type: 'client_credentials',
      client_id: agent.clientId,
      client_secret: agent.secret,
    }),
  });
  const { access_token } = (await answer.json()) as { access_token: string };
  const fresh = { authorization: `Bearer ${access_token}` };
  expect(await call(fresh)).toMatchObject({ status: 200, code: undefined });
});

it('no workflow session, and no delegation', async () => {
  const workflows = createTestWorkflows(plane);
  const worker = plane.addAgent();
  const workflow = workflows.start({
    owner_agent_id: agent.id,
    participants: [{ agent_id: worker.id, role: 'r', allowed_actions: ['read', 'execute'] }],
  });
  const delegation = workflows.delegate(workflow.sessionId, agent.id, worker.id);
  const inSession = {
    authorization: agent.basic,
    'x-workflow-session': workflow.token({ claims: { exp: 4_000_000_000 } }),
  };
  const delegated = {
    authorization: worker.basic,
    'x-delegation-token': delegation.token({ claims: { exp: 4_000_000_000 } }),
  };
  for (const headers of [inSession, delegated]) {
    expect(await call(headers)).toMatchObject({ status: 200, code: undefined });
  }
  behind = 61 * MINUTE_MS;
  for (const headers of [inSession, delegated]) {
    const { code, text } = await call(headers);
    expect(code, text).toBe(-32000);
    expect(text).toMatch(/expired/);
  }
});

it('no rule that trusts a source', async () => {
  const expires_at = new Date(Date.now() + 10 * MINUTE_MS).toISOString();
  const rule = { id: uuidv7(), source_pattern: 'up', rule_type: 'trust' as const, expires_at };
  plane.setSettings({ inbound: { actions: DEFAULT_INBOUND_ACTIONS, rules: [rule] } });
  const basic = { authorization: agent.basic };
  expect((await call(basic)).text).toContain('Ignore all');
  behind = 11 * MINUTE_MS;
  expect((await call(basic)).text).not.toContain('Ignore all');
});

it('no approval', async () => {
  const basic = { authorization: agent.basic };
  const ask = async () => {
    expect(await call(basic, 'careful_read')).toMatchObject({ code: -32004 });
    const opened = (await plane.records()).filter(({ type }) => type === 'hold_opened');
    return opened as unknown as { escalation_id: string }[];
  };
  const [first] = await ask();
  if (first) decideHold(plane, first, 'approved');
  expect(await call(basic, 'careful_read')).toMatchObject({ code: undefined });
  const [second] = await ask();
  if (second) decideHold(plane, second, 'approved');
  behind = 11 * MINUTE_MS;
  expect(await ask()).toHaveLength(1);
});
