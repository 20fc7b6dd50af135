import { createParser } from 'eventsource-parser';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import {
  startTestUpstream,
  type TestUpstream,
  type UpstreamToolCall,
} from '../../testing/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
let hanging: UpstreamToolCall[] = [];

const PATH = '/mcp/v1/up';
const rpc = (method: string, params: unknown = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  ...(id === null ? {} : { id }),
  method,
  params,
});
const call = (name: string, args: unknown = {}, id: unknown = 1) =>
  rpc('tools/call', { name, arguments: args }, id);

beforeAll(async () => {
  upstream = await startTestUpstream({
    offersStream: true,
    tools: [
      { name: 'echo', annotations: { readOnlyHint: true } },
      { name: 'hang', handle: (one) => void hanging.push(one) },
    ],
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url), HTTP_SERVER('other', upstream.url)],
    config: { maxSessionsPerAgent: 3 },
    keepAliveMs: 200,
  });
  agent = plane.addAgent();
});

afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});

afterEach(async () => {
  hanging = [];
  upstream.seen.length = 0;
  await plane.records();
});

async function initialize(version = '2025-06-18', path = PATH, one = agent) {
  const params = {
    protocolVersion: version,
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  };
  const auth = { authorization: one.basic };
  const answer = await plane.post(path, rpc('initialize', params), auth);
  const session = answer.headers.get('mcp-session-id') ?? '';
  return { ...answer, session, headers: { ...auth, 'mcp-session-id': session } };
}

/** Opens the stream of a session; `events` grows as they arrive. */
async function openStream(headers: Record<string, string>, path = PATH) {
  const abort = new AbortController();
  const response = await fetch(`${plane.url}${path}`, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  });
  const events: unknown[] = [];
  const parser = createParser({ onEvent: ({ data }) => void events.push(JSON.parse(data)) });
  const decoder = new TextDecoder();
  const ended = (async () => {
    for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk as Uint8Array));
  })().catch(() => undefined);
  return { status: response.status, events, ended, close: () => abort.abort() };
}

describe('initialize', () => {
  it.each(['2025-03-26', '2025-06-18', '2025-11-25'])('agrees on %s', async (version) => {
    const { json, session } = await initialize(version);
    expect(json.result).toEqual({
      protocolVersion: version,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'test-upstream', version: '1' },
      instructions: 'Be good.',
    });
    expect(session).toMatch(/^[\w-]{43}$/);
  });

  it('offers its newest to a client that asks for an unknown one', async () => {
    const { json } = await initialize('2030-01-01');
    expect(json.result.protocolVersion).toBe('2025-11-25');
  });

  it('introduces itself at the unified gateway', async () => {
    const { json } = await initialize('2025-06-18', '/mcp/v1');
    expect(json.result.serverInfo.name).toBe('agent-governance-gateway');
    expect(json.result.capabilities).toEqual({ tools: { listChanged: true } });
  });

  it('needs a version, and cannot be part of a batch', async () => {
    const auth = { authorization: agent.basic };
    expect((await plane.post(PATH, rpc('initialize'), auth)).json.error.code).toBe(-32602);
    expect((await plane.post(PATH, [rpc('initialize')], auth)).status).toBe(400);
  });
});

describe('a session', () => {
  it('is named in records by an id that is not its secret', async () => {
    const { headers, session } = await initialize();
    await plane.post(PATH, call('echo'), headers);
    await plane.post(PATH, call('echo'), headers);
    const decisions = (await plane.records()).filter((record) => record.type === 'decision');
    const ids = new Set(decisions.map((decision) => decision.session_id));
    expect(ids.size).toBe(1);
    expect([...ids][0]).toMatch(/^[0-9a-f-]{36}$/);
    expect([...ids][0]).not.toBe(session);
  });

  it('does not exist for another agent or at another server', async () => {
    const { session } = await initialize();
    const other = { authorization: plane.addAgent().basic, 'mcp-session-id': session };
    expect((await plane.post(PATH, rpc('ping'), other)).status).toBe(404);
    const own = { authorization: agent.basic, 'mcp-session-id': session };
    for (const path of ['/mcp/v1', '/mcp/v1/other']) {
      expect((await plane.post(path, rpc('ping'), own)).status).toBe(404);
    }
    expect((await plane.post(PATH, rpc('ping'), own)).json.result).toEqual({});
  });

  it('authenticates nobody', async () => {
    const { session } = await initialize();
    const answer = await plane.post(PATH, call('echo'), { 'mcp-session-id': session });
    expect(answer.status).toBe(401);
  });

  it('ends by DELETE, and is then unknown', async () => {
    const { headers } = await initialize();
    const remove = () => fetch(`${plane.url}${PATH}`, { method: 'DELETE', headers });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect((await plane.post(PATH, rpc('ping'), headers)).status).toBe(404);
    const { authorization } = headers;
    const nameless = await fetch(`${plane.url}${PATH}`, {
      method: 'DELETE',
      headers: { authorization },
    });
    expect(nameless.status).toBe(400);
  });

  it('makes room for a new one of the same agent, the oldest first', async () => {
    const crowded = plane.addAgent();
    const sessions = [];
    for (let i = 0; i < 4; i++) sessions.push(await initialize('2025-06-18', PATH, crowded));
    const states = await Promise.all(
      sessions.map(async ({ headers }) => (await plane.post(PATH, rpc('ping'), headers)).status),
    );
    expect(states).toEqual([404, 200, 200, 200]);
  });

  it('answers in the form that the client prefers, and refusals in JSON', async () => {
    const { headers } = await initialize();
    const accept = 'text/event-stream, application/json';
    for (const message of [rpc('tools/list'), call('echo', { a: 1 })]) {
      const json = await plane.post(PATH, message, headers);
      const events = await plane.post(PATH, message, { ...headers, accept });
      expect(json.headers.get('content-type')).toContain('application/json');
      expect(events.headers.get('content-type')).toBe('text/event-stream');
      expect(/^data: (.*)$/m.exec(events.text)?.[1]).toBe(json.text);
    }
    const refused = await plane.post(PATH, rpc('ping'), { accept });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('content-type')).toContain('application/json');
  });

  it('accepts notifications with 202 and no body, and forwards none of their text', async () => {
    const { headers } = await initialize();
    upstream.seen.length = 0;
    for (const message of [
      rpc('notifications/initialized', {}, null),
      rpc('notifications/progress', { progressToken: 1, progress: 1 }, null),
      rpc('notifications/anything', { secret: 'x' }, null),
      { jsonrpc: '2.0', id: 1, result: {} },
      rpc('notifications/roots/list_changed', { secret: 'x' }, null),
    ]) {
      const answer = await plane.post(PATH, message, headers);
      expect([answer.status, answer.text]).toEqual([202, '']);
    }
    await vi.waitFor(() => expect(upstream.seen).toHaveLength(1));
    expect(upstream.seen[0]?.text).toBe(
      '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}',
    );
  });
});

describe('a batch', () => {
  it('of 2025-03-26 has each message judged', async () => {
    const reader = plane.addAgent(['up:read']);
    const { headers } = await initialize('2025-03-26', PATH, reader);
    const batch = [
      call('echo', { n: 1 }, 'a'),
      call('hang', {}, 'b'),
      rpc('ping', {}, 'c'),
      rpc('notifications/x', {}, null),
      { jsonrpc: '1.0', id: 'd', method: 'ping' },
      rpc('tasks/list', {}, 'e'),
    ];
    const { json, status } = await plane.post(PATH, batch, headers);
    expect(status).toBe(200);
    const codes = json.map((one: { id: string; error?: { code: number } }) => [
      one.id,
      one.error?.code,
    ]);
    expect(codes).toEqual([
      ['a', undefined],
      ['b', -32003],
      ['c', undefined],
      ['d', -32600],
      ['e', -32601],
    ]);
    const decisions = (await plane.records()).filter((record) => record.type === 'decision');
    expect(decisions.map((decision) => decision.policy_result).sort()).toEqual(['allow', 'deny']);
  });

  it('is refused by later revisions, and when it is empty or too long', async () => {
    const later = await initialize('2025-06-18');
    expect((await plane.post(PATH, [rpc('ping')], later.headers)).status).toBe(400);
    const { headers } = await initialize('2025-03-26');
    expect((await plane.post(PATH, [], headers)).status).toBe(400);
    const long = Array.from({ length: 51 }, (_, id) => rpc('ping', {}, id));
    expect((await plane.post(PATH, long, headers)).status).toBe(400);
    const quiet = await plane.post(PATH, [rpc('notifications/x', {}, null)], headers);
    expect([quiet.status, quiet.text]).toEqual([202, '']);
  });
});

describe('cancellation', () => {
  it('ends the call, tells the server and is the outcome', async () => {
    const { headers } = await initialize();
    const pending = plane.post(PATH, call('hang', {}, 'long'), headers);
    await vi.waitFor(() => expect(hanging).toHaveLength(1));
    const cancel = rpc('notifications/cancelled', { requestId: 'long', reason: 'secret' }, null);
    expect((await plane.post(PATH, cancel, headers)).status).toBe(202);
    const answer = await pending;
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('');
    await vi.waitFor(() => expect(upstream.messages('notifications/cancelled')).toHaveLength(1));
    const [told] = upstream.messages('notifications/cancelled');
    expect(told?.message?.params).toEqual({ requestId: hanging[0]?.id });
    await vi.waitFor(async () =>
      expect(await plane.records()).toContainEqual(
        expect.objectContaining({ outcome: 'cancelled' }),
      ),
    );
  });

  it('of another session has no effect', async () => {
    const { headers } = await initialize();
    const other = await initialize('2025-06-18', PATH, plane.addAgent());
    const pending = plane.post(PATH, call('hang', {}, 7), headers);
    await vi.waitFor(() => expect(hanging).toHaveLength(1));
    await plane.post(PATH, rpc('notifications/cancelled', { requestId: 7 }, null), other.headers);
    hanging[0]?.result({ content: [] });
    expect((await pending).json.result).toEqual({ content: [] });
  });

  it('is not caused by a disconnect', async () => {
    const abort = new AbortController();
    const headers = { authorization: agent.basic, 'content-type': 'application/json' };
    const body = JSON.stringify(call('hang'));
    const init = { method: 'POST', headers, body, signal: abort.signal };
    const request = fetch(`${plane.url}${PATH}`, init).catch(() => 'aborted');
    await vi.waitFor(() => expect(hanging).toHaveLength(1));
    abort.abort();
    expect(await request).toBe('aborted');
    hanging[0]?.result({ content: [] });
    await vi.waitFor(async () =>
      expect(await plane.records()).toContainEqual(
        expect.objectContaining({ outcome: 'forwarded' }),
      ),
    );
    expect(upstream.messages('notifications/cancelled')).toEqual([]);
  });
});

describe('the stream of a GET', () => {
  it('carries what the server sends unprompted', async () => {
    const { headers } = await initialize();
    const stream = await openStream(headers);
    expect(stream.status).toBe(200);
    await vi.waitFor(() => expect(upstream.streams()).toBe(1));
    upstream.push({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    upstream.push({ jsonrpc: '2.0', id: 5, method: 'roots/list' });
    upstream.push({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info' } });
    upstream.push({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 1 },
    });
    await vi.waitFor(() => expect(stream.events).toHaveLength(2));
    expect(stream.events).toEqual([
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
      { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info' } },
    ]);
    const second = await openStream(headers);
    expect(second.status).toBe(409);
    // Until then the stream could be resumed.
    await fetch(`${plane.url}${PATH}`, { method: 'DELETE', headers });
    await vi.waitFor(() => expect(upstream.streams()).toBe(0));
  });

  it('ends with its session', async () => {
    const { headers } = await initialize();
    const stream = await openStream(headers);
    await fetch(`${plane.url}${PATH}`, { method: 'DELETE', headers });
    await stream.ended;
  });

  it.each<[string, (one: TestAgent) => void]>([
    ['is suspended', (one) => one.update({ status: 'suspended' })],
    ['got a new secret', (one) => one.update({ secret_hash: '00'.repeat(32) })],
    ['was caught by the kill switch', () => plane.engageKillSwitch(true)],
  ])('ends when its agent %s, and carries nothing before that', async (_what, change) => {
    const one = plane.addAgent();
    const { headers } = await initialize('2025-06-18', PATH, one);
    const stream = await openStream(headers);
    await vi.waitFor(() => expect(upstream.streams()).toBe(1));
    change(one);
    upstream.push({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    await stream.ended;
    expect(stream.events).toEqual([]);
    plane.engageKillSwitch(false);
    await vi.waitFor(() => expect(upstream.streams()).toBe(0));
  });

  it('carries nothing of a deleted server, and is not opened at one', async () => {
    const servers = [HTTP_SERVER('up', upstream.url), HTTP_SERVER('other', upstream.url)];
    const { headers } = await initialize();
    const stream = await openStream(headers);
    await vi.waitFor(() => expect(upstream.streams()).toBe(1));
    plane.setServers(servers.slice(1));
    upstream.push({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    expect((await openStream(headers)).status).toBe(404);
    expect(stream.events).toEqual([]);
    plane.setServers(servers);
    stream.close();
    await vi.waitFor(() => expect(upstream.streams()).toBe(0));
  });

  it('needs a session and a client that accepts events', async () => {
    const { headers } = await initialize();
    const { authorization } = headers;
    expect((await openStream({ authorization })).status).toBe(400);
    expect((await openStream({ authorization, 'mcp-session-id': 'x' })).status).toBe(404);
    expect((await openStream({ ...headers, accept: 'application/json' })).status).toBe(406);
    expect((await openStream({})).status).toBe(401);
  });
});

it('an ineligible agent learns nothing but that it may not act', async () => {
  const { basic: authorization } = plane.addAgent(['*:*'], { status: 'suspended' });
  for (const [path, message] of [
    ['/mcp/v1', call('nobody__knows')],
    ['/mcp/v1', call('')],
    [PATH, call('echo', [])],
    ['/mcp/v1/nobody', call('echo')],
    ['/mcp/v1/nobody', rpc('ping')],
    [PATH, rpc('resources/list')],
  ] as const) {
    const { status, json } = await plane.post(path, message, { authorization });
    expect(status, path).toBe(401);
    expect(json.error.code).toBe(-32000);
  }
});

describe('tools/list', () => {
  it('leaves out what no permission covers', async () => {
    const names = async (permissions: string[], path: string) => {
      const authorization = plane.addAgent(permissions).basic;
      const { json } = await plane.post(path, rpc('tools/list'), { authorization });
      return json.result.tools.map((tool: { name: string }) => tool.name);
    };
    expect(await names(['up:*'], PATH)).toEqual(['echo', 'hang']);
    expect(await names(['up:read'], PATH)).toEqual(['echo']);
    expect(await names(['up/hang:*'], PATH)).toEqual(['hang']);
    expect(await names([], PATH)).toEqual([]);
    expect(await names(['other:read'], '/mcp/v1')).toEqual(['other__echo']);
    expect(await names(['echo:read'], '/mcp/v1')).toEqual(['up__echo', 'other__echo']);
  });
});
