/**
 * Modern clients with a modern server: its questions, tasks and changes, judged on their way and
 * separated by agent. The server is hand-written, so that it can also ask too much.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { listenModern, type ModernOptions, postModern } from '../../testing/test-modern-client.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';

interface Seen {
  method: string;
  params: Record<string, unknown>;
  headers: IncomingHttpHeaders;
}

const TASKS = { 'io.modelcontextprotocol/tasks': {} };
const PREFIX = 'io.modelcontextprotocol/';

let plane: TestPlane;
let agent: TestAgent;
const seen: Seen[] = [];
const streams: { response: ServerResponse; id: unknown }[] = [];
let inputRequests: unknown;
let requestState = 'mine';
let taskStatus: Record<string, unknown> = {};
let serversTaskId: unknown = 'task-1';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    seen.push({ method, params, headers: request.headers });
    if (method === 'subscriptions/listen') return listen(id, params, response);
    const answer = answerOf(method, params);
    response.writeHead('error' in answer && answer.error?.code === -32601 ? 404 : 200, {
      'content-type': 'application/json',
    });
    // A number that no double can represent.
    const text = JSON.stringify({ jsonrpc: '2.0', id, ...answer });
    response.end(text.replace('"HUGE"', '12345678901234567890'));
  });
});

function listen(id: unknown, params: Record<string, unknown>, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  streams.push({ response, id });
  const method = 'notifications/subscriptions/acknowledged';
  tell({ response, id }, method, { notifications: params.notifications });
}

function tell(to: (typeof streams)[number], method: string, params: object): void {
  const _meta = { [`${PREFIX}subscriptionId`]: to.id };
  const text = JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta } });
  to.response.write(`event: message\ndata: ${text}\n\n`);
}

const complete = (members: object) => ({ result: { resultType: 'complete', ...members } });

function answerOf(
  method: string,
  params: Record<string, unknown>,
): { result?: object; error?: { code: number; message: string } } {
  switch (method) {
    case 'server/discover':
      return complete({
        supportedVersions: ['2026-07-28'],
        capabilities: {
          tools: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          extensions: TASKS,
        },
        ttlMs: 0,
        cacheScope: 'public',
      });
    case 'tools/list':
      return complete({
        tools: ['asks', 'starts'].map((name) => ({
          name,
          inputSchema: {
            type: 'object',
            properties: {
              region: { type: 'string', 'x-mcp-header': 'Region' },
              n: { type: 'integer', 'x-mcp-header': 'N' },
            },
          },
          annotations: { readOnlyHint: true },
        })),
        ttlMs: 60_000,
        cacheScope: 'public',
      });
    case 'resources/read':
      return complete({
        contents: [{ uri: params.uri, text: 'x' }],
        ttlMs: 5,
        cacheScope: 'public',
      });
    case 'tools/call':
      if (params.name === 'starts') {
        const task = { taskId: serversTaskId, status: 'working', ttlMs: null };
        return { result: { resultType: 'task', ...task } };
      }
      return params.inputResponses === undefined
        ? { result: { resultType: 'input_required', inputRequests, requestState } }
        : complete({ content: [], structuredContent: params });
    case 'tasks/get':
      return complete({ taskId: params.taskId, ttlMs: null, status: 'working', ...taskStatus });
    case 'tasks/update':
    case 'tasks/cancel':
      return complete(taskStatus);
    default:
      return { error: { code: -32601, message: 'Method not found' } };
  }
}

const NO_SECRETS = {
  id: '0190aaaa-0000-7000-8000-0000000000ff',
  name: 'no_secrets',
  rego: `package no_secrets
import rego.v1
deny contains "a secret" if input.request.input_responses.who.content.name == "secret"
deny contains "a secret state" if input.request.request_state == "secret"`,
};

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', url)],
    policies: [NO_SECRETS],
    keepAliveMs: 50,
  });
  agent = plane.addAgent();
});

afterAll(async () => {
  await plane?.stop();
  server.closeAllConnections();
  server.close();
});

afterEach(async () => {
  seen.length = 0;
  requestState = 'mine';
  taskStatus = {};
  serversTaskId = 'task-1';
  await plane.records();
});

const CAPABILITIES = { elicitation: {}, extensions: TASKS };
const send = (
  method: string,
  params: Record<string, unknown>,
  options: Partial<ModernOptions> = {},
) =>
  postModern(plane, method, params, {
    authorization: agent.basic,
    capabilities: CAPABILITIES,
    ...options,
  });
const sent = (method: string) => seen.filter((one) => one.method === method);
const decisions = async () =>
  (await plane.records()).flatMap((record) =>
    record.type === 'decision' ? [[record.method, record.policy_result]] : [],
  );

const QUESTION = { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: {} } };

describe('a server that asks', () => {
  it('reaches the client with its questions, which are judged, and its state', async () => {
    inputRequests = { who: QUESTION };
    const { json } = await send('tools/call', { name: 'asks' });
    expect(json.result).toEqual({
      resultType: 'input_required',
      inputRequests,
      requestState: 'mine',
    });
    expect(await decisions()).toEqual([
      ['tools/call', 'allow'],
      ['elicitation/create', 'allow'],
    ]);
    const { params } = sent('tools/call')[0] as Seen;
    expect(params._meta).toMatchObject({ [`${PREFIX}clientCapabilities`]: CAPABILITIES });
  });

  it('gets the client’s answers with a call that is judged again', async () => {
    const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } } };
    const retry = { name: 'asks', inputResponses, requestState: 'mine' };
    const { json } = await send('tools/call', retry);
    expect(json.result.structuredContent).toMatchObject({ inputResponses, requestState: 'mine' });
    expect(await decisions()).toEqual([['tools/call', 'allow']]);
  });

  it.each([
    'gateway-mine',
    'gateway-server-mine',
    'gateway-call-mine',
  ])('has a state of its own, even one like %s', async (state) => {
    inputRequests = { who: QUESTION };
    requestState = state;
    const { json } = await send('tools/call', { name: 'asks' });
    const inputResponses = { who: { action: 'decline' } };
    const retry = { name: 'asks', inputResponses, requestState: json.result.requestState };
    const done = await send('tools/call', retry);
    expect(done.json.result.structuredContent).toMatchObject({ requestState: state });
  });

  it('gets no state that policy denies: a client may have made it up', async () => {
    const { json } = await send('tools/call', { name: 'asks', requestState: 'secret' });
    expect(json.error).toMatchObject({ code: -32003, message: /a secret state/ });
    expect(sent('tools/call')).toEqual([]);
  });

  it('receives nothing sensitive, whichever member of a request holds it', async () => {
    const key = 'AKIAQ7MZ3HTXW5RBNC2V';
    const encoded = Buffer.from(JSON.stringify({ note: key })).toString('base64url');
    const accept = (content: object) => ({ who: { action: 'accept', content } });
    for (const retry of [
      { inputResponses: {}, requestState: key },
      { inputResponses: {}, requestState: encoded },
      { inputResponses: accept({ note: encoded }) },
      { inputResponses: accept({ [key]: 1 }) },
      { inputResponses: { [key]: { action: 'decline' } } },
      { arguments: { other: [key] } },
    ]) {
      const { json } = await send('tools/call', { name: 'asks', ...retry });
      expect(json.error).toMatchObject({ code: -32003, message: /aws_access_key_id/ });
    }
    const { json } = await send('tasks/update', { taskId: 't', inputResponses: accept({ key }) });
    expect(json.error).toMatchObject({ code: -32003, message: /aws_access_key_id/ });
    expect(sent('tools/call')).toEqual([]);
    expect(sent('tasks/update')).toEqual([]);
    expect(JSON.stringify(await plane.records())).not.toContain(key);
  });

  it('may sign its state', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const state = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ step: 2 })}.${'k3Yw9'.repeat(8)}`;
    const inputResponses = { who: { action: 'decline' } };
    await send('tools/call', { name: 'asks', inputResponses, requestState: state });
    const [decision] = (await plane.records()).filter(({ type }) => type === 'decision');
    expect(decision).toMatchObject({ policy_result: 'allow', dlp_findings_count: 0 });
  });

  it('shows the answers to policies', async () => {
    const answer = (name: string) => ({ who: { action: 'accept', content: { name } } });
    const denied = await send('tools/call', { name: 'asks', inputResponses: answer('secret') });
    expect(denied.json.error.code).toBe(-32003);
    const allowed = await send('tools/call', { name: 'asks', inputResponses: answer('Ada') });
    expect(allowed.json.result.resultType).toBe('complete');
  });

  it.each([
    ['what the client did not declare', { a: { method: 'roots/list' } }, 'did not declare'],
    ['an unknown method', { a: { method: 'no/such' } }, 'did not declare'],
    ['something other than a question', { a: 7 }, 'not valid MCP'],
    ['something other than a map', [], 'not valid MCP'],
    [
      'too much',
      Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`q${n}`, QUESTION])),
      'more than 16',
    ],
  ])('for %s is not passed on', async (_what, requests, message) => {
    inputRequests = requests;
    const { json } = await send('tools/call', { name: 'asks' });
    expect(json.error.code).toBe(-32603);
    expect(json.error.message).toContain(message);
  });

  it('is not passed on where policy denies the question', async () => {
    inputRequests = { who: QUESTION };
    const options = { authorization: plane.addAgent(['up:read']).basic };
    const { json } = await send('tools/call', { name: 'asks' }, options);
    expect(json.error.code).toBe(-32003);
    expect(json.error.message).toContain('elicitation/create');
    expect(await decisions()).toEqual([
      ['tools/call', 'allow'],
      ['elicitation/create', 'deny'],
    ]);
  });
});

describe('a task', () => {
  const start = async (options: Partial<ModernOptions> = {}): Promise<string> => {
    const name = options.path === '/mcp/v1' ? 'up__starts' : 'starts';
    const { json } = await send('tools/call', { name }, options);
    expect(json.result).toMatchObject({ resultType: 'task', status: 'working' });
    return json.result.taskId;
  };

  it.each(['/mcp/v1/up', '/mcp/v1'])("is the agent's own, at %s", async (path) => {
    const taskId = await start({ path });
    expect(taskId).not.toBe('task-1');
    const { json } = await send('tasks/get', { taskId }, { path });
    expect(json.result).toMatchObject({ resultType: 'complete', taskId, status: 'working' });
    expect(sent('tasks/get')[0]).toMatchObject({
      params: { taskId: 'task-1' },
      headers: { 'mcp-name': 'task-1' },
    });
    const inputResponses = { who: { action: 'decline' } };
    expect((await send('tasks/update', { taskId, inputResponses }, { path })).status).toBe(200);
    expect(sent('tasks/update')[0]?.params).toMatchObject({ taskId: 'task-1', inputResponses });
    expect((await send('tasks/cancel', { taskId }, { path })).status).toBe(200);
    expect(await decisions()).toEqual([
      ['tools/call', 'allow'],
      ['tasks/get', 'allow'],
      ['tasks/update', 'allow'],
      ['tasks/cancel', 'allow'],
    ]);
  });

  it('is not given to a client that does not know tasks', async () => {
    const { json } = await send('tools/call', { name: 'starts' }, { capabilities: {} });
    expect(json.error).toMatchObject({
      code: -32603,
      message: expect.stringContaining('did not declare'),
    });
  });

  it('is of no use to anybody else, whatever they know of it', async () => {
    const taskId = await start();
    const other = { authorization: plane.addAgent().basic };
    for (const guess of [taskId, 'task-1', `task-1~${'A'.repeat(22)}`, `${taskId}x`]) {
      const { json } = await send('tasks/get', { taskId: guess }, other);
      expect([guess, json.error.code]).toEqual([guess, -32602]);
    }
    expect(sent('tasks/get')).toEqual([]);
  });

  it('may have an id that looks like a card number, which no agent may make up', async () => {
    serversTaskId = '4111111111111111';
    const taskId = await start();
    expect((await send('tasks/get', { taskId })).json.result.status).toBe('working');
    const inputResponses = { who: { action: 'accept', content: { card: serversTaskId } } };
    for (const [method, params] of [
      ['tasks/get', { taskId: serversTaskId }],
      ['tasks/update', { taskId, inputResponses }],
    ] as const) {
      const { json } = await send(method, params);
      expect(json.error).toMatchObject({ code: -32003, message: /payment_card/ });
    }
  });

  it.each([
    ['longer than can be sent back', 'x'.repeat(1025)],
    ['with NUL', 'a\u0000b'],
    ['not text', 7],
    ['missing', undefined],
  ])('is not given out where its id is %s', async (_, taskId) => {
    serversTaskId = taskId;
    const { json } = await send('tools/call', { name: 'starts' });
    expect(json.error).toMatchObject({ code: -32603, message: /an id that the gateway cannot/ });
  });

  it.each([
    'tasks/get',
    'tasks/update',
    'tasks/cancel',
  ])('is the one that was asked for: no other is given out by %s', async (method) => {
    const taskId = await start();
    taskStatus = { taskId: '4111111111111111' };
    const { json } = await send(method, { taskId, inputResponses: {} });
    expect(json.error).toMatchObject({ code: -32603, message: /another task than was asked for/ });
  });

  it('is for whom a permission names the methods of tasks, not for whom it names the tool', async () => {
    const only = { authorization: plane.addAgent(['up/starts:read']).basic };
    const { json } = await send('tasks/get', { taskId: await start(only) }, only);
    expect(json.error).toMatchObject({ code: -32003, message: /`up\/mcp:tasks\/get:read`/ });
    const permissions = ['up/starts:read', 'up/mcp:tasks/*:read', 'up/mcp:tasks/*:write'];
    const both = { authorization: plane.addAgent(permissions).basic };
    const taskId = await start(both);
    expect((await send('tasks/get', { taskId }, both)).json.result.status).toBe('working');
    expect((await send('tasks/cancel', { taskId }, both)).json.result).toBeDefined();
  });

  it('that waits for input has its questions judged', async () => {
    const taskId = await start();
    taskStatus = { status: 'input_required', inputRequests: { who: QUESTION } };
    const { json } = await send('tasks/get', { taskId });
    expect(json.result).toMatchObject({ taskId, status: 'input_required' });
    expect(await decisions()).toContainEqual(['elicitation/create', 'allow']);
    taskStatus = { status: 'input_required', inputRequests: { who: { method: 'roots/list' } } };
    expect((await send('tasks/get', { taskId })).json.error.message).toContain('did not declare');
  });

  it.each([
    'input_required',
    'task',
    null,
    7,
  ])('that is done has a complete result, not one of type %s', async (resultType) => {
    const taskId = await start();
    const inputRequests = { who: QUESTION };
    taskStatus = { status: 'completed', result: { resultType, inputRequests } };
    const { json } = await send('tasks/get', { taskId });
    expect(json.error).toMatchObject({ code: -32603, message: /not valid MCP/ });
    taskStatus = { status: 'completed', result: { resultType: 'complete', content: [] } };
    expect((await send('tasks/get', { taskId })).json.result).toMatchObject(taskStatus);
  });

  it('that is done names its resources as the unified gateway does', async () => {
    const taskId = await start({ path: '/mcp/v1' });
    const link = { type: 'resource_link', uri: 'doc://1', name: 'one' };
    taskStatus = { status: 'completed', result: { content: [link] } };
    const { json } = await send('tasks/get', { taskId }, { path: '/mcp/v1' });
    expect(json.result.taskId).toBe(taskId);
    expect(json.result.result.content[0].uri).toBe('mcp+up+doc://1');
  });

  it('keeps numbers at the unified gateway exactly as its server wrote them', async () => {
    const taskId = await start({ path: '/mcp/v1' });
    taskStatus = { status: 'completed', result: { content: [], structuredContent: { n: 'HUGE' } } };
    const { text } = await send('tasks/get', { taskId }, { path: '/mcp/v1' });
    expect(text).toContain('{"n":12345678901234567890}');
  });
});

describe('headers of arguments', () => {
  const call = (args: object, headers: Record<string, string>) =>
    send('tools/call', { name: 'starts', arguments: args }, { headers });

  it('are checked against them, and written again for the server', async () => {
    const headers = {
      'mcp-param-region': '=?base64?w6k=?=',
      'mcp-param-n': '7.0',
      'mcp-param-x': 'y',
    };
    expect((await call({ region: 'é', n: 7 }, headers)).status).toBe(200);
    const { headers: passed } = sent('tools/call')[0] as Seen;
    expect([passed['mcp-param-region'], passed['mcp-param-n'], passed['mcp-param-x']]).toEqual([
      '=?base64?w6k=?=',
      '7',
      undefined,
    ]);
  });

  it.each([
    [{ region: 'eu' }, {}],
    [{ region: 'eu' }, { 'mcp-param-region': 'us' }],
    [{ region: 'eu' }, { 'mcp-param-region': '=?base64?ZXU?=' }],
    [{ n: 7 }, { 'mcp-param-n': '8' }],
  ])('that are not %j are refused: %j', async (args, headers) => {
    const { status, json } = await call(args, headers as Record<string, string>);
    expect([status, json.error.code]).toEqual([400, -32020]);
    expect(sent('tools/call')).toEqual([]);
  });

  it('are checked before the call is sent where the tools were unknown', async () => {
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/mcp`;
    const fresh = await startTestPlane({ servers: [HTTP_SERVER('up', url)] });
    try {
      const { status, json } = await postModern(
        fresh,
        'tools/call',
        { name: 'starts', arguments: { region: 'eu' } },
        { authorization: fresh.addAgent().basic, headers: { 'mcp-param-region': 'us' } },
      );
      expect([status, json.error.code]).toEqual([400, -32020]);
      expect([sent('tools/list').length, sent('tools/call').length]).toEqual([1, 0]);
      const [outcome] = (await fresh.records()).filter(({ type }) => type === 'outcome');
      expect(outcome).toMatchObject({ outcome: 'blocked', detail: json.error.message });
    } finally {
      await fresh.stop();
    }
  });
});

it('a publicly cacheable result is for one agent here', async () => {
  const { json } = await send('resources/read', { uri: 'doc://1' });
  expect(json.result).toMatchObject({ ttlMs: 5, cacheScope: 'private' });
});

describe('subscriptions/listen', () => {
  async function open(notifications: object, options: Partial<ModernOptions> = {}) {
    const authorization = agent.basic;
    const stream = listenModern(plane, notifications, { authorization, id: 'sub', ...options });
    await stream.acknowledged;
    return stream;
  }
  const last = () => {
    const stream = streams.at(-1);
    if (stream === undefined) throw new Error('no stream');
    return stream;
  };

  it.each([
    ['/mcp/v1/up', 'doc://1'],
    ['/mcp/v1', 'mcp+up+doc://1'],
  ])('reports what was asked for and nothing else, at %s', async (path, uri) => {
    const wanted = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: [uri],
    };
    const stream = await open(wanted, { path });
    expect(stream.received[0]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: [uri] },
        _meta: { [`${PREFIX}subscriptionId`]: 'sub' },
      },
    });
    expect(await decisions()).toEqual([['resources/subscribe', 'allow']]);
    tell(last(), 'notifications/tools/list_changed', {});
    tell(last(), 'notifications/resources/list_changed', {});
    tell(last(), 'notifications/resources/updated', { uri: 'doc://1' });
    tell(last(), 'notifications/resources/updated', { uri: 'doc://2' });
    await vi.waitFor(() => expect(stream.received).toHaveLength(3));
    expect(
      stream.received.slice(1).map(({ method, params }) => [method, params?.uri, params?._meta]),
    ).toEqual([
      ['notifications/tools/list_changed', undefined, { [`${PREFIX}subscriptionId`]: 'sub' }],
      ['notifications/resources/updated', uri, { [`${PREFIX}subscriptionId`]: 'sub' }],
    ]);
    await stream.close();
    await vi.waitFor(async () =>
      expect(await decisions()).toEqual([['resources/unsubscribe', 'allow']]),
    );
  });

  it('asks the server for many resources at once', async () => {
    const before = streams.length;
    const uris = Array.from({ length: 300 }, (_, n) => `doc://${n}`);
    const stream = await open({ resourceSubscriptions: uris });
    expect(stream.received[0]?.params?.notifications).toEqual({ resourceSubscriptions: uris });
    // As many as their records had commits, and not one each.
    expect(streams.length - before).toBeLessThan(30);
    await stream.close();
  });

  it('leaves out what is denied', async () => {
    const { basic } = plane.addAgent(['up/a_tool:execute']);
    const stream = await open(
      { toolsListChanged: true, resourceSubscriptions: ['doc://1'] },
      { authorization: basic },
    );
    expect(stream.received[0]?.params?.notifications).toEqual({ toolsListChanged: true });
    expect(await decisions()).toEqual([['resources/subscribe', 'deny']]);
    await stream.close();
  });

  it('ends with the agent that may not listen any more', async () => {
    const gone = plane.addAgent();
    const stream = await open({ toolsListChanged: true }, { authorization: gone.basic });
    gone.update({ status: 'suspended' });
    await stream.done;
    expect(stream.received).toHaveLength(1);
  });

  it('refuses a malformed filter', async () => {
    const { status, json } = await send('subscriptions/listen', {
      notifications: { toolsListChanged: 1 },
    });
    expect([status, json.error.code]).toEqual([200, -32602]);
    expect(json.error.message).toContain('notifications.toolsListChanged');
  });

  it('ends in order when the service stops', async () => {
    const stream = await open({ toolsListChanged: true });
    await plane.app.close();
    await stream.done;
    expect(stream.received.at(-1)).toEqual({
      jsonrpc: '2.0',
      id: 'sub',
      result: { resultType: 'complete', _meta: { [`${PREFIX}subscriptionId`]: 'sub' } },
    });
  });
});
