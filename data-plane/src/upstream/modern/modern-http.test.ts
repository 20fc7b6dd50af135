/** A modern server of the MCP SDK over Streamable HTTP, as legacy and modern clients find it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ask,
  call,
  failureOf,
  openTestPool,
  type SdkServer,
  startSdkServer,
  TENANT,
  testExchange,
  textOf,
} from '../../testing/test-modern.ts';
import { HTTP_SERVER } from '../../testing/test-plane.ts';
import type { UpstreamPool } from '../sessions/pool.ts';
import { ownExchange, type UpstreamSession } from '../upstream.ts';

let server: SdkServer;
let pool: UpstreamPool;
let session: UpstreamSession;
let warnings: unknown[];

beforeEach(async () => {
  warnings = [];
  server = await startSdkServer();
  const log = { info: () => undefined, warn: (fields: unknown) => void warnings.push(fields) };
  pool = openTestPool({ log: log as never });
  session = pool.getSession({
    tenantId: TENANT,
    server: HTTP_SERVER('up', server.url),
    agentId: 'agent',
  });
});

afterEach(async () => {
  await pool.close();
  await server.stop();
});

it('says what it is', async () => {
  expect(await session.open(ownExchange())).toMatchObject({
    era: 'modern',
    protocolVersion: '2026-07-28',
    serverInfo: { name: 'modern-test' },
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
    instructions: 'Be good.',
  });
});

it('is asked with everything in the request, and its results look like legacy ones', async () => {
  const answer = await call(session, 'echo', { n: 1 });
  expect(textOf(answer)).toBe('{"n":1}');
  expect(answer.value).not.toHaveProperty('resultType');
  expect(JSON.parse(answer.raw)).toEqual(answer.value);
  const [post] = server.posts('tools/call');
  expect(post?.headers).toMatchObject({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'echo',
    accept: 'application/json, text/event-stream',
  });
  expect(post?.message.params._meta).toEqual({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    progressToken: post?.message.id,
  });
});

it('gives modern clients its results as they are', async () => {
  const answer = await call(session, 'echo', {}, testExchange({ takesEveryResult: true }));
  expect(answer.value).toHaveProperty('resultType', 'complete');
});

it('has resources, templates, prompts and completions', async () => {
  const list = await ask(session, 'resources/list');
  expect(list.value).toMatchObject({ resources: [{ uri: 'test://note' }] });
  expect(list.value).not.toHaveProperty('ttlMs');
  const templates = await ask(session, 'resources/templates/list');
  expect(templates.value).toMatchObject({
    resourceTemplates: [{ uriTemplate: 'test://notes/{id}' }],
  });
  const read = await ask(session, 'resources/read', { uri: 'test://notes/ä' });
  expect(read.value).toMatchObject({ contents: [{ text: 'note %C3%A4' }] });
  expect(server.posts('resources/read')[0]?.headers['mcp-name']).toMatch(/^=\?base64\?.*\?=$/);
  const prompts = await ask(session, 'prompts/list');
  expect(prompts.value).toMatchObject({ prompts: [{ name: 'tell' }] });
  // The name need not come first.
  const prompt = await ask(session, 'prompts/get', {
    arguments: { subject: '"name":"x"' },
    name: 'tell',
  });
  expect(prompt.raw).toContain('Tell of');
  const completion = await ask(session, 'completion/complete', {
    ref: { type: 'ref/prompt', name: 'tell' },
    argument: { name: 'subject', value: 'ap' },
  });
  expect(completion.value).toMatchObject({ completion: { values: ['apples', 'apricots'] } });
});

it('sends progress, and log messages to those that asked for them', async () => {
  const quiet = testExchange();
  await call(session, 'progress', {}, quiet);
  expect(quiet.notifications.map(({ method }) => method)).toEqual(['notifications/progress']);
  const loud = testExchange({ logLevel: 'debug' });
  await call(session, 'progress', {}, loud);
  expect(loud.notifications).toContainEqual(
    expect.objectContaining({ method: 'notifications/message' }),
  );
  // What a legacy client says once is said with each request.
  expect((await ask(session, 'logging/setLevel', { level: 'info' })).value).toEqual({});
  const told = testExchange();
  await call(session, 'progress', {}, told);
  expect(told.notifications).toHaveLength(2);
  expect(server.posts('logging/setLevel')).toEqual([]);
});

it('answers a ping by itself, and is notified of nothing', async () => {
  expect(await ask(session, 'ping')).toMatchObject({ kind: 'result', raw: '{}' });
  session.notify('notifications/roots/list_changed');
  await call(session, 'echo');
  const posted = server.seen.map(({ message }) => message.method);
  expect(posted).toEqual(['initialize', 'server/discover', 'tools/call']);
});

it('learns of a cancellation by the end of the exchange', async () => {
  let isAborted = false;
  server.hooks.onAborted = () => {
    isAborted = true;
  };
  const exchange = testExchange();
  const failed = failureOf(call(session, 'hang', {}, exchange));
  await expect.poll(() => server.posts('tools/call')).toHaveLength(1);
  exchange.cancellation.cancel();
  expect(await failed).toBe('cancelled');
  await expect.poll(() => isAborted).toBe(true);
  expect(server.posts('notifications/cancelled')).toEqual([]);
});

it('is given up in time', async () => {
  const hasty = openTestPool({ limits: { timeoutMs: 300, messageBytes: 10_000 } });
  try {
    const own = hasty.getSession({
      tenantId: TENANT,
      server: HTTP_SERVER('up', server.url),
      agentId: 'agent',
      era: 'modern',
    });
    expect(await failureOf(call(own, 'hang'))).toBe('timeout');
    expect(own.pending).toBe(0);
  } finally {
    await hasty.close();
  }
});

it('answers with errors of its own, whatever their HTTP status', async () => {
  const unknown = await ask(session, 'tasks/get', { taskId: 'täsk' });
  expect(unknown).toMatchObject({ kind: 'error', value: { code: -32601 } });
  const bad = await ask(session, 'resources/read', { uri: 'test://nothing' });
  expect(bad).toMatchObject({ kind: 'error', value: { code: -32602 } });
  expect((await call(session, 'echo')).kind).toBe('result');
  expect(server.posts('server/discover')).toHaveLength(1);
});

describe('parameters that are mirrored in headers', () => {
  const args = { region: ' west ', count: 7, deep: { flag: true } };

  it('are known from the list of tools', async () => {
    const list = await ask(session, 'tools/list');
    expect(list.raw).toContain('by-region');
    expect((await call(session, 'by-region', args)).kind).toBe('result');
    const [post] = server.posts('tools/call');
    expect(post?.headers).toMatchObject({
      'mcp-param-region': '=?base64?IHdlc3Qg?=',
      'mcp-param-count': '7',
      'mcp-param-flag': 'true',
    });
  });

  it('are looked up where they are not known, and the call made once more', async () => {
    expect((await call(session, 'by-region', args)).kind).toBe('result');
    expect(server.posts('tools/list')).toHaveLength(1);
    expect(server.posts('tools/call')).toHaveLength(2);
    expect((await call(session, 'by-region', { region: 'x' })).kind).toBe('result');
    expect(server.posts('tools/call')).toHaveLength(3);
    expect(server.posts('tools/call')[2]?.headers).not.toHaveProperty('mcp-param-count');
  });
});

describe('what the server sends unprompted', () => {
  const opened = () => server.posts('subscriptions/listen');

  it('comes on one stream, as far as anybody listens', async () => {
    const received: unknown[] = [];
    const end = pool.listen({
      tenantId: TENANT,
      agentId: 'agent',
      serverId: null,
      onNotification: (_server, one) => received.push(one),
    });
    await session.open(ownExchange());
    await expect.poll(opened).toHaveLength(1);
    expect(opened()[0]?.message.params.notifications).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
    });
    await expect
      .poll(() => {
        server.notify.toolsChanged();
        return received;
      })
      .toContainEqual({ method: 'notifications/tools/list_changed', params: undefined });
    end();
    const count = received.length;
    server.notify.toolsChanged();
    await call(session, 'echo');
    expect(received).toHaveLength(count);
  });

  it('reports the resources that are subscribed to, and no others', async () => {
    const received: unknown[] = [];
    pool.listen({
      tenantId: TENANT,
      agentId: 'agent',
      serverId: null,
      onNotification: (_server, one) => received.push(one.params),
    });
    const uri = 'test://note';
    expect((await ask(session, 'resources/subscribe', { uri })).value).toEqual({});
    expect((await ask(session, 'resources/subscribe', { uri: 'test://b' })).value).toEqual({});
    server.notify.resourceUpdated('test://c');
    server.notify.resourceUpdated('test://note');
    await expect.poll(() => received).toEqual([{ uri }]);
    expect((await ask(session, 'resources/unsubscribe', { uri })).value).toEqual({});
    await expect
      .poll(() => opened().at(-1)?.message.params.notifications)
      .toMatchObject({ resourceSubscriptions: ['test://b'] });
    expect(server.posts('resources/subscribe')).toEqual([]);
  });
});
