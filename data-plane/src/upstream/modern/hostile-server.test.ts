/** Modern servers that do what no good one does. */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ask,
  call,
  failureOf,
  LIMIT,
  openTestPool,
  type SeenPost,
  startHttp,
  TENANT,
  testExchange,
  testPeer,
} from '../../testing/test-modern.ts';
import { HTTP_SERVER } from '../../testing/test-plane.ts';
import type { UpstreamPool } from '../sessions/pool.ts';
import { ownExchange } from '../upstream.ts';

type Answer = (message: SeenPost['message'], response: ServerResponse) => unknown;

const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
};

let server: Awaited<ReturnType<typeof startHttp>>;
let pool: UpstreamPool;
/** By method: the result, or undefined where it has answered by itself. */
let answers: Record<string, Answer>;
let asked: ReturnType<typeof testPeer>['asked'];

const find = () => {
  const client = testPeer({ elicitation: {} }, () => ({ result: { action: 'decline' } }));
  asked = client.asked;
  return pool.getSession({
    tenantId: TENANT,
    server: HTTP_SERVER('up', server.url),
    agentId: 'agent',
    peer: client.peer,
    era: 'modern',
  });
};

const events = (response: ServerResponse, ...messages: unknown[]) => {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const message of messages) response.write(`data: ${JSON.stringify(message)}\n\n`);
};

beforeEach(async () => {
  answers = { 'server/discover': () => DISCOVERED };
  server = await startHttp((_request, response, body) => {
    const message = JSON.parse(body);
    const result = answers[message.method]?.(message, response);
    if (result === undefined) return;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
  });
  pool = openTestPool({ limits: { timeoutMs: 1000, messageBytes: LIMIT } });
});

afterEach(async () => {
  await pool.close();
  await server.stop();
});

const INPUT = { method: 'elicitation/create', params: { message: 'More?' } };
const REQUIRED = { resultType: 'input_required', inputRequests: { more: INPUT } };

describe('a result', () => {
  it.each([
    ['of no known type', { resultType: 'surprise' }],
    ['whose type is no text', { resultType: 1 }],
    ['that is a task, for a client that knows none', { resultType: 'task', taskId: 't' }],
    ['that requires nothing', { resultType: 'input_required' }],
    ['that requires no object', { resultType: 'input_required', inputRequests: [] }],
    ['whose state is no text', { ...REQUIRED, requestState: 1 }],
    ['that asks for a tool', { ...REQUIRED, inputRequests: { a: { method: 'tools/call' } } }],
    [
      'that asks too much',
      {
        ...REQUIRED,
        inputRequests: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, INPUT])),
      },
    ],
  ])('%s is refused', async (_what, result) => {
    answers['tools/call'] = () => result;
    expect(await failureOf(call(find(), 'x'))).toBe('malformed');
    expect(server.posts('tools/call')).toHaveLength(1);
    expect(asked).toEqual([]);
  });

  it('that requires input for a list is refused to all', async () => {
    answers['tools/list'] = () => REQUIRED;
    const every = testExchange({ takesEveryResult: true });
    expect(await failureOf(ask(find(), 'tools/list', {}, every))).toBe('malformed');
  });

  it('that keeps requiring input is refused after some rounds', async () => {
    answers['tools/call'] = () => REQUIRED;
    expect(await failureOf(call(find(), 'x'))).toBe('malformed');
    expect(server.posts('tools/call')).toHaveLength(9);
    expect(asked).toHaveLength(8);
  });

  it('whose state is larger than any message is refused', async () => {
    answers['tools/call'] = () => ({ ...REQUIRED, requestState: 'x'.repeat(LIMIT) });
    expect(await failureOf(call(find(), 'x'))).toBe('too_large');
  });

  it('is given as it was written, without what legacy results do not have', async () => {
    answers['tools/call'] = (message, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const result = `{ "ttlMs" : 1, "n": 12345678901234567890 ,"resultType":"complete", "a\\"b": {"ttlMs":[2, "}"]} }`;
      response.end(`{"jsonrpc":"2.0","id":${message.id},"result":${result}}`);
    };
    const answer = await call(find(), 'x');
    expect(answer.raw).toBe('{"n": 12345678901234567890,"a\\"b": {"ttlMs":[2, "}"]}}');
    expect(answer.value).not.toHaveProperty('ttlMs');
  });
});

describe('a stream', () => {
  it('with requests of the server on it: they are answered by nobody', async () => {
    answers['tools/call'] = ({ id }, response) => {
      const request = { jsonrpc: '2.0', id: 1, ...INPUT };
      events(response, request, { jsonrpc: '2.0', id, result: { content: [] } });
      response.end();
    };
    expect((await call(find(), 'x')).kind).toBe('result');
    expect(asked).toEqual([]);
    expect(server.seen.map(({ message }) => message.method)).toEqual([
      'server/discover',
      'tools/call',
    ]);
  });

  it('that ends before the answer fails the call, which is not sent again', async () => {
    answers['tools/call'] = (_message, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('id: 1\nretry: 10\ndata: \n\n');
    };
    expect(await failureOf(call(find(), 'x'))).toBe('malformed');
    expect(server.posts('tools/call')).toHaveLength(1);
  });
});

describe('an HTTP error', () => {
  const refuse = (status: number, body: (id: unknown) => unknown) => {
    answers['tools/call'] = ({ id }, response) =>
      void response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify(body(id)));
  };
  const error = { code: -32602, message: 'No.' };

  it.each([
    ['404 with the id', 404, (id: unknown) => ({ jsonrpc: '2.0', id, error })],
    ['400 without an id', 400, () => ({ jsonrpc: '2.0', error })],
    ['400 with the id null', 400, () => ({ jsonrpc: '2.0', id: null, error })],
    ['500 with the id', 500, (id: unknown) => ({ jsonrpc: '2.0', id, error })],
  ])('%s is the answer', async (_what, status, body) => {
    refuse(status, body);
    expect(await call(find(), 'x')).toMatchObject({ kind: 'error', value: error });
  });

  it.each([
    ['404 with another id', 404, () => ({ jsonrpc: '2.0', id: 4711, error }), 'refused'],
    ['400 that is a result', 400, (id: unknown) => ({ jsonrpc: '2.0', id, result: {} }), 'refused'],
    ['401', 401, (id: unknown) => ({ jsonrpc: '2.0', id, error }), 'refused'],
    ['503', 503, () => 'away', 'unreachable'],
  ])('%s is none', async (_what, status, body, kind) => {
    refuse(status, body);
    expect(await failureOf(call(find(), 'x'))).toBe(kind);
    expect(server.posts('tools/call')).toHaveLength(1);
  });

  it('that blames the headers again and again ends the call', async () => {
    refuse(400, (id) => ({ jsonrpc: '2.0', id, error: { code: -32020, message: 'Headers.' } }));
    const schema = { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } } };
    answers['tools/list'] = () => ({ tools: [{ name: 'x', inputSchema: schema }] });
    expect(await call(find(), 'x')).toMatchObject({ value: { code: -32020 } });
    expect(server.posts('tools/call')).toHaveLength(2);
    expect(server.posts('tools/list')).toHaveLength(1);
  });
});

describe('a stream of subscriptions', () => {
  const acknowledge = (id: unknown, notifications: unknown) => ({
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id }, notifications },
  });

  it('that is not acknowledged fails the subscription in time', async () => {
    answers['subscriptions/listen'] = (_message, response) => events(response);
    expect(await failureOf(ask(find(), 'resources/subscribe', { uri: 'a' }))).toBe('timeout');
  });

  it('that does not have the resource is an error', async () => {
    answers['subscriptions/listen'] = ({ id }, response) =>
      events(response, acknowledge(id, { resourceSubscriptions: ['b'] }));
    const answer = await ask(find(), 'resources/subscribe', { uri: 'a' });
    expect(answer).toMatchObject({ kind: 'error', value: { code: -32602 } });
    const second = await ask(find(), 'resources/subscribe', { uri: 'b' });
    expect(second.kind).toBe('result');
    expect(server.posts('subscriptions/listen').at(-1)?.message.params.notifications).toEqual({
      resourceSubscriptions: ['b'],
    });
  });

  it('that the server does not have is an error too', async () => {
    answers['subscriptions/listen'] = ({ id }, response) => {
      const error = { code: -32601, message: 'What?' };
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    };
    const answer = await ask(find(), 'resources/subscribe', { uri: 'a' });
    expect(answer).toMatchObject({ kind: 'error', value: { code: -32602 } });
  });

  it('says nothing before it is acknowledged, and nothing that it was not opened for', async () => {
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
    const other = { jsonrpc: '2.0', method: 'notifications/message', params: { data: 1 } };
    answers['subscriptions/listen'] = ({ id }, response) =>
      events(response, changed, acknowledge(id, { toolsListChanged: true }), other, changed);
    const received: string[] = [];
    pool.listen({
      tenantId: TENANT,
      agentId: 'agent',
      serverId: null,
      onNotification: (_id, { method }) => received.push(method),
      peerId: 'peer',
    });
    await find().open(ownExchange());
    await expect.poll(() => received).toEqual(['notifications/tools/list_changed']);
  });

  it('is opened again after a pause, not at once', async () => {
    answers['subscriptions/listen'] = ({ id }, response) => {
      events(response, acknowledge(id, { toolsListChanged: true }));
      response.end();
    };
    pool.listen({
      tenantId: TENANT,
      agentId: 'agent',
      serverId: null,
      onNotification: () => undefined,
      peerId: 'peer',
    });
    await find().open(ownExchange());
    await expect.poll(() => server.posts('subscriptions/listen')).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(server.posts('subscriptions/listen')).toHaveLength(1);
    await expect
      .poll(() => server.posts('subscriptions/listen').length, { timeout: 3000 })
      .toBeGreaterThan(1);
  });
});
