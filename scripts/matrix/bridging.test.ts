/**
 * What passes from a client of one era to a server of the other, beyond what the matrix covers, and
 * the errors for what does not: the table of docs/mcp-compatibility.md.
 */
import {
  HTTP_SERVER,
  startTestPlane,
  type TestPlane,
} from '@governance/data-plane/testing/test-plane';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type BridgingServer, startBridgingServer, WATCHED } from './bridging-server.ts';

let plane: TestPlane;
let servers: { legacy: BridgingServer; modern: BridgingServer };

beforeAll(async () => {
  servers = {
    legacy: await startBridgingServer('legacy'),
    modern: await startBridgingServer('modern'),
  };
  plane = await startTestPlane({
    servers: Object.entries(servers).map(([id, { url }]) => HTTP_SERVER(id, url)),
  });
});

afterAll(async () => {
  await plane?.stop();
  await Promise.all(Object.values(servers ?? {}).map((server) => server.close()));
});

async function connect(mode: 'legacy' | 'auto', server: string) {
  const authorization = plane.addAgent(['*:*']).basic;
  const client = new Client(
    { name: 'bridging', version: '1' },
    { capabilities: { roots: { listChanged: true } }, versionNegotiation: { mode } },
  );
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///work' }] }));
  const received: string[] = [];
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    received.push('tools');
  });
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    received.push(params.uri);
  });
  client.setNotificationHandler('notifications/message', ({ params }) => {
    received.push(params.level);
  });
  const url = new URL(`${plane.url}/mcp/v1/${server}`);
  const options = { requestInit: { headers: { authorization } } };
  await client.connect(new StreamableHTTPClientTransport(url, options));
  const call = async (name: string, _meta?: Record<string, unknown>) =>
    JSON.stringify(await client.callTool({ name, arguments: {}, ...(_meta && { _meta }) }));
  /** What a client without a session sends, verbatim. */
  const post = async (body: unknown, more: Record<string, string> = {}) => {
    const headers = {
      authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...more,
    };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as { error?: unknown } };
  };
  return { client, received, call, post };
}

const EVENTS = 'text/event-stream, application/json';

/** A request of each era. */
const legacyRequest = (method: string, params: Record<string, unknown> = {}) =>
  [{ jsonrpc: '2.0', id: 1, method, params }, { 'mcp-protocol-version': '2025-11-25' }] as const;
const modernRequest = (method: string, params: Record<string, unknown> = {}) => {
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const name = params.name ?? params.taskId;
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  };
  return [{ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, headers] as const;
};

/** Calls a tool that ends when it is cancelled, and cancels it. */
async function cancelCall(client: Client, { waits }: BridgingServer): Promise<void> {
  const before = { ...waits };
  const controller = new AbortController();
  const waiting = client.callTool({ name: 'wait', arguments: {} }, { signal: controller.signal });
  const ended = expect(waiting).rejects.toThrow();
  await vi.waitFor(() => expect(waits.begun).toBe(before.begun + 1), 10_000);
  controller.abort();
  await ended;
  await vi.waitFor(() => expect(waits.cancelled).toBe(before.cancelled + 1), 10_000);
}

describe('a modern client with a legacy server', () => {
  let side: Awaited<ReturnType<typeof connect>>;
  beforeAll(async () => {
    side = await connect('auto', 'legacy');
    expect(side.client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  });
  afterAll(() => side?.client.close());

  it('hears of changes, for which its listening is a subscription', async () => {
    const { client, received, call } = side;
    const filter = { toolsListChanged: true, resourceSubscriptions: [WATCHED] };
    const subscription = await client.listen(filter);
    expect(subscription.honoredFilter).toEqual(filter);
    await call('change');
    await vi.waitFor(() => expect(received.sort()).toEqual([WATCHED, 'tools']), 20_000);
    await subscription.close();
  });

  it('gets log messages with the request that asks for them', async () => {
    side.received.length = 0;
    await side.call('log');
    await side.call('log', { 'io.modelcontextprotocol/logLevel': 'error' });
    expect(side.received).toEqual(['error']);
  });

  it('is asked for its roots, and cancels by leaving', async () => {
    expect(await side.call('ask_roots')).toContain('file:///work');
    await cancelCall(side.client, servers.legacy);
  });

  it('learns that a legacy server has no tasks and waits for no input', async () => {
    const { post } = side;
    for (const method of ['tasks/get', 'tasks/cancel']) {
      const { status, body } = await post(...modernRequest(method, { taskId: 'job-1' }));
      expect(status).toBe(200);
      expect(body.error).toMatchObject({
        code: -32602,
        message: 'No such task of this agent here.',
      });
    }
    const retry = (requestState: string) =>
      post(...modernRequest('tools/call', { name: 'log', arguments: {}, requestState }));
    expect((await retry('of-nobody')).body.error).toMatchObject({
      code: -32601,
      message:
        'The server speaks MCP 2025-11-25, which has no input_required: it waits for no input. Make the request without requestState.',
    });
    expect((await retry('gateway-of-before')).body.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('This requestState is none that the gateway waits for'),
    });
  });

  it('has neither batches nor what the revision removed', async () => {
    const { post } = side;
    const [request, headers] = modernRequest('tools/list');
    const batch = await post([request], headers);
    expect(batch).toMatchObject({
      status: 400,
      body: {
        error: { code: -32600, message: 'MCP 2026-07-28 has no batches: send one message.' },
      },
    });
    for (const method of ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe']) {
      const answer = await post(...modernRequest(method));
      expect(answer).toMatchObject({ status: 404, body: { error: { code: -32601 } } });
    }
  });
});

describe('a legacy client with a modern server', () => {
  let side: Awaited<ReturnType<typeof connect>>;
  beforeAll(async () => {
    side = await connect('legacy', 'modern');
    expect(side.client.getNegotiatedProtocolVersion()).toBe('2025-11-25');
  });
  afterAll(() => side?.client.close());

  it('hears of changes without a stream of its own at the server', async () => {
    const { client, received, call } = side;
    await client.subscribeResource({ uri: WATCHED });
    // Its stream for notifications is opened concurrently, so the first one may be missed.
    const hears = async () => {
      await call('change');
      expect(new Set(received)).toEqual(new Set([WATCHED, 'tools']));
    };
    await vi.waitFor(hears, { timeout: 10_000, interval: 200 });
    await client.unsubscribeResource({ uri: WATCHED });
  });

  it('sets a level once, which goes with every request', async () => {
    side.received.length = 0;
    await side.call('log');
    // A modern server logs nothing unless asked to.
    expect(side.received).toEqual([]);
    await side.client.setLoggingLevel('error');
    await side.call('log');
    expect(side.received).toEqual(['error']);
  });

  it('is asked for its roots, pings, and cancels', async () => {
    expect(await side.call('ask_roots')).toContain('file:///work');
    await side.client.sendRootsListChanged();
    await side.client.ping();
    await cancelCall(side.client, servers.modern);
  });

  it('learns what the server needs that it does not have', async () => {
    const asked = await side.post(...legacyRequest('tools/call', { name: 'ask_roots' }));
    expect(asked.body.error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { roots: {} } },
    });
    await expect(side.call('job')).rejects.toMatchObject({
      code: -32603,
      message: 'The MCP server gave an answer that is not valid MCP.',
    });
  });

  it('has no methods of the modern era, and no tasks', async () => {
    for (const method of ['tasks/get', 'tasks/list', 'server/discover', 'subscriptions/listen']) {
      const { status, body } = await side.post(...legacyRequest(method, { taskId: 'job-1' }));
      expect(status).toBe(200);
      expect(body.error).toMatchObject({ code: -32601, message: 'Method not found' });
    }
  });

  it('fetches an answer whose stream broke', async () => {
    const authorization = plane.addAgent(['*:*']).basic;
    const headers = { authorization, 'content-type': 'application/json', accept: EVENTS };
    const url = `${plane.url}/mcp/v1/modern`;
    const send = (message: object, more: Record<string, string>, signal?: AbortSignal) =>
      fetch(url, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify(message),
        ...(signal && { signal }),
      });
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
    const [begin] = legacyRequest('initialize', params);
    const session = (await send(begin, {})).headers.get('mcp-session-id') ?? '';
    const own = { 'mcp-session-id': session };
    const [called] = legacyRequest('tools/call', {
      name: 'slow',
      arguments: {},
      _meta: { progressToken: 'p' },
    });
    const cut = new AbortController();
    const broken = await send(called, own, cut.signal);
    let received = '';
    for await (const chunk of broken.body ?? []) {
      received += Buffer.from(chunk).toString();
      if (received.includes('notifications/progress')) break;
    }
    cut.abort();
    // The first event: the answer may already have arrived.
    const lastId = /^id: ?(.+)$/m.exec(received)?.[1] ?? '';
    const fetched = await fetch(url, {
      headers: { authorization, accept: 'text/event-stream', ...own, 'last-event-id': lastId },
    });
    expect(await fetched.text()).toContain('at last');
  });

  it('sends batches in the revision that has them', async () => {
    const [ping] = legacyRequest('ping');
    const [called] = legacyRequest('tools/call', { name: 'log', arguments: {} });
    const batch = [ping, { ...called, id: 2 }];
    const { body } = await side.post(batch, { 'mcp-protocol-version': '2025-03-26' });
    expect(body).toMatchObject([
      { id: 1, result: {} },
      { id: 2, result: { content: [{ text: 'logged' }] } },
    ]);
  });
});
