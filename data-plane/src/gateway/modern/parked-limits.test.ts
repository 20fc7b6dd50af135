/**
 * The limits on calls that wait for their clients, by agent and in total; and what a server may
 * still send after its client has answered.
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

const MIB = 1024 * 1024;

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
/** The client's answers to the server, by the server's own ids. */
const answered = new Map<number, Record<string, unknown>>();
/** Lets the server continue what waits there. */
const waiting: (() => void)[] = [];
let nextQuestion = 1;
/** How many of its questions were answered to the server, usually with an error. */
let answers = 0;

const until = () => new Promise<void>((resolve) => waiting.push(resolve));
const goOn = () => {
  for (const resolve of waiting.splice(0)) resolve();
};

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [
      {
        name: 'waits',
        annotations: { readOnlyHint: true },
        async handle({ result }) {
          await until();
          result({ content: [] });
        },
      },
      {
        name: 'asks',
        annotations: { readOnlyHint: true },
        async handle({ id, args, event, response }) {
          const params = { mode: 'form', message: 'Who?', requestedSchema: {} };
          event({ jsonrpc: '2.0', id: nextQuestion++, method: 'elicitation/create', params });
          // It need not wait for its question's answer.
          await until();
          const text = 'x'.repeat(Number(args.size ?? 1));
          const result = args.result ?? { content: [{ type: 'text', text }] };
          event({ jsonrpc: '2.0', id, result });
          response.end();
        },
      },
    ],
  });
  upstream.override(({ message }, response) => {
    if (message === undefined || message.method !== undefined) return false;
    answered.set(Number(message.id), message);
    answers++;
    response.writeHead(202).end();
    return true;
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    config: { upstreamTimeoutMs: 20_000, messageBytes: 4 * MIB },
  });
});

beforeEach(() => {
  answered.clear();
  agent = plane.addAgent();
});

afterEach(async () => {
  goOn();
  // Late answers to a question must not leak into the next test.
  await vi.waitFor(() => expect(answers).toBe(nextQuestion - 1), { timeout: 5_000 });
  await plane.records();
});

afterAll(async () => {
  goOn();
  await plane?.stop();
  await upstream?.stop();
});

let nextId = 1;
const call = (name: string, params: object = {}, options: Partial<ModernOptions> = {}) =>
  postModern(
    plane,
    'tools/call',
    { name, arguments: {}, ...params },
    {
      authorization: agent.basic,
      capabilities: { elicitation: { form: {} } },
      id: nextId++,
      ...options,
    },
  );
const FILLED = { action: 'accept', content: { name: 'Ada' } };

/** A call up to the point where its client is asked. */
async function asked(args: object = {}, options: Partial<ModernOptions> = {}) {
  const { result } = (await call('asks', { arguments: args }, options)).last;
  expect(result.resultType).toBe('input_required');
  const [key = ''] = Object.keys(result.inputRequests);
  const { requestState } = result;
  return { arguments: args, requestState, inputResponses: { [key]: FILLED } };
}

it('does not limit the calls of clients that are asked nothing', async () => {
  const calls = Array.from({ length: 100 }, () => call('waits'));
  await vi.waitFor(() => expect(waiting).toHaveLength(100), { timeout: 10_000 });
  goOn();
  const answers = await Promise.all(calls);
  expect(answers.filter(({ last }) => last.error !== undefined)).toEqual([]);
});

it('limits the open questions to the clients of an agent, whatever they declare', async () => {
  const variants = [{}, { sampling: {} }, { roots: {} }];
  const first = await Promise.all(
    Array.from({ length: 64 }, (_, n) => {
      const capabilities = { elicitation: { form: {} }, ...variants[n % 3] };
      return call('asks', {}, { capabilities });
    }),
  );
  expect(first.filter(({ last }) => last.result?.resultType !== 'input_required')).toEqual([]);
  const more = call('asks');
  await vi.waitFor(() => expect([...answered.values()]).toMatchObject([{ error: {} }]));
  // Another agent's clients can still be asked.
  const other = plane.addAgent();
  const { last } = await call('asks', {}, { authorization: other.basic });
  expect(last.result.resultType).toBe('input_required');
  goOn();
  expect((await more).last.result.content).toHaveLength(1);
});

it('keeps unfetched answers as far as there is room', async () => {
  const parked: Awaited<ReturnType<typeof asked>>[] = [];
  for (let n = 0; n < 20; n++) parked.push(await asked({ size: MIB, n }));
  for (let n = 1; n <= parked.length; n++) {
    waiting.shift()?.();
    // The server was told that nobody answers: its own answer arrived.
    await vi.waitFor(() => expect(answered.size).toBe(n));
  }
  const [oldest] = parked;
  const newest = parked.at(-1);
  expect((await call('asks', newest)).last.result?.resultType).toBe('complete');
  expect((await call('asks', oldest)).last.error?.code).toBe(-32602);
});

it('keeps an answer whatever another tenant’s agents leave unfetched', async () => {
  const own = await asked();
  const other = (await plane.addNeighbour()).addAgent();
  for (let n = 0; n < 6; n++) {
    await asked({ size: 3 * MIB, n }, { authorization: other.basic });
  }
  for (let n = 1; n <= 7; n++) {
    waiting.shift()?.();
    await vi.waitFor(() => expect(answered.size).toBe(n));
  }
  expect((await call('asks', own)).last.result?.resultType).toBe('complete');
});

it.each([
  [{ a: { method: 'roots/list' } }, 'did not declare'],
  [{ a: { method: 'elicitation/create', params: 'Who?' } }, 'not valid MCP'],
])('judges the question in a server’s answer to an answer: %j', async (inputRequests, message) => {
  const result = { resultType: 'input_required', inputRequests, requestState: 'x' };
  const retry = await asked({ result });
  const resumed = call('asks', retry);
  await vi.waitFor(() => expect(answered.size).toBe(1));
  goOn();
  const { last } = await resumed;
  expect(last.error?.message).toContain(message);
});

it('seals the task in a server’s answer to an answer', async () => {
  const capabilities = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const result = { resultType: 'task', taskId: 'task-1' };
  const retry = await asked({ result }, { capabilities });
  const resumed = call('asks', retry, { capabilities });
  await vi.waitFor(() => expect(answered.size).toBe(1));
  goOn();
  expect((await resumed).last.result.taskId).toMatch(/^task-1~.{22}$/);
});

it('lets one of two simultaneous requests continue', async () => {
  const retry = await asked();
  const both = [call('asks', retry), call('asks', retry)];
  await vi.waitFor(() => expect(answered.size).toBe(1));
  goOn();
  const answers = await Promise.all(both);
  expect(answers.map(({ last }) => last.error?.code ?? last.result.resultType).sort()).toEqual([
    -32602,
    'complete',
  ]);
});

it('tells the server at once that an answered call has no more answers', async () => {
  const { arguments: args, requestState } = await asked();
  goOn();
  await vi.waitFor(() => expect([...answered.values()]).toMatchObject([{ error: {} }]));
  const { last } = await call('asks', { arguments: args, requestState, inputResponses: {} });
  expect(last.result.resultType).toBe('complete');
});

it.each([null, 'yes', ['yes']])('refuses %j as input of a client', async (given) => {
  const { arguments: args, requestState } = await asked();
  const inputResponses = { x: given };
  const { status, last } = await call('asks', { arguments: args, requestState, inputResponses });
  expect([status, last.error.code]).toEqual([200, -32602]);
});
