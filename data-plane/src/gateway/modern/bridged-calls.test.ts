/**
 * Calls of modern clients that wait at a legacy server for input from the client: who may continue
 * one, with what, and what remains when nobody does.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type ModernOptions, postModern } from '../../testing/test-modern-client.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
/** The client's answers to the server, by the server's own ids. */
const answered = new Map<number, Record<string, unknown>>();
let settle: ((answer: unknown) => void)[] = [];

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [
      {
        name: 'asks',
        annotations: { readOnlyHint: true },
        async handle({ id, args, event, response }) {
          // As many questions as requested, one after the other.
          for (let n = 1; n <= Number(args.times ?? 1); n++) {
            const params = { mode: 'form', message: `Question ${n}`, requestedSchema: {} };
            event({ jsonrpc: '2.0', id: n, method: args.method ?? 'elicitation/create', params });
            await new Promise((resolve) => settle.push(resolve));
          }
          const text = JSON.stringify([...answered.values()]);
          event({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } });
          response.end();
        },
      },
    ],
  });
  upstream.override(({ message }, response) => {
    if (message === undefined || message.method !== undefined) return false;
    answered.set(Number(message.id), message);
    response.writeHead(202).end();
    for (const resolve of settle.splice(0)) resolve(message);
    return true;
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    config: { upstreamTimeoutMs: 1500 },
  });
});

beforeEach(() => {
  answered.clear();
  settle = [];
  agent = plane.addAgent();
});

afterEach(async () => {
  for (const resolve of settle.splice(0)) resolve(undefined);
  await plane.records();
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

const CAPABILITIES = { elicitation: { form: {} } };
let nextId = 1;
const call = (params: Record<string, unknown> = {}, options: Partial<ModernOptions> = {}) =>
  postModern(
    plane,
    'tools/call',
    { name: 'asks', arguments: {}, ...params },
    { authorization: agent.basic, capabilities: CAPABILITIES, id: nextId++, ...options },
  );
const FILLED = { action: 'accept', content: { name: 'Ada' } };
const resultOf = async (answer: ReturnType<typeof call>) => (await answer).last.result;

/** Begins a call and returns the client's questions. */
async function asked(args: Record<string, unknown> = {}, options: Partial<ModernOptions> = {}) {
  const result = await resultOf(call({ arguments: args }, options));
  expect(result.resultType).toBe('input_required');
  const [key = ''] = Object.keys(result.inputRequests);
  return { key, result, requestState: String(result.requestState), arguments: args };
}

it('continues with what the client answers, each question and each request judged', async () => {
  const { key, result, requestState } = await asked();
  expect(result.inputRequests[key]).toEqual({
    method: 'elicitation/create',
    params: { mode: 'form', message: 'Question 1', requestedSchema: {} },
  });
  const done = await resultOf(call({ inputResponses: { [key]: FILLED }, requestState }));
  expect(done.resultType).toBe('complete');
  expect(answered.get(1)).toMatchObject({ id: 1, result: FILLED });
  expect(upstream.messages('tools/call')).toHaveLength(1);
  const records = await plane.records();
  expect(records.filter(({ type }) => type === 'decision')).toMatchObject([
    { method: 'tools/call', policy_result: 'allow' },
    { method: 'elicitation/create', action: 'write', policy_result: 'allow' },
    { method: 'tools/call', policy_result: 'allow' },
  ]);
  expect(records.filter(({ type }) => type === 'outcome')).toHaveLength(3);
});

it('asks again for what is missing, and then for the next, each time with a new state', async () => {
  const first = await asked({ times: 2 });
  const go = (requestState: unknown, inputResponses: object) =>
    call({ arguments: first.arguments, requestState, inputResponses });
  const still = await resultOf(go(first.requestState, { other: FILLED }));
  expect([still.resultType, Object.keys(still.inputRequests)]).toEqual([
    'input_required',
    [first.key],
  ]);
  const used = await go(first.requestState, { [first.key]: FILLED });
  expect(used.last.error.code).toBe(-32602);
  const second = await resultOf(go(still.requestState, { [first.key]: FILLED }));
  const [key = ''] = Object.keys(second.inputRequests);
  expect([second.resultType, key === first.key]).toEqual(['input_required', false]);
  const done = await resultOf(go(second.requestState, { [key]: FILLED }));
  expect(done.resultType).toBe('complete');
});

it.each([
  ['another agent', () => ({}), () => ({ authorization: plane.addAgent().basic })],
  ['other arguments', () => ({ arguments: { times: 7 } }), () => ({})],
  ['other capabilities', () => ({}), () => ({ capabilities: { elicitation: {}, roots: {} } })],
  ['another state', () => ({ requestState: 'gateway-none' }), () => ({})],
  ['another requester', () => ({}), () => ({ headers: { 'x-requester-id': 'mallory' } })],
])('does not continue for %s', async (_what, params, options) => {
  const { key, requestState } = await asked();
  const inputResponses = { [key]: FILLED };
  const { status, last } = await call({ inputResponses, requestState, ...params() }, options());
  expect([status, last.error.code]).toEqual([200, -32602]);
  expect(last.error.message).toContain('requestState');
  expect([...answered.values()].filter(({ result }) => result !== undefined)).toEqual([]);
  // It is judged and recorded all the same.
  const decisions = (await plane.records()).filter(({ type }) => type === 'decision');
  expect(decisions).toHaveLength(3);
});

it('continues once', async () => {
  const { key, requestState } = await asked();
  const inputResponses = { [key]: FILLED };
  await call({ inputResponses, requestState });
  const { last } = await call({ inputResponses, requestState });
  expect(last.error.code).toBe(-32602);
});

it('ends when its agent may not act any more', async () => {
  const { key, requestState } = await asked();
  agent.update({ status: 'suspended' });
  const { status } = await call({ inputResponses: { [key]: FILLED }, requestState });
  expect(status).toBe(401);
  await vi.waitFor(() => expect(upstream.messages('notifications/cancelled')).not.toEqual([]));
  await vi.waitFor(() => expect(answered.get(1)).toMatchObject({ error: { code: -32000 } }));
});

/** A call that its client began with a credential that was replaced while it was parked. */
async function askedBeforeRotation() {
  const question = await asked({}, { authorization: agent.bearer() });
  agent.update({ credential_version: 2 });
  return question;
}

it('continues with the credential that replaced the first one', async () => {
  const { key, requestState } = await askedBeforeRotation();
  const inputResponses = { [key]: FILLED };
  const authorization = agent.bearer();
  const done = await resultOf(call({ inputResponses, requestState }, { authorization }));
  expect(done.resultType).toBe('complete');
  expect(answered.get(1)).toMatchObject({ id: 1, result: FILLED });
});

it('keeps an answer that arrives while nobody waits for the credential that fetches it', async () => {
  const { requestState } = await askedBeforeRotation();
  for (const resolve of settle.splice(0)) resolve(undefined);
  await vi.waitFor(() => expect(answered.get(1)).toMatchObject({ error: {} }));
  const authorization = agent.bearer();
  const done = await resultOf(call({ inputResponses: {}, requestState }, { authorization }));
  expect(done.resultType).toBe('complete');
});

it('does not continue with a credential that was replaced', async () => {
  const replaced = agent.bearer();
  const { key, requestState } = await askedBeforeRotation();
  const inputResponses = { [key]: FILLED };
  const { status } = await call({ inputResponses, requestState }, { authorization: replaced });
  expect(status).toBe(401);
  await vi.waitFor(() => expect(answered.get(1)).toMatchObject({ error: {} }));
});

it('asks nothing that the client did not declare', async () => {
  const done = await resultOf(call({ arguments: { method: 'roots/list' } }));
  expect(done.resultType).toBe('complete');
  expect(answered.get(1)).toMatchObject({ error: { code: -32601 } });
});

it('asks nothing of a client that declares nothing', async () => {
  const done = await resultOf(call({}, { capabilities: {} }));
  expect(done.resultType).toBe('complete');
  expect(answered.get(1)).toMatchObject({ error: { code: -32601 } });
});

it('tells the server that nobody answered, and keeps the answer for a while', async () => {
  const { requestState } = await asked();
  await vi.waitFor(() => expect(answered.get(1)).toMatchObject({ error: { code: -32603 } }), {
    timeout: 5000,
  });
  const { last } = await call({ inputResponses: {}, requestState });
  expect(last.error).toMatchObject({ code: -32603, data: { failure: 'timeout' } });
});

it('an answer that matches no question is an error that names it', async () => {
  const { status, last } = await call({ requestState: 'of-another-server' });
  expect([status, last.error.code]).toEqual([200, -32601]);
  expect(last.error.message).toContain('input_required');
  expect(upstream.messages('tools/call').at(-1)?.message?.params).not.toHaveProperty(
    'requestState',
  );
});
