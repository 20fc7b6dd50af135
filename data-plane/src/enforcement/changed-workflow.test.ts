/**
 * A workflow that changes while a call or a question waits, and what a call that is judged again
 * keeps of the first judgement.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PolicyInput, PolicyVerdict } from '@governance/policies/contract';
import { DEFAULT_DLP_SETTINGS } from '@governance/shared/settings/dlp-settings';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { postModern } from '../testing/test-modern-client.ts';
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
const LONG = 'lorem ipsum dolor sit amet '.repeat(8_000);
/** Its scan is left to another thread. */
const LARGE = { path: '/srv/a/b/x.txt', content: LONG };
const ALLOW: PolicyVerdict = { decision: 'allow', reasons: [] };
const DENY: PolicyVerdict = { decision: 'deny', reasons: [] };

let upstream: TestUpstream;
let plane: TestPlane;
/** By OPA's server. */
let judged: Awaited<ReturnType<typeof startOpaPlane>>;
let verdict: (input: PolicyInput) => PolicyVerdict = () => ALLOW;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  upstream = await startTestUpstream({ tools: [{ name: 'write_file' }] });
  const servers = [HTTP_SERVER('files', upstream.url)];
  plane = await startTestPlane({ servers });
  judged = await startOpaPlane({ servers }, (input) => verdict(input));
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  upstream.seen.length = 0;
});
afterAll(async () => {
  await judged?.stop();
  await plane?.stop();
  await upstream?.stop();
});

/** Calls back each time that a call has passed a step, with how often it has. */
function whenever(step: string, change: (times: number) => void): void {
  let times = 0;
  const listen = (message: unknown) => {
    if ((message as PassedStage).stage !== step) return;
    times += 1;
    change(times);
  };
  subscribe(CALL_STAGES, listen);
  ends.push(() => unsubscribe(CALL_STAGES, listen));
}

function aWorkflow(at: TestPlane, over = {}) {
  const [owner, worker] = [at.addAgent(), at.addAgent()];
  const participant = { agent_id: worker.id, role: 'writer', allowed_actions: ['*'] };
  const running = { owner_agent_id: owner.id, participants: [participant], ...over };
  const workflow = createTestWorkflows(at).start(running);
  const headers = { authorization: worker.basic, 'x-workflow-session': workflow.token() };
  return { workflow, participant, worker, headers };
}

it('OPA is asked again when the role in the workflow changes while it is asked', async () => {
  const { workflow, participant, headers } = aWorkflow(judged);
  const asked: unknown[] = [];
  verdict = ({ workflow: place }) => {
    asked.push(place?.role);
    workflow.change({ participants: [{ ...participant, role: 'reader' }] });
    return place?.role === 'writer' ? ALLOW : DENY;
  };
  const { json } = await judged.post('/mcp/v1/files', callOf('write_file'), headers);
  expect(json.error.code).toBe(-32003);
  expect(asked).toEqual(['writer', 'reader']);
  expect(upstream.messages('tools/call')).toEqual([]);
});

it.each(['pinned-tools', 'policy'])('a lowered depth holds for a call after %s', async (step) => {
  const { workflow, headers } = aWorkflow(plane, { max_depth: 5 });
  let parent = '';
  const post = async (args = {}) => {
    const given = { ...headers, ...(parent !== '' && { 'x-parent-event-id': parent }) };
    const called = callOf('write_file', args);
    const { json, headers: told } = await plane.post('/mcp/v1/files', called, given);
    parent = told.get('x-event-id') ?? '';
    return json;
  };
  for (let deep = 0; deep < 3; deep += 1) expect((await post()).result).toBeDefined();
  upstream.seen.length = 0;
  whenever(step, () => workflow.change({ max_depth: 1 }));
  expect((await post(LARGE)).error).toMatchObject({
    code: -32003,
    message: expect.stringContaining('3 deep, and its workflow allows 1'),
  });
  expect(upstream.messages('tools/call')).toEqual([]);
});

it('a question that the workflow no longer allows when it was scanned is not shown', async () => {
  const params = { message: LONG, requestedSchema: {} };
  const inputRequests = { who: { method: 'elicitation/create', params } };
  const about = { ttlMs: 60_000, cacheScope: 'public', resultType: 'complete' };
  const tool = { name: 'asks', inputSchema: {}, annotations: { readOnlyHint: true } };
  const answers: Record<string, object> = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ...about },
    'tools/list': { tools: [{ ...tool, inputSchema: { type: 'object' } }], ...about },
    'tools/call': { resultType: 'input_required', inputRequests, requestState: 'mine' },
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => {
        const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] }));
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const asking = await startTestPlane({
    servers: [HTTP_SERVER('up', `http://127.0.0.1:${port}/`)],
  });
  try {
    const { workflow, participant, headers } = aWorkflow(asking);
    const { authorization, ...more } = headers;
    const given = { authorization, capabilities: { elicitation: {} }, headers: more };
    const call = { name: 'asks', arguments: {} };
    const shown = await postModern(asking, 'tools/call', call, given);
    expect(shown.json.result).toMatchObject({ resultType: 'input_required' });
    const narrowed = { ...participant, allowed_actions: ['read'] };
    // The call itself, and then the question.
    whenever('pinned-tools', (times) => {
      if (times === 2) workflow.change({ participants: [narrowed] });
    });
    const { json } = await postModern(asking, 'tools/call', call, given);
    expect(json.error?.code, JSON.stringify(json).slice(0, 300)).toBe(-32003);
  } finally {
    await asking.stop();
    server.closeAllConnections();
    server.close();
  }
});

const PIECES = ['ghp_aB3dE5fG7h', 'J9kL1mN2pQ4rS6tU8vW0xYz1Ab'] as const;
const touch = () => judged.setSettings({});

it.each([
  1, 2,
])('a value in pieces is found however often its call is judged: %s more', async (agains) => {
  const { basic } = judged.addAgent();
  const post = (args: object) =>
    judged.post('/mcp/v1/files', callOf('write_file', args), { authorization: basic });
  const found: number[] = [];
  verdict = ({ dlp }) => {
    found.push(dlp.findings_count);
    return dlp.findings_count > 0 ? DENY : ALLOW;
  };
  expect((await post({ note: PIECES[0] })).json.result).toBeDefined();
  upstream.seen.length = 0;
  whenever('pinned-tools', (times) => {
    if (times === 2 && agains === 2) touch();
  });
  whenever('blast-radius', (times) => {
    if (times === 1) touch();
  });
  const { error } = (await post({ ...LARGE, note: PIECES[1] })).json;
  expect(error.code).toBe(-32003);
  expect(found.at(-1)).toBe(1);
  expect(upstream.messages('tools/call')).toEqual([]);
});

it('pieces are joined where the rules come to look for them while OPA is asked', async () => {
  const { basic } = judged.addAgent();
  const post = (note: string) =>
    judged.post('/mcp/v1/files', callOf('write_file', { note }), { authorization: basic });
  const found: number[] = [];
  verdict = ({ dlp }) => {
    found.push(dlp.findings_count);
    if (found.length === 2) judged.setSettings({ dlp: DEFAULT_DLP_SETTINGS });
    return dlp.findings_count > 0 ? DENY : ALLOW;
  };
  expect((await post(PIECES[0])).json.result).toBeDefined();
  judged.setSettings({ dlp: { ...DEFAULT_DLP_SETTINGS, fragments: false } });
  expect((await post(PIECES[1])).json.error.code).toBe(-32003);
  expect(found).toEqual([0, 0, 1]);
});

it('pieces of one call are joined once, and counted once', async () => {
  const { basic } = judged.addAgent();
  const found: number[] = [];
  verdict = ({ dlp }) => {
    found.push(dlp.findings_count);
    if (found.length === 1) touch();
    return ALLOW;
  };
  const counted = async () =>
    (await judged.registry.getSingleMetricAsString('governance_dlp_findings_total'))
      .split('\n')
      .filter((line) => line.includes('direction="outbound"'))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  const before = await counted();
  const items = [PIECES[1], PIECES[0]];
  const args = { items, mail: 'bob.smith@corp.example' };
  const { json } = await judged.post('/mcp/v1/files', callOf('write_file', args), {
    authorization: basic,
  });
  expect(json.result).toBeDefined();
  expect(found).toEqual([1, 1]);
  expect((await counted()) - before).toBe(1);
});

it('the call that completes a value is denied however often it is repeated', async () => {
  const { basic } = judged.addAgent();
  const post = async (note: string) =>
    (await judged.post('/mcp/v1/files', callOf('write_file', { note }), { authorization: basic }))
      .json;
  verdict = ({ dlp }) => (dlp.findings_count > 0 ? DENY : ALLOW);
  expect((await post(PIECES[0])).result).toBeDefined();
  upstream.seen.length = 0;
  for (let times = 0; times < 3; times += 1) {
    expect((await post(PIECES[1])).error?.code).toBe(-32003);
  }
  expect(upstream.messages('tools/call')).toEqual([]);
});
