/**
 * Rules and workflows that change while a call waits for a scan, for OPA or for a server: the call
 * is judged by the new ones as a whole.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { DEFAULT_BLAST_RADIUS } from '@governance/shared/detect/reach/blast-radius-settings';
import { uuidv7 } from '@governance/shared/ids';
import { DEFAULT_DLP_SETTINGS } from '@governance/shared/settings/dlp-settings';
import { DEFAULT_INBOUND_ACTIONS } from '@governance/shared/settings/inbound-settings';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startOpaPlane } from '../testing/test-opa.ts';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';
import { createTestWorkflows } from '../testing/test-workflows.ts';
import { CALL_STAGES, type PassedStage } from './call/call-stages.ts';

const callOf = (name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});
/** Its scan is left to another thread. */
const LARGE = { path: '/srv/a/b/x.conf', content: 'lorem ipsum dolor sit amet '.repeat(8_000) };

let upstream: TestUpstream;
let plane: TestPlane;
const ends: (() => unknown)[] = [];
const server = () => HTTP_SERVER('files', upstream.url);

beforeAll(async () => {
  upstream = await startTestUpstream({ tools: [{ name: 'write_file' }] });
  plane = await startTestPlane();
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  upstream.seen.length = 0;
});
afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});

/** Changes something once, when a call has passed a step and before the next one begins. */
function when(step: string, change: () => void): void {
  const listen = (message: unknown) => {
    if ((message as PassedStage).stage !== step) return;
    unsubscribe(CALL_STAGES, listen);
    change();
  };
  subscribe(CALL_STAGES, listen);
  ends.push(() => unsubscribe(CALL_STAGES, listen));
}

const deletesNow = () => {
  const tool_actions = { write_file: { action: 'delete', set_id: uuidv7() } };
  plane.setServers([{ ...server(), tool_actions } as never]);
};
const protectsNow = () =>
  plane.setSettings({
    blast_radius: { ...DEFAULT_BLAST_RADIUS, protected_file_patterns: ['*.conf'] },
  });

it.each([
  ['its tool deletes', deletesNow, 'needs a permission'],
  ['its file is protected', protectsNow, 'protected file'],
])('while a call is scanned it comes to pass that %s', async (_what, change, why) => {
  plane.setServers([server()]);
  plane.setSettings({ blast_radius: DEFAULT_BLAST_RADIUS });
  const { basic } = plane.addAgent(['files:write']);
  const post = () =>
    plane.post('/mcp/v1/files', callOf('write_file', LARGE), { authorization: basic });
  expect((await post()).json.result).toBeDefined();
  upstream.seen.length = 0;
  when('pinned-tools', change);
  const { error } = (await post()).json;
  expect(error).toMatchObject({ code: -32003, message: expect.stringContaining(why) });
  expect(upstream.messages('tools/call')).toEqual([]);
});

/** A rule for all that comes from the server. */
const source = (rule_type: 'trust' | 'block') => ({
  inbound: {
    actions: DEFAULT_INBOUND_ACTIONS,
    rules: [{ id: uuidv7(), source_pattern: 'files', rule_type, expires_at: null }],
  },
});
const badge = () => ({ id: uuidv7(), name: 'badge', regex: 'BADGE-[0-9]{6}', severity: 'high' });

it.each([
  ['is blocked', () => source('block'), 'its source is blocked'],
  [
    'is searched for more',
    () => ({ dlp: { ...DEFAULT_DLP_SETTINGS, custom: [badge()] } }),
    'badge',
  ],
])('while a server works on a call it comes to pass that it %s', async (_what, change, why) => {
  plane.setServers([server()]);
  plane.setSettings({ ...source('trust'), dlp: DEFAULT_DLP_SETTINGS });
  const { basic } = plane.addAgent(['files:write']);
  const answered = async () => {
    const call = callOf('write_file', { path: '/srv/a/b/c', note: 'for BADGE-123456' });
    return (await plane.post('/mcp/v1/files', call, { authorization: basic })).text;
  };
  expect(await answered()).toContain('BADGE-123456');
  when('sent-upstream', () => plane.setSettings(change() as never));
  const answer = await answered();
  expect(answer).toContain(why);
  expect(answer).not.toContain('BADGE-123456');
});

it('what changes again and again is no permission', async () => {
  plane.setServers([server()]);
  const { basic } = plane.addAgent(['files:write']);
  const listen = (message: unknown) => {
    if ((message as PassedStage).stage === 'pinned-tools') plane.setServers([server()]);
  };
  subscribe(CALL_STAGES, listen);
  ends.push(() => unsubscribe(CALL_STAGES, listen));
  const answer = await plane.post('/mcp/v1/files', callOf('write_file', LARGE), {
    authorization: basic,
  });
  expect(answer.json.error).toMatchObject({
    code: -32003,
    message: expect.stringContaining('changed again and again'),
  });
});

it('while OPA is asked a file comes to be protected', async () => {
  let change: (() => void) | null = null;
  const judged = await startOpaPlane({ servers: [server()] }, () => {
    change?.();
    return { decision: 'allow', reasons: [] };
  });
  try {
    const { basic } = judged.addAgent(['files:*']);
    const post = () =>
      judged.post('/mcp/v1/files', callOf('write_file', { path: '/srv/a/b/x.conf' }), {
        authorization: basic,
      });
    expect((await post()).json.result).toBeDefined();
    upstream.seen.length = 0;
    change = () => {
      change = null;
      judged.setSettings({
        blast_radius: { ...DEFAULT_BLAST_RADIUS, protected_file_patterns: ['*.conf'] },
      });
    };
    expect((await post()).json.error.code).toBe(-32003);
    expect(upstream.messages('tools/call')).toEqual([]);
  } finally {
    await judged.stop();
  }
});

it.each([
  'classify',
  'policy',
])('after %s changes of its workflow hold for a call', async (step) => {
  plane.setServers([server()]);
  plane.setSettings({ blast_radius: DEFAULT_BLAST_RADIUS });
  const workflows = createTestWorkflows(plane);
  const [owner, worker] = [plane.addAgent(['files:*']), plane.addAgent(['files:*'])];
  const participant = { agent_id: worker.id, role: 'worker', allowed_actions: ['*'] };
  const workflow = workflows.start({ owner_agent_id: owner.id, participants: [participant] });
  const delegation = workflows.delegate(workflow.sessionId, owner.id, worker.id);
  const asParticipant = { 'x-workflow-session': workflow.token() };
  const asDelegatee = { 'x-delegation-token': delegation.token() };
  const post = (headers: Record<string, string>) =>
    plane.post('/mcp/v1/files', callOf('write_file'), { authorization: worker.basic, ...headers });
  for (const headers of [asParticipant, asDelegatee]) {
    expect((await post(headers)).json.result).toBeDefined();
  }
  upstream.seen.length = 0;

  when(step, () => workflow.change({ participants: [] }));
  expect((await post(asParticipant)).json.error.message).toContain('takes no part');
  workflow.change({ participants: [participant] });
  when(step, () =>
    workflow.change({ participants: [{ ...participant, allowed_actions: ['read'] }] }),
  );
  expect((await post(asParticipant)).json.error.message).toContain('may not do this');
  workflow.change({ participants: [participant] });
  when(step, () => owner.update({ role_ids: [] }));
  expect((await post(asDelegatee)).json.error.message).toContain('delegator');
  expect(upstream.messages('tools/call')).toEqual([]);
});
