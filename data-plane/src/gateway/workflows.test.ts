/** Calls in workflow sessions and with delegations, over the real gateway, replica and ledger. */
import { uuidv7 } from '@governance/shared/ids';
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AskForNews } from '../contracts.ts';
import { decideHold } from '../testing/test-holds.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';
import { createTestWorkflows } from '../testing/test-workflows.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let workflows: ReturnType<typeof createTestWorkflows>;
let time = Date.now();
let owner: TestAgent;
let worker: TestAgent;
let stranger: TestAgent;
let askForNews: AskForNews = () => null;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [{ name: 'read_file' }, { name: 'write_file' }, { name: 'delete_file' }],
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('files', upstream.url)],
    now: () => time,
    askForNews: (...asked) => askForNews(...asked),
    policies: [
      {
        id: uuidv7(),
        name: 'Workflows',
        rego: `package w
deny contains sprintf("requester %v %v", [input.requester.id, input.requester.verified]) if {
	input.request.parameters.path == "/srv/who"
}
escalate contains "ask" if input.request.parameters.path == "/srv/ask"`,
      },
    ],
  });
  workflows = createTestWorkflows(plane, () => time);
  owner = plane.addAgent(['files:*']);
  worker = plane.addAgent(['files:*']);
  stranger = plane.addAgent(['files:*']);
});

afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});

afterEach(async () => {
  upstream.seen.length = 0;
  // Each test's clock starts after the last one's, beyond the time in which an alert is not
  // repeated.
  time += 61_000;
  await plane.records();
});

async function call(
  agent: TestAgent,
  headers: Record<string, string>,
  tool = 'read_file',
  path = '/srv/a',
) {
  const params = { name: tool, arguments: { path } };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const {
    status,
    json,
    headers: answered,
  } = await plane.post('/mcp/v1/files', message, {
    authorization: agent.basic,
    ...headers,
  });
  const { code, message: said } = json?.error ?? {};
  return { status, code, message: said, eventId: answered.get('x-event-id') ?? '' };
}

const inSession = (token: string) => ({ 'x-workflow-session': token });
const delegated = (token: string) => ({ 'x-delegation-token': token });
const ALLOWED = { status: 200, code: undefined };
const UNAUTHORIZED = { status: 401, code: -32000 };
const DENIED = { status: 200, code: -32003 };

type Decision = Extract<LedgerRecord, { type: 'decision' }>;
type Alert = Extract<LedgerRecord, { type: 'alert' }>;
/** Records written since the last check. */
async function written() {
  const records = await plane.records();
  return {
    decisions: records.filter((record): record is Decision => record.type === 'decision'),
    alerts: records.filter((record): record is Alert => record.type === 'alert'),
  };
}

describe('a workflow session', () => {
  it('whose token names an unknown key is judged once more when the key has come', async () => {
    const { token } = workflows.start({ owner_agent_id: owner.id });
    const newest = token({ header: { kid: 'next' } });
    expect(await call(owner, inSession(newest))).toMatchObject(UNAUTHORIZED);
    askForNews = async () => 'unreachable' as const;
    expect(await call(owner, inSession(newest))).toMatchObject(UNAUTHORIZED);
    const { decisions } = await written();
    expect(decisions.map(({ policy_reason: why }) => why)).toEqual([
      expect.stringMatching(/unknown_key$/),
      expect.stringMatching(/unknown_key, and the control plane did not answer$/),
    ]);
    askForNews = async () => {
      workflows.addKey('workflow', 'next');
      return 'current' as const;
    };
    expect(await call(owner, inSession(newest))).toMatchObject(ALLOWED);
    askForNews = () => null;
  });

  it('lets its owner and its participants act, and is recorded', async () => {
    const { sessionId, token } = workflows.start({
      owner_agent_id: owner.id,
      participants: [{ agent_id: worker.id, role: 'reader', allowed_actions: ['read'] }],
    });
    expect(await call(owner, inSession(token()), 'write_file')).toMatchObject(ALLOWED);
    expect(await call(worker, inSession(token()))).toMatchObject(ALLOWED);
    expect(await call(worker, inSession(token()), 'write_file')).toMatchObject(DENIED);
    expect(upstream.messages('tools/call')).toHaveLength(2);
    const { decisions } = await written();
    expect(decisions.map((one) => [one.policy_result, one.decided_by])).toEqual([
      ['allow', 'policy'],
      ['allow', 'policy'],
      ['deny', 'workflow-actions'],
    ]);
    expect(new Set(decisions.map((one) => one.workflow_session_id))).toEqual(new Set([sessionId]));
  });

  it('denies agents outside the workflow, and says so', async () => {
    const { id, sessionId, token } = workflows.start({ owner_agent_id: owner.id });
    const refused = await call(stranger, inSession(token()));
    expect(refused).toMatchObject(DENIED);
    expect(refused.message).toMatch(/^Denied by policy: /);
    const { alerts } = await written();
    expect(alerts).toMatchObject([
      {
        alert_type: 'WORKFLOW_PARTICIPANT_UNEXPECTED',
        agent_id: stranger.id,
        details: { workflow_id: id, workflow_session_id: sessionId },
      },
    ]);
    expect(upstream.messages('tools/call')).toHaveLength(0);
  });

  it.each([
    ['', () => ''],
    ['garbage', () => 'garbage'],
    ['two', (good: string) => `${good},${good}`],
    ['an agent’s token', () => owner.token()],
    ['a longer signature', (good: string) => `${good}A`],
    ['too long', (good: string) => good.repeat(9)],
  ])('that is %s denies with -32000', async (_, change) => {
    const { token } = workflows.start({ owner_agent_id: owner.id });
    expect(await call(owner, inSession(change(token())))).toMatchObject(UNAUTHORIZED);
    expect(upstream.messages('tools/call')).toHaveLength(0);
    const { decisions } = await written();
    expect(decisions).toMatchObject([{ policy_result: 'deny', decided_by: 'workflow-session' }]);
  });

  it.each([
    ['another type', { header: { typ: 'delegation+jwt' } }],
    ['another algorithm', { header: { alg: 'none' } }],
    ['a critical extension', { header: { crit: ['x'] } }],
    ['an unknown key', { header: { kid: 'other' } }],
    ['the key of delegations', { key: 'delegation' as const }],
    [
      'the key of delegations by its name',
      { key: 'delegation' as const, header: { kid: 'delegation' } },
    ],
    ['another audience', { claims: { aud: 'https://elsewhere.example' } }],
    ['another issuer', { claims: { iss: 'https://elsewhere.example' } }],
    ['another tenant', { claims: { tenant_id: uuidv7() } }],
    ['an expired lifetime', { claims: { exp: 1 } }],
    ['a feed that never comes', { claims: { feed_seq: 1_000_000 } }],
    ['an unknown session', { claims: { sub: uuidv7() } }],
  ])('whose token has %s denies with -32000', async (_, over) => {
    const { token } = workflows.start({ owner_agent_id: owner.id });
    expect(await call(owner, inSession(token(over)))).toMatchObject(UNAUTHORIZED);
    expect(upstream.messages('tools/call')).toHaveLength(0);
  });

  it('that has ended or expired denies with -32000, and a suspended one with -32003', async () => {
    const { token, change, renew, end } = workflows.start({ owner_agent_id: owner.id });
    const held = token();
    expect(await call(owner, inSession(held))).toMatchObject(ALLOWED);
    change({ status: 'suspended' });
    expect(await call(owner, inSession(held))).toMatchObject(DENIED);
    change({ status: 'active' });
    expect(await call(owner, inSession(held))).toMatchObject(ALLOWED);
    renew(new Date(time).toISOString());
    expect(await call(owner, inSession(held))).toMatchObject(UNAUTHORIZED);
    renew();
    end();
    expect(await call(owner, inSession(held))).toMatchObject(UNAUTHORIZED);
  });

  it('of a neighbour is foreign', async () => {
    const { token } = workflows.start({ owner_agent_id: owner.id });
    const neighbour = await plane.addNeighbour();
    const other = neighbour.addAgent();
    expect(await call(other, inSession(token()))).toMatchObject(UNAUTHORIZED);
  });

  it('places its events below the one that a call names', async () => {
    const { token } = workflows.start({ owner_agent_id: owner.id, max_depth: 1 });
    const other = workflows.start({ owner_agent_id: owner.id });
    const below = (parent: string) => ({ ...inSession(token()), 'x-parent-event-id': parent });
    const { eventId } = await call(owner, inSession(token()));
    await call(owner, inSession(other.token()));
    const [root, foreign] = (await written()).decisions;
    expect(eventId).toBe(root?.id);
    await call(owner, below(eventId));
    const [child] = (await written()).decisions;
    expect(child).toMatchObject({ causal_depth: 1, parent_event_id: root?.id });
    expect(await call(owner, below(child?.id ?? ''))).toMatchObject(DENIED);
    await written();
    for (const named of [foreign?.id ?? '', 'no id']) {
      time += 61_000;
      expect(await call(owner, below(named))).toMatchObject(ALLOWED);
      const { decisions, alerts } = await written();
      expect(decisions).toMatchObject([{ causal_depth: 0, parent_event_id: null }]);
      expect(alerts).toMatchObject([{ alert_type: 'WORKFLOW_PARENT_IGNORED' }]);
    }
    // An event of another data plane: only the control plane knows whether it is of this session.
    const elsewhere = uuidv7();
    await call(owner, below(elsewhere));
    const [claimed] = (await written()).decisions;
    expect(claimed).toMatchObject({ causal_depth: 1, parent_event_id: elsewhere });
  });

  it('names the event that ran of a call that a person approved', async () => {
    const { token } = workflows.start({ owner_agent_id: owner.id });
    const waiting = call(owner, inSession(token()), 'read_file', '/srv/ask');
    const records: LedgerRecord[] = [];
    const hold = await vi.waitFor(async () => {
      records.push(...(await plane.records()));
      const opened = records.find((one) => one.type === 'hold_opened');
      if (opened?.type !== 'hold_opened') throw new Error('not held yet');
      return opened;
    });
    // The plane's clock is ahead of this test's.
    decideHold(plane, hold, 'approved', { lastsMs: 86_400_000 });
    const { eventId } = await waiting;
    const [ran] = (await written()).decisions;
    expect(ran).toMatchObject({ id: eventId, policy_result: 'allow' });
    expect(eventId).not.toBe(hold.event_id);
  });
});

describe('a delegation', () => {
  const start = () => workflows.start({ owner_agent_id: owner.id });

  it('narrows what the delegatee may do to its scope', async () => {
    const { sessionId, token } = start();
    const held = workflows.delegate(sessionId, owner.id, worker.id, {
      tools: ['files/read_file', 'write_file'],
      resources: ['/srv/**'],
    });
    const headers = { ...inSession(token()), ...delegated(held.token()) };
    expect(await call(worker, headers)).toMatchObject(ALLOWED);
    expect(await call(worker, headers, 'write_file')).toMatchObject(ALLOWED);
    expect(await call(worker, headers, 'delete_file')).toMatchObject(DENIED);
    expect(await call(worker, headers, 'read_file', '/etc/passwd')).toMatchObject(DENIED);
    expect(await call(worker, headers, 'read_file', '/srv/../etc/passwd')).toMatchObject(DENIED);
    const { decisions, alerts } = await written();
    expect(decisions.map(({ decided_by }) => decided_by)).toEqual([
      'policy',
      'policy',
      'scope-probe',
      'scope-probe',
      'scope-probe',
    ]);
    for (const one of decisions) {
      expect(one).toMatchObject({
        delegation_chain: [held.id],
        workflow_session_id: sessionId,
        requester_id: owner.id,
        requester_verified: true,
      });
    }
    // Counted at the control plane, which has the calls of all data planes.
    expect(alerts).toEqual([]);
  });

  it('narrows lists to what it covers, at one server and at all', async () => {
    const { sessionId } = start();
    const held = workflows.delegate(sessionId, owner.id, worker.id, {
      tools: ['files/read_file', 'write_file'],
    });
    const list = async (headers: Record<string, string>, path = '/mcp/v1/files') => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
      const { json } = await plane.post(path, message, { authorization: worker.basic, ...headers });
      return json?.result?.tools?.map(({ name }: { name: string }) => name) ?? json?.error?.code;
    };
    expect(await list({})).toEqual(['read_file', 'write_file', 'delete_file']);
    expect(await list(delegated(held.token()))).toEqual(['read_file', 'write_file']);
    expect(await list(delegated(held.token()), '/mcp/v1')).toEqual([
      'files__read_file',
      'files__write_file',
    ]);
    // What its delegator has lost is no longer listed.
    const reader = plane.addAgent(['files:read']);
    const first = workflows.delegate(sessionId, owner.id, reader.id);
    const over = { parent_delegation_id: first.id, depth: 2 };
    const second = workflows.delegate(sessionId, reader.id, worker.id, over);
    expect(await list(delegated(second.token()))).toEqual(['read_file']);
    reader.update({ role_ids: [] });
    expect(await list(delegated(second.token()))).toEqual([]);
    expect(await list(delegated('x'))).toBe(UNAUTHORIZED.code);
  });

  it('gives nothing that the delegatee’s own roles do not permit', async () => {
    const { sessionId } = start();
    const reader = plane.addAgent(['files:read']);
    const held = workflows.delegate(sessionId, owner.id, reader.id);
    const headers = delegated(held.token());
    expect(await call(reader, headers)).toMatchObject(ALLOWED);
    expect(await call(reader, headers, 'write_file')).toMatchObject(DENIED);
    const { decisions } = await written();
    expect(decisions.at(-1)).toMatchObject({ decided_by: 'policy', delegation_chain: [held.id] });
  });

  it('passes on nothing that a delegator may not do itself now', async () => {
    const { sessionId } = start();
    const reader = plane.addAgent(['files:read']);
    const first = workflows.delegate(sessionId, owner.id, reader.id);
    const second = workflows.delegate(sessionId, reader.id, worker.id, {
      parent_delegation_id: first.id,
      depth: 2,
    });
    expect(await call(worker, delegated(second.token()))).toMatchObject(ALLOWED);
    expect(await call(worker, delegated(second.token()), 'write_file')).toMatchObject(DENIED);
    reader.update({ role_ids: [] });
    expect(await call(worker, delegated(second.token()))).toMatchObject(DENIED);
    const { decisions, alerts } = await written();
    expect(decisions[0]?.delegation_chain).toEqual([first.id, second.id]);
    expect(alerts).toEqual([]);
  });

  it('passes on nothing that a delegator may not do in the workflow', async () => {
    const reader = plane.addAgent(['files:*']);
    const { sessionId } = workflows.start({
      owner_agent_id: owner.id,
      participants: [{ agent_id: reader.id, role: 'reader', allowed_actions: ['read'] }],
    });
    const first = workflows.delegate(sessionId, reader.id, worker.id);
    expect(await call(worker, delegated(first.token()))).toMatchObject(ALLOWED);
    expect(await call(worker, delegated(first.token()), 'write_file')).toMatchObject(DENIED);
    // Even where it was handed to the reader by one who may do everything.
    const owners = workflows.delegate(sessionId, owner.id, reader.id);
    const below = { parent_delegation_id: owners.id, depth: 2 };
    const second = workflows.delegate(sessionId, reader.id, worker.id, below);
    expect(await call(worker, delegated(second.token()), 'write_file')).toMatchObject(DENIED);
    // A stranger to the workflow has nothing to pass on.
    const stranger = plane.addAgent(['files:*']);
    const theirs = workflows.delegate(sessionId, stranger.id, worker.id);
    expect(await call(worker, delegated(theirs.token()))).toMatchObject(UNAUTHORIZED);
    await written();
  });

  it('ends with the delegation that it depends on', async () => {
    const { sessionId, end, change, renew } = start();
    const middle = plane.addAgent(['files:*']);
    const chain = () => {
      const first = workflows.delegate(sessionId, owner.id, middle.id);
      const over = { parent_delegation_id: first.id, depth: 2 };
      return { first, second: workflows.delegate(sessionId, middle.id, worker.id, over) };
    };
    const { first, second } = chain();
    const headers = delegated(second.token());
    expect(await call(worker, headers)).toMatchObject(ALLOWED);
    middle.update({ status: 'suspended' });
    expect(await call(worker, headers)).toMatchObject(UNAUTHORIZED);
    middle.update({ status: 'active' });
    expect(await call(worker, headers)).toMatchObject(ALLOWED);
    worker.update({ kill_released_generation: 1 });
    plane.engageKillSwitch(true);
    expect(await call(worker, headers)).toMatchObject(UNAUTHORIZED);
    plane.engageKillSwitch(false);
    expect(await call(worker, headers)).toMatchObject(ALLOWED);
    change({ max_depth: 1 });
    expect(await call(worker, headers)).toMatchObject(DENIED);
    change({ max_depth: 3 });
    end();
    expect(await call(worker, headers)).toMatchObject(UNAUTHORIZED);
    renew();
    expect(await call(worker, headers)).toMatchObject(ALLOWED);
    first.revoke();
    expect(await call(worker, headers)).toMatchObject(UNAUTHORIZED);
    const again = chain();
    again.second.revoke();
    expect(await call(worker, delegated(again.second.token()))).toMatchObject(UNAUTHORIZED);
    expect(await call(middle, delegated(again.first.token()))).toMatchObject(ALLOWED);
  });

  it('is valid only for its delegatee, its session and its class', async () => {
    const { sessionId, token } = start();
    const other = start();
    const held = workflows.delegate(sessionId, owner.id, worker.id);
    expect(await call(stranger, delegated(held.token()))).toMatchObject(UNAUTHORIZED);
    const elsewhere = { ...inSession(other.token()), ...delegated(held.token()) };
    expect(await call(worker, elsewhere)).toMatchObject(UNAUTHORIZED);
    expect(await call(worker, delegated(token()))).toMatchObject(UNAUTHORIZED);
    expect(await call(worker, inSession(held.token()))).toMatchObject(UNAUTHORIZED);
    expect(await call(worker, delegated('x'))).toMatchObject(UNAUTHORIZED);
    // A valid delegation does not repair an invalid session.
    const broken = { ...inSession('x'), ...delegated(held.token()) };
    expect(await call(worker, broken)).toMatchObject(UNAUTHORIZED);
    expect(upstream.messages('tools/call')).toHaveLength(0);
  });

  it('proves the requester that it names, and no other', async () => {
    const { sessionId } = start();
    const held = workflows.delegate(sessionId, owner.id, worker.id, { requester: 'ann' });
    const who = async (named?: string) => {
      const headers = { ...delegated(held.token()), ...(named && { 'x-requester-id': named }) };
      return (await call(worker, headers, 'read_file', '/srv/who')).message;
    };
    expect(await who()).toContain('requester ann true');
    expect(await who('ann')).toContain('requester ann true');
    expect((await written()).alerts).toEqual([]);
    expect(await who('eve')).toContain('requester eve false');
    const { decisions, alerts } = await written();
    expect(decisions).toMatchObject([{ requester_id: 'eve', requester_verified: false }]);
    // The control plane raises it, from the record.
    expect(decisions).toMatchObject([{ delegation_chain: [held.id] }]);
    expect(alerts).toEqual([]);
  });
});
