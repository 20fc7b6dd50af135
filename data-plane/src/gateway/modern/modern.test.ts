import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ModernOptions, modernRequest, postModern } from '../../testing/test-modern-client.ts';
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

const META = 'io.modelcontextprotocol/';
const SUPPORTED = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'];

beforeAll(async () => {
  upstream = await startTestUpstream({
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {} },
    tools: [
      { name: 'echo', annotations: { readOnlyHint: true } },
      { name: 'delete_thing' },
      { name: 'hangs', annotations: { readOnlyHint: true }, handle: () => undefined },
      {
        name: 'tells',
        annotations: { readOnlyHint: true },
        handle({ id, progressToken, event, response }) {
          const note = (method: string, params: object) => ({ jsonrpc: '2.0', method, params });
          event(note('notifications/progress', { progressToken, progress: 1 }));
          event(note('notifications/message', { level: 'info', data: 'low' }));
          event(note('notifications/message', { level: 'error', data: 'loud' }));
          event(note('notifications/tools/list_changed', {}));
          event({ jsonrpc: '2.0', id, result: { content: [] } });
          response.end();
        },
      },
    ],
    methods: {
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'x' }] }),
      'resources/list': () => ({ resources: [{ uri: 'doc://1', name: 'one' }] }),
      'prompts/get': () => ({ messages: [] }),
    },
  });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
  agent = plane.addAgent();
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

afterEach(async () => {
  upstream.seen.length = 0;
  await plane.records();
});

const send = (
  method: string,
  params: Record<string, unknown> = {},
  options: Partial<ModernOptions> = {},
) => postModern(plane, method, params, { authorization: agent.basic, ...options });

describe('a request', () => {
  it('is served without a session, and recorded', async () => {
    const { status, headers, json } = await send('tools/call', {
      name: 'echo',
      arguments: { a: 1 },
    });
    expect([status, headers.get('mcp-session-id')]).toEqual([200, null]);
    expect(json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { resultType: 'complete', content: [{ type: 'text', text: '{"a":1}' }] },
    });
    expect(await plane.records()).toMatchObject([
      { type: 'epoch_start' },
      { type: 'decision', method: 'tools/call', tool_name: 'echo', policy_result: 'allow' },
      { type: 'outcome', outcome: 'forwarded' },
    ]);
  });

  it('ignores the headers of sessions', async () => {
    const headers = { 'mcp-session-id': 'none', 'last-event-id': 'none' };
    expect((await send('tools/call', { name: 'echo' }, { headers })).status).toBe(200);
  });

  it('is denied by policy like any, with HTTP 200', async () => {
    const options = { authorization: plane.addAgent(['up:read']).basic };
    const { status, json } = await send('tools/call', { name: 'delete_thing' }, options);
    expect([status, json.error.code]).toEqual([200, -32003]);
    expect(upstream.messages('tools/call')).toEqual([]);
  });

  it('of an agent that may not act is 401', async () => {
    const gone = plane.addAgent();
    const options = { authorization: gone.basic };
    await send('tools/call', { name: 'echo' }, options);
    gone.update({ status: 'suspended' });
    for (const method of ['tools/call', 'tools/list', 'server/discover', 'subscriptions/listen']) {
      const params = { name: 'echo', notifications: {} };
      const { status, json, headers } = await send(method, params, options);
      expect([method, status, json.error.code]).toEqual([method, 401, -32000]);
      expect(headers.get('www-authenticate')).toContain('invalid_token');
    }
  });

  it('receives what it asked for before its answer, and nothing else', async () => {
    const meta = { progressToken: 'mine', [`${META}logLevel`]: 'warning' };
    const { events } = await send('tools/call', { name: 'tells' }, { meta });
    expect(
      events.map(({ method, params }) => [method, params?.progressToken ?? params?.data]),
    ).toEqual([
      ['notifications/progress', 'mine'],
      ['notifications/message', 'loud'],
      [undefined, undefined],
    ]);
    const quiet = await send('tools/call', { name: 'tells' });
    expect(quiet.events.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  it('is cancelled by the end of its connection', async () => {
    const { headers, body } = modernRequest(
      'tools/call',
      { name: 'hangs' },
      { authorization: agent.basic },
    );
    const abort = new AbortController();
    const gone = fetch(`${plane.url}/mcp/v1/up`, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(body),
      signal: abort.signal,
    });
    await vi.waitFor(() => expect(upstream.messages('tools/call')).toHaveLength(1));
    abort.abort();
    await expect(gone).rejects.toThrow();
    await vi.waitFor(() => expect(upstream.messages('notifications/cancelled')).toHaveLength(1));
    await vi.waitFor(async () =>
      expect(await plane.records()).toContainEqual(
        expect.objectContaining({ type: 'outcome', outcome: 'cancelled' }),
      ),
    );
  });

  it('is not sent for a client that left while its body waited for its turn', async () => {
    // Each of the large bodies waits until the one before it was worked on, and as long again.
    const pairs = Array.from({ length: 9_000 }, () => ['x', 'y']);
    const others = Array.from({ length: 6 }, () =>
      send('tools/call', { name: 'echo', arguments: { pairs } }),
    );
    const { headers, body } = modernRequest(
      'tools/call',
      { name: 'hangs', arguments: { text: 'z'.repeat(50_000) } },
      { authorization: agent.basic },
    );
    const text = JSON.stringify(body);
    const gone = request(`${plane.url}/mcp/v1/up`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-length': text.length },
    });
    gone.on('error', () => undefined).flushHeaders();
    // So that it is not the first.
    await Promise.race(others);
    gone.end(text, () => gone.destroy());
    await Promise.all(others);
    await vi.waitFor(async () =>
      expect(await plane.records()).toContainEqual(
        expect.objectContaining({ type: 'outcome', outcome: 'cancelled' }),
      ),
    );
  });
});

describe('what every request carries', () => {
  const version = `${META}protocolVersion`;
  const capabilities = `${META}clientCapabilities`;
  it.each([
    ['no capabilities', { meta: { [capabilities]: undefined } }, -32602],
    ['malformed capabilities', { meta: { [capabilities]: 'x' } }, -32602],
    ['no revision in the body', { meta: { [version]: undefined } }, -32602],
    ['malformed client info', { meta: { [`${META}clientInfo`]: 'x' } }, -32602],
    ['an unknown log level', { meta: { [`${META}logLevel`]: 'loud' } }, -32602],
    [
      'another revision in the header',
      { headers: { 'mcp-protocol-version': '2025-11-25' } },
      -32020,
    ],
    ['no revision in the header', { headers: { 'mcp-protocol-version': undefined } }, -32020],
    ['no method in the header', { headers: { 'mcp-method': undefined } }, -32020],
    ['another method in the header', { headers: { 'mcp-method': 'tools/list' } }, -32020],
    ['the method in other case', { headers: { 'mcp-method': 'Tools/Call' } }, -32020],
    ['no name in the header', { headers: { 'mcp-name': undefined } }, -32020],
    ['another name in the header', { headers: { 'mcp-name': 'delete_thing' } }, -32020],
    ['a name of broken base64', { headers: { 'mcp-name': '=?base64?ZWNobw?=' } }, -32020],
    ['a name of broken UTF-8', { headers: { 'mcp-name': '=?base64?/w==?=' } }, -32020],
  ])('with %s is refused before it is judged', async (_what, options, code) => {
    const { status, json } = await send('tools/call', { name: 'echo' }, { id: 'mine', ...options });
    expect([status, json.id, json.error.code]).toEqual([400, 'mine', code]);
    expect(upstream.messages('tools/call')).toEqual([]);
    expect((await plane.records()).filter(({ type }) => type === 'decision')).toEqual([]);
  });

  it.each(['mcp-name', 'mcp-method', 'mcp-param-x'])('has %s once', async (name) => {
    const { headers, body } = modernRequest(
      'tools/call',
      { name: 'echo' },
      { authorization: agent.basic },
    );
    const twice = { ...headers, [name]: [headers[name] ?? 'a', headers[name] ?? 'b'] };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(`${plane.url}/mcp/v1/up`, {
        method: 'POST',
        headers: { ...twice, 'content-type': 'application/json' },
      });
      sent.on('response', resolve).on('error', reject).end(JSON.stringify(body));
    });
    expect(answer.statusCode).toBe(400);
    expect(await json(answer)).toMatchObject({ id: 1, error: { code: -32020 } });
    expect(upstream.messages('tools/call')).toEqual([]);
  });

  it('takes an encoded name', async () => {
    const headers = { 'mcp-name': `=?base64?${Buffer.from('echo').toString('base64')}?=` };
    expect((await send('tools/call', { name: 'echo' }, { headers })).status).toBe(200);
  });

  it('names the supported revisions to a client of another', async () => {
    const { status, json } = await send(
      'tools/list',
      {},
      { meta: { [version]: '2027-01-01' }, headers: { 'mcp-protocol-version': '2027-01-01' } },
    );
    expect([status, json.error.code]).toEqual([400, -32022]);
    expect(json.error.data).toEqual({ supported: SUPPORTED, requested: '2027-01-01' });
  });
});

describe('methods', () => {
  it('server/discover describes the servers of the path', async () => {
    const { json } = await send('server/discover');
    expect(json.result).toEqual({
      resultType: 'complete',
      supportedVersions: SUPPORTED,
      capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {} },
      instructions: 'Be good.',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { [`${META}serverInfo`]: { name: 'test-upstream', version: '1' } },
    });
    const unified = await send('server/discover', {}, { path: '/mcp/v1' });
    expect(unified.json.result.capabilities.tools).toEqual({ listChanged: true });
  });

  it.each([
    ['tools/list', {}, 'tools'],
    ['resources/list', {}, 'resources'],
    ['resources/read', { uri: 'doc://1' }, 'contents'],
  ])('%s says that it is only for this agent', async (method, params, member) => {
    const { status, json } = await send(method, params);
    expect(status).toBe(200);
    expect(json.result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
    expect(json.result[member]).not.toEqual([]);
  });

  it.each([
    'initialize',
    'ping',
    'logging/setLevel',
    'resources/subscribe',
    'resources/unsubscribe',
    'tasks/list',
    'roots/list',
    'no/such',
  ])('%s does not exist', async (method) => {
    const { status, json } = await send(method, { uri: 'doc://1', level: 'info' });
    expect([status, json.id, json.error.code]).toEqual([404, 1, -32601]);
    expect(upstream.seen.filter(({ message }) => message?.method === method)).toEqual([]);
  });

  it('of tasks are for clients that declare the extension', async () => {
    const { status, json } = await send('tasks/get', { taskId: 'x' });
    expect([status, json.error.code]).toEqual([400, -32021]);
    const extension = { 'io.modelcontextprotocol/tasks': {} };
    expect(json.error.data).toEqual({ requiredCapabilities: { extensions: extension } });
    const declared = { capabilities: { extensions: extension } };
    const unknown = await send('tasks/get', { taskId: 'x' }, declared);
    expect([unknown.status, unknown.json.error.code]).toEqual([200, -32602]);
    expect(await plane.records()).toContainEqual(
      expect.objectContaining({ type: 'decision', method: 'tasks/get', action: 'read' }),
    );
  });
});

describe('the endpoint', () => {
  const headers = () => ({
    authorization: agent.basic,
    'mcp-protocol-version': '2026-07-28',
    accept: 'text/event-stream',
  });

  it.each(['GET', 'DELETE'])('has no %s', async (method) => {
    const answer = await fetch(`${plane.url}/mcp/v1/up`, { method, headers: headers() });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('accepts notifications, which are not forwarded, and refuses responses', async () => {
    const { headers: all } = modernRequest('notifications/x', {}, { authorization: agent.basic });
    const note = { jsonrpc: '2.0', method: 'notifications/x' };
    expect((await plane.post('/mcp/v1/up', note, all)).status).toBe(202);
    const response = { jsonrpc: '2.0', id: 1, result: {} };
    expect((await plane.post('/mcp/v1/up', response, all)).status).toBe(400);
    const { body } = modernRequest('tools/list', {}, { authorization: agent.basic });
    expect((await plane.post('/mcp/v1/up', [body], all)).status).toBe(400);
    expect(upstream.seen).toEqual([]);
  });

  it('lets browsers send the headers of a tool', async () => {
    const asked = 'authorization, mcp-param-region, x-evil';
    const answer = await fetch(`${plane.url}/mcp/v1/up`, {
      method: 'OPTIONS',
      headers: { origin: plane.url, 'access-control-request-headers': asked },
    });
    const allowed = answer.headers.get('access-control-allow-headers')?.split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['mcp-method', 'mcp-name', 'mcp-param-region']));
    expect(allowed).not.toContain('x-evil');
  });
});
