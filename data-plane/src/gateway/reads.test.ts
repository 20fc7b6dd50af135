/**
 * Resources, prompts and completions through the gateway to hand-written servers: what is judged,
 * recorded, forwarded and named.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { JUDGED_READS } from '../enforcement/call/call-kinds.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';

const CAPABILITIES = {
  tools: {},
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
  experimental: { other: {} },
};

let docs: TestUpstream;
let wiki: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
let reader: TestAgent;
let nobody: TestAgent;

const rpc = (method: string, params: unknown = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** Two servers with the same names, so that only the gateway distinguishes them. */
function startServer(name: string) {
  // Their cursor is the number of a card: it is the server's own text, which DLP leaves alone.
  const two = '4539578763621486';
  const pages: Record<string, [number[], string?]> = { '': [[1, 2], two], [two]: [[3]] };
  const paged = (of: (n: number) => unknown, member: string) => (params: { cursor?: string }) => {
    const [numbers, nextCursor] = pages[params.cursor ?? ''] ?? [[]];
    return { [member]: numbers.map(of), ...(nextCursor && { nextCursor }) };
  };
  return startTestUpstream({
    offersStream: true,
    capabilities: CAPABILITIES,
    tools: [
      {
        name: 'read_link',
        handle: ({ result }) =>
          result({
            content: [
              { type: 'text', text: 'see' },
              { type: 'resource_link', uri: 'doc://1', name: 'one' },
              { type: 'resource', resource: { uri: 'doc://2', text: 'two' } },
            ],
            structuredContent: { uri: 'doc://stays' },
          }),
      },
    ],
    methods: {
      'resources/list': paged((n) => ({ uri: `doc://${n}`, name: `doc ${n}` }), 'resources'),
      'resources/templates/list': paged(
        (n) => ({ uriTemplate: `doc://{id}/${n}`, name: `template ${n}` }),
        'resourceTemplates',
      ),
      'prompts/list': paged((n) => ({ name: `prompt_${n}` }), 'prompts'),
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: `${name} has ${uri}` }] }),
      'resources/subscribe': () => ({}),
      'resources/unsubscribe': () => ({}),
      'prompts/get': (params) => ({
        messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(params) } }],
      }),
      'completion/complete': (params) => ({
        completion: { values: [name, JSON.stringify(params)] },
      }),
      'logging/setLevel': () => ({}),
    },
  });
}

beforeAll(async () => {
  docs = await startServer('docs');
  wiki = await startServer('wiki');
  plane = await startTestPlane({
    servers: [
      HTTP_SERVER('docs', docs.url),
      HTTP_SERVER('wiki', wiki.url),
      // Nothing listens there.
      HTTP_SERVER('away', 'http://127.0.0.1:9/mcp'),
    ],
  });
  agent = plane.addAgent(['*:*']);
  reader = plane.addAgent(['docs:read']);
  nobody = plane.addAgent(['wiki/some_tool:write']);
  await plane.records();
});

afterAll(async () => {
  await plane?.stop();
  await docs?.stop();
  await wiki?.stop();
});

afterEach(async () => {
  docs.seen.length = 0;
  wiki.seen.length = 0;
  await plane.records();
});

const post = (path: string, message: unknown, by = agent, headers: Record<string, string> = {}) =>
  plane.post(path, message, { authorization: by.basic, ...headers });

async function openSession(path: string, by = agent): Promise<Record<string, string>> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  };
  const { headers } = await post(path, rpc('initialize', params), by);
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
}

/** A valid request of each judged read, and its target. */
const READS: Record<(typeof JUDGED_READS)[number], [Record<string, unknown>, string]> = {
  'resources/read': [{ uri: 'doc://1' }, 'doc://1'],
  'resources/subscribe': [{ uri: 'doc://1' }, 'doc://1'],
  'resources/unsubscribe': [{ uri: 'doc://1' }, 'doc://1'],
  'prompts/get': [{ name: 'greet', arguments: { who: 'you' } }, 'greet'],
  'completion/complete': [
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'y' } },
    'greet',
  ],
  'logging/setLevel': [{ level: 'warning' }, 'warning'],
};

describe.each(JUDGED_READS)('%s', (method) => {
  const [params, target] = READS[method];

  it('is judged as a read, recorded, forwarded without what was not judged', async () => {
    const session = await openSession('/mcp/v1/docs');
    const dirty = { ...params, _meta: { secret: 'x' }, other: 1 };
    const { json } = await post('/mcp/v1/docs', rpc(method, dirty), agent, session);
    expect(json.result).toBeDefined();
    // Its subscription ends with it, and hides no later unsubscription from the server.
    await plane.app.inject({
      method: 'DELETE',
      url: '/mcp/v1/docs',
      headers: { authorization: agent.basic, ...session },
    });
    const [sent, ...more] = docs.messages(method);
    expect(more).toEqual([]);
    expect(sent?.message?.params).toEqual(params);
    const [decision, outcome, ...rest] = await plane.records();
    expect(rest).toEqual([]);
    expect(decision).toMatchObject({
      type: 'decision',
      action: 'read',
      target,
      method,
      tool_name: `mcp:${method}`,
      mcp_server: 'docs',
      policy_result: 'allow',
    });
    expect(outcome).toMatchObject({ type: 'outcome', outcome: 'forwarded' });
  });

  it('of an agent without the permission is denied, recorded and not forwarded', async () => {
    const session = await openSession('/mcp/v1/wiki', nobody);
    const { status, json } = await post('/mcp/v1/wiki', rpc(method, params), nobody, session);
    expect(status).toBe(200);
    expect(json.error).toMatchObject({ code: -32003 });
    expect(wiki.messages(method)).toEqual([]);
    const [decision, ...rest] = await plane.records();
    expect(rest).toEqual([]);
    expect(decision).toMatchObject({ type: 'decision', method, policy_result: 'deny' });
  });

  it('refuses params that it cannot read', async () => {
    const session = await openSession('/mcp/v1/docs');
    const { json } = await post('/mcp/v1/docs', rpc(method, { uri: 7, name: [] }), agent, session);
    expect(json.error.code).toBe(-32602);
    expect(await plane.records()).toEqual([]);
  });
});

describe('a read in progress', () => {
  const params = { uri: 'doc://1' };
  const outcomes = async () =>
    (await plane.records()).flatMap((one) => (one.type === 'outcome' ? [one.outcome] : []));

  it('reports its progress under the token of the client', async () => {
    const undo = docs.override(({ message }, response) => {
      if (message?.method !== 'resources/read') return false;
      const { progressToken } = (message.params as { _meta: { progressToken: unknown } })._meta;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const part of [
        { method: 'notifications/progress', params: { progressToken, progress: 1 } },
        { id: message.id, result: { contents: [] } },
      ]) {
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...part })}\n\n`);
      }
      response.end();
      return true;
    });
    const withToken = { ...params, _meta: { progressToken: 'mine' } };
    const { text } = await post('/mcp/v1/docs', rpc('resources/read', withToken));
    undo();
    expect(text).toContain('"progressToken":"mine"');
    expect(text).toContain('"contents":[]');
  });

  it.each([
    ['bytes', [{ uri: 'doc://1', text: 'x'.repeat(4 * 1024 * 1024) }]],
    ['values', Array.from({ length: 20_000 }, () => ({ uri: 'doc://1', text: '' }))],
  ])('is blocked where it has too many %s', async (_, contents) => {
    const undo = docs.override(({ message }, response) => {
      if (message?.method !== 'resources/read') return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { contents } }));
      return true;
    });
    const { json } = await post('/mcp/v1/docs', rpc('resources/read', params));
    undo();
    expect(json.error).toMatchObject({
      code: -32603,
      message:
        'The answer is too large (more than 4194304 bytes, or too many values) and was blocked.',
      data: { failure: 'too_large' },
    });
    expect(await outcomes()).toEqual(['result_too_large']);
  });

  it('is cancelled at the server', async () => {
    const session = await openSession('/mcp/v1/docs');
    const undo = docs.override(({ message }) => message?.method === 'resources/read');
    const reading = post('/mcp/v1/docs', rpc('resources/read', params, 'r'), agent, session);
    await expect.poll(() => docs.messages('resources/read')).toHaveLength(1);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled' };
    await post('/mcp/v1/docs', { ...cancel, params: { requestId: 'r' } }, agent, session);
    expect((await reading).text).toBe('');
    undo();
    await expect.poll(() => docs.messages('notifications/cancelled')).toHaveLength(1);
    expect(await outcomes()).toEqual(['cancelled']);
  });
});

describe('one server', () => {
  it('announces what the server has and the gateway passes on', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
    const { json } = await post('/mcp/v1/docs', rpc('initialize', params));
    const { experimental: _not, ...rest } = CAPABILITIES;
    expect(json.result.capabilities).toEqual(rest);
  });

  it.each(['resources/list', 'resources/templates/list', 'prompts/list'])('%s', async (method) => {
    const first = await post('/mcp/v1/docs', rpc(method), reader);
    const { nextCursor, ...items } = first.json.result;
    expect(Object.values(items)[0]).toHaveLength(2);
    const second = await post('/mcp/v1/docs', rpc(method, { cursor: nextCursor }), reader);
    expect(Object.values(second.json.result)).toEqual([[expect.anything()]]);
    // An agent without a permission for any of it does not see it, and the server is not asked.
    docs.seen.length = 0;
    const { json } = await post('/mcp/v1/docs', rpc(method), nobody);
    expect(Object.values(json.result)).toEqual([[]]);
    expect(docs.messages(method)).toEqual([]);
  });
});

describe('all servers', () => {
  it('announces together what they have', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
    const { json } = await post('/mcp/v1', rpc('initialize', params), reader);
    expect(json.result.capabilities).toMatchObject({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
    });
  });

  it.each([
    ['resources/list', 'uri', 'mcp+docs+doc://3', 'mcp+wiki+doc://3'],
    ['resources/templates/list', 'uriTemplate', 'mcp+docs+doc://{id}/3', 'mcp+wiki+doc://{id}/3'],
    ['prompts/list', 'name', 'docs__prompt_3', 'wiki__prompt_3'],
  ])('joins %s, page by page, without the one that is away', async (method, key, ...last) => {
    const first = await post('/mcp/v1', rpc(method));
    const { nextCursor: cursor, ...items } = first.json.result;
    expect(Object.values(items)[0]).toHaveLength(4);
    const second = await post('/mcp/v1', rpc(method, { cursor }));
    const [found, ...none] = Object.values(second.json.result) as Record<string, string>[][];
    expect(found?.map((item) => item[key])).toEqual(last);
    expect(none).toEqual([]);
    const { json } = await post('/mcp/v1', rpc(method, { cursor: 'made-up' }));
    expect(json.error.code).toBe(-32602);
  });

  it('shows and asks only what the agent may use', async () => {
    const { json } = await post('/mcp/v1', rpc('resources/list'), reader);
    const uris = json.result.resources.map((one: { uri: string }) => one.uri);
    expect(uris).toEqual(['mcp+docs+doc://1', 'mcp+docs+doc://2']);
    const cursor = Buffer.from(JSON.stringify([['wiki', 'two']])).toString('base64url');
    const more = await post('/mcp/v1', rpc('resources/list', { cursor }), reader);
    expect(more.json.error.code).toBe(-32602);
    expect(wiki.messages('resources/list')).toEqual([]);
  });

  it('finds the server of a URI that both have', async () => {
    for (const name of ['docs', 'wiki']) {
      const uri = `mcp+${name}+doc://1`;
      const { json } = await post('/mcp/v1', rpc('resources/read', { uri }));
      expect(json.result.contents).toEqual([{ uri, text: `${name} has doc://1` }]);
    }
    const records = await plane.records();
    const decisions = records.filter((record) => record.type === 'decision');
    expect(decisions.map((one) => one.mcp_server)).toEqual(['docs', 'wiki']);
    expect(decisions.map((one) => one.target)).toEqual(['doc://1', 'doc://1']);
  });

  it.each([
    'doc://1',
    'mcp+docs+',
    'mcp+none+doc://1',
    'mcp+doc://1',
    'mcp+__proto__+x:y',
  ])('does not guess the server of %s', async (uri) => {
    const { json } = await post('/mcp/v1', rpc('resources/read', { uri }));
    expect(json.error).toMatchObject({ code: -32602 });
    expect([...docs.messages('resources/read'), ...wiki.messages('resources/read')]).toEqual([]);
  });

  it('gets prompts and completions by joined names', async () => {
    const prompt = await post('/mcp/v1', rpc('prompts/get', { name: 'wiki__greet' }));
    expect(JSON.parse(prompt.json.result.messages[0].content.text)).toEqual({ name: 'greet' });
    const argument = { name: 'a', value: 'b' };
    const byName = { ref: { type: 'ref/prompt', name: 'wiki__greet' }, argument };
    const byUri = { ref: { type: 'ref/resource', uri: 'mcp+docs+doc://{id}' }, argument };
    for (const [params, server, ref] of [
      [byName, 'wiki', { type: 'ref/prompt', name: 'greet' }],
      [byUri, 'docs', { type: 'ref/resource', uri: 'doc://{id}' }],
    ] as const) {
      const { json } = await post('/mcp/v1', rpc('completion/complete', params));
      const [from, sent] = json.result.completion.values;
      expect(from).toBe(server);
      expect(JSON.parse(sent)).toEqual({ argument, ref });
    }
  });

  it('names the resources of a tool result as they can be read', async () => {
    const params = { name: 'docs__read_link', arguments: {} };
    const { json } = await post('/mcp/v1', rpc('tools/call', params));
    expect(json.result).toEqual({
      content: [
        { type: 'text', text: 'see' },
        { type: 'resource_link', uri: 'mcp+docs+doc://1', name: 'one' },
        { type: 'resource', resource: { uri: 'mcp+docs+doc://2', text: 'two' } },
      ],
      structuredContent: { uri: 'doc://stays' },
    });
  });

  it('denies and records everything without permission', async () => {
    const { json } = await post(
      '/mcp/v1',
      rpc('resources/read', { uri: 'mcp+wiki+doc://1' }),
      reader,
    );
    expect(json.error.code).toBe(-32003);
    expect(wiki.messages('resources/read')).toEqual([]);
    expect(await plane.records()).toMatchObject([{ mcp_server: 'wiki', policy_result: 'deny' }]);
  });
});
