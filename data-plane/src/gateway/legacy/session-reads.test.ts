/** What the sessions of one agent receive, though they share one session with the server. */
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { createParser } from 'eventsource-parser';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { StepResult } from '../../enforcement/call/calls.ts';
import { proceed } from '../../enforcement/call/pipeline-builder.ts';
import type { ReceivedMessage } from '../../enforcement/call/received-message.ts';
import { inspection } from '../../enforcement/inspection.ts';
import { enforcement } from '../../enforcement/pipeline.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

let docs: TestUpstream;
let wiki: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
const open: (() => void)[] = [];

/** The method whose answers are blocked. */
let blocked: string | null = null;
const block = (received: ReceivedMessage): StepResult<ReceivedMessage> =>
  received.part.kind !== 'notification' && received.call?.ask.method === blocked
    ? { kind: 'deny', cause: 'policy', message: 'blocked', reasons: [] }
    : proceed(received);

const start = () =>
  startTestUpstream({
    offersStream: true,
    capabilities: { tools: {}, resources: { subscribe: true }, logging: {} },
    methods: {
      'resources/subscribe': () => ({}),
      'resources/unsubscribe': () => ({}),
      'logging/setLevel': () => ({}),
    },
  });

beforeAll(async () => {
  docs = await start();
  wiki = await start();
  const lists = { enforcement, inspection: inspection.step('trial', block) };
  plane = await startTestPlane({
    servers: [HTTP_SERVER('docs', docs.url), HTTP_SERVER('wiki', wiki.url)],
    lists,
  });
  agent = plane.addAgent(['*:*']);
});

afterAll(async () => {
  for (const close of open) close();
  await plane?.stop();
  await docs?.stop();
  await wiki?.stop();
});

afterEach(() => {
  blocked = null;
  docs.seen.length = 0;
  wiki.seen.length = 0;
});

type Message = { method: string; params?: Record<string, unknown> };

/** A client with a session and its stream. */
async function connect(path: string) {
  const send = (method: string, params: unknown, headers: Record<string, string> = {}) =>
    plane.post(
      path,
      { jsonrpc: '2.0', id: 1, method, params },
      { authorization: agent.basic, ...headers },
    );
  const begin = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
  const { headers } = await send('initialize', begin);
  const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
  const abort = new AbortController();
  open.push(() => abort.abort());
  const response = await fetch(`${plane.url}${path}`, {
    headers: { accept: 'text/event-stream', authorization: agent.basic, ...session },
    signal: abort.signal,
  });
  const heard: Message[] = [];
  const parser = createParser({ onEvent: ({ data }) => void heard.push(JSON.parse(data)) });
  const decoder = new TextDecoder();
  void (async () => {
    for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk as Uint8Array));
  })().catch(() => undefined);
  return {
    heard,
    request: (method: string, params: unknown) => send(method, params, session),
    async end() {
      abort.abort();
      const gone = { authorization: agent.basic, ...session };
      await fetch(`${plane.url}${path}`, { method: 'DELETE', headers: gone });
    },
  };
}

/** Sends the server's messages, and a final one that shows that all have arrived. */
async function push(server: TestUpstream, messages: Message[], ...to: { heard: Message[] }[]) {
  await expect.poll(server.streams).toBe(1);
  const last = { method: 'notifications/tools/list_changed' };
  const before = to.map(({ heard }) => heard.filter((one) => one.method === last.method).length);
  for (const message of [...messages, last]) server.push({ jsonrpc: '2.0', ...message });
  for (const [at, { heard }] of to.entries()) {
    const count = () => heard.filter((one) => one.method === last.method).length;
    await expect.poll(count).toBe((before[at] ?? 0) + 1);
  }
}

const updated = (uri: string) => ({ method: 'notifications/resources/updated', params: { uri } });
const logged = (level: string) => ({ method: 'notifications/message', params: { level, data: 1 } });
const paramsOf = (heard: Message[], method: string) =>
  heard.filter((one) => one.method === method).map((one) => one.params);

/** The records since the last look, with each call's outcome. */
async function recorded() {
  const found: LedgerRecord[] = [];
  await expect
    .poll(async () => {
      found.push(...(await plane.records()));
      const allowed = found.filter(
        (one) => one.type === 'decision' && one.policy_result === 'allow',
      );
      return allowed.length - found.filter((one) => one.type === 'outcome').length;
    })
    .toBe(0);
  return found.map((one) =>
    one.type === 'decision' ? [one.type, one.method, one.policy_result] : [one.type],
  );
}

describe('subscriptions', () => {
  it('reach the session that has them, under the name it knows', async () => {
    const one = await connect('/mcp/v1/docs');
    const all = await connect('/mcp/v1');
    await one.request('resources/subscribe', { uri: 'doc://1' });
    await all.request('resources/subscribe', { uri: 'mcp+docs+doc://2' });
    expect(docs.messages('resources/subscribe')).toHaveLength(2);
    await push(docs, [updated('doc://1'), updated('doc://2'), updated('doc://3')], one, all);
    expect(paramsOf(one.heard, 'notifications/resources/updated')).toEqual([{ uri: 'doc://1' }]);
    expect(paramsOf(all.heard, 'notifications/resources/updated')).toEqual([
      { uri: 'mcp+docs+doc://2' },
    ]);
    await Promise.all([one.end(), all.end()]);
  });

  it('end at the server with the last subscribed session', async () => {
    const one = await connect('/mcp/v1/docs');
    const all = await connect('/mcp/v1');
    await one.request('resources/subscribe', { uri: 'doc://1' });
    await all.request('resources/subscribe', { uri: 'mcp+docs+doc://1' });
    const first = await one.request('resources/unsubscribe', { uri: 'doc://1' });
    expect(first.json.result).toEqual({});
    expect(docs.messages('resources/unsubscribe')).toEqual([]);
    await push(docs, [updated('doc://1')], one, all);
    expect(paramsOf(one.heard, 'notifications/resources/updated')).toEqual([]);
    expect(paramsOf(all.heard, 'notifications/resources/updated')).toHaveLength(1);
    await all.request('resources/unsubscribe', { uri: 'mcp+docs+doc://1' });
    expect(docs.messages('resources/unsubscribe')).toHaveLength(1);
    await Promise.all([one.end(), all.end()]);
  });

  it('are ended by a judged call too where the server is not told', async () => {
    const one = await connect('/mcp/v1/docs');
    const all = await connect('/mcp/v1');
    await one.request('resources/subscribe', { uri: 'doc://1' });
    await all.request('resources/subscribe', { uri: 'mcp+docs+doc://1' });
    await recorded();
    const ending = { uri: 'doc://1' };
    agent.update({ status: 'suspended' });
    const denied = await one.request('resources/unsubscribe', ending);
    expect([denied.status, denied.json.error.code]).toEqual([401, -32000]);
    agent.update({ status: 'active' });
    expect(await recorded()).toMatchObject([['decision', 'resources/unsubscribe', 'deny']]);
    // What was denied changed nothing.
    await push(docs, [updated('doc://1')], one, all);
    expect(paramsOf(one.heard, 'notifications/resources/updated')).toHaveLength(1);
    expect((await one.request('resources/unsubscribe', ending)).json.result).toEqual({});
    expect(docs.messages('resources/unsubscribe')).toEqual([]);
    expect(await recorded()).toMatchObject([
      ['decision', 'resources/unsubscribe', 'allow'],
      ['outcome'],
    ]);
    await Promise.all([one.end(), all.end()]);
  });

  it('of one session are not ended by another that has none', async () => {
    const one = await connect('/mcp/v1/docs');
    const all = await connect('/mcp/v1');
    await one.request('resources/subscribe', { uri: 'doc://1' });
    const { json } = await all.request('resources/unsubscribe', { uri: 'mcp+docs+doc://1' });
    expect(json.result).toEqual({});
    expect(docs.messages('resources/unsubscribe')).toEqual([]);
    await push(docs, [updated('doc://1')], one);
    expect(paramsOf(one.heard, 'notifications/resources/updated')).toHaveLength(1);
    await Promise.all([one.end(), all.end()]);
  });

  it('are not kept where the server refused them, and need a session', async () => {
    const one = await connect('/mcp/v1/docs');
    const undo = docs.override(({ message }, response) => {
      if (message?.method !== 'resources/subscribe') return false;
      const error = { code: -32002, message: 'Resource not found' };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
      return true;
    });
    const { json } = await one.request('resources/subscribe', { uri: 'doc://1' });
    undo();
    expect(json.error).toEqual({ code: -32002, message: 'Resource not found' });
    await push(docs, [updated('doc://1')], one);
    expect(paramsOf(one.heard, 'notifications/resources/updated')).toEqual([]);
    const message = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe' };
    const alone = { ...message, params: { uri: 'doc://1' } };
    const { status } = await plane.post('/mcp/v1/docs', alone, { authorization: agent.basic });
    expect(status).toBe(400);
    await one.end();
  });

  it('are what the client was told, where inspection blocked what the server answered', async () => {
    const one = await connect('/mcp/v1/docs');
    const ask = async (method: string, uri: string) => {
      const { json } = await one.request(method, { uri });
      expect(json.error?.data.failure).toBe(blocked === method ? 'blocked' : undefined);
    };
    const updates = () =>
      paramsOf(one.heard, 'notifications/resources/updated').map((params) => params?.uri);
    await ask('resources/subscribe', 'doc://1');
    blocked = 'resources/subscribe';
    await ask('resources/subscribe', 'doc://1');
    await ask('resources/subscribe', 'doc://2');
    await push(docs, [updated('doc://1'), updated('doc://2')], one);
    expect(updates()).toEqual(['doc://1']);
    // Of a session that the server is told of, and of one that leaves the subscription to another.
    blocked = 'resources/unsubscribe';
    await ask('resources/unsubscribe', 'doc://1');
    const all = await connect('/mcp/v1');
    await all.request('resources/subscribe', { uri: 'mcp+docs+doc://1' });
    await ask('resources/unsubscribe', 'doc://1');
    expect(docs.messages('resources/unsubscribe')).toHaveLength(1);
    await push(docs, [updated('doc://1')], one, all);
    expect(updates()).toEqual(['doc://1', 'doc://1']);
    blocked = null;
    await ask('resources/unsubscribe', 'doc://1');
    await push(docs, [updated('doc://1')], one, all);
    expect(updates()).toEqual(['doc://1', 'doc://1']);
    await Promise.all([one.end(), all.end()]);
  });

  it('are bounded', async () => {
    const one = await connect('/mcp/v1/docs');
    const uris = Array.from({ length: 1000 }, (_, n) => `doc://${n}`);
    for (let at = 0; at < uris.length; at += 50) {
      const some = uris.slice(at, at + 50);
      await Promise.all(some.map((uri) => one.request('resources/subscribe', { uri })));
    }
    await recorded();
    const { json } = await one.request('resources/subscribe', { uri: 'doc://more' });
    expect(json.error.code).toBe(-32602);
    // One more was asked for and judged, and the gateway answered it.
    expect(await recorded()).toMatchObject([
      ['decision', 'resources/subscribe', 'allow'],
      ['outcome'],
    ]);
    expect((await one.request('resources/subscribe', { uri: 'doc://7' })).json.result).toEqual({});
    await one.end();
  });
});

describe('log messages', () => {
  it('are filtered by the level of each session, though the server knows only one', async () => {
    const loud = await connect('/mcp/v1/docs');
    const quiet = await connect('/mcp/v1/docs');
    await loud.request('logging/setLevel', { level: 'debug' });
    await quiet.request('logging/setLevel', { level: 'error' });
    const levels = docs.messages('logging/setLevel').map((one) => one.message?.params);
    expect(levels).toEqual([{ level: 'debug' }, { level: 'debug' }]);
    await push(docs, ['debug', 'error', 'alert'].map(logged), loud, quiet);
    const heard = (by: typeof loud) =>
      paramsOf(by.heard, 'notifications/message').map((params) => params?.level);
    expect(heard(loud)).toEqual(['debug', 'error', 'alert']);
    expect(heard(quiet)).toEqual(['error', 'alert']);
    await Promise.all([loud.end(), quiet.end()]);
  });

  it('are asked for by calls judged for each server where none has any', async () => {
    const silent = await startTestUpstream({ capabilities: { tools: {} } });
    const rego = `package levels
denied := {"one": {"error", "alert"}, "two": {"debug", "alert"}}
deny contains "not this level" if input.request.parameters.level in denied[input.request.mcp_server]
`;
    const own = await startTestPlane({
      servers: ['one', 'two', 'three'].map((id) => HTTP_SERVER(id, silent.url)),
      policies: [{ id: '0190aaaa-0000-7000-8000-0000000000aa', name: 'levels', rego }],
    });
    try {
      const by = own.addAgent(['one:*', 'two:*']);
      const send = (method: string, params: unknown, headers = {}) =>
        own.post(
          '/mcp/v1',
          { jsonrpc: '2.0', id: 1, method, params },
          { authorization: by.basic, ...headers },
        );
      const begin = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
      const { headers } = await send('initialize', begin);
      const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
      const set = async (level: string) => {
        const { json } = await send('logging/setLevel', { level }, session);
        const decisions = (await own.records()).filter((one) => one.type === 'decision');
        const judged = decisions.map((one) => `${one.mcp_server} ${one.policy_result}`);
        return [json.error?.code ?? json.result, ...judged.sort()];
      };
      expect(await set('info')).toEqual([{}, 'one allow', 'two allow']);
      expect(await set('debug')).toEqual([{}, 'one allow', 'two deny']);
      expect(await set('error')).toEqual([{}, 'one deny', 'two allow']);
      expect(await set('alert')).toEqual([-32003, 'one deny', 'two deny']);
      by.update({ role_ids: [] });
      expect(await set('info')).toEqual([-32003, 'one deny']);
      expect(silent.messages('logging/setLevel')).toEqual([]);
    } finally {
      await own.stop();
      await silent.stop();
    }
  });

  it('of all servers name their server', async () => {
    const all = await connect('/mcp/v1');
    const { json } = await all.request('logging/setLevel', { level: 'info' });
    expect(json.result).toEqual({});
    expect(docs.messages('logging/setLevel')).toHaveLength(1);
    expect(wiki.messages('logging/setLevel')).toHaveLength(1);
    const named = { method: 'notifications/message', params: { level: 'info', logger: 'db' } };
    await push(docs, [named], all);
    await push(wiki, [logged('info')], all);
    const loggers = paramsOf(all.heard, 'notifications/message').map((params) => params?.logger);
    expect(loggers).toEqual(['docs__db', 'wiki']);
    await all.end();
  });
});

it('news that a list changed reaches every stream of the agent', async () => {
  const one = await connect('/mcp/v1/docs');
  const all = await connect('/mcp/v1');
  const news = ['resources', 'prompts'].map((what) => ({
    method: `notifications/${what}/list_changed`,
  }));
  await push(docs, news, one, all);
  for (const { heard } of [one, all]) {
    expect(heard.map((message) => message.method)).toEqual(
      expect.arrayContaining(news.map((message) => message.method)),
    );
  }
  await Promise.all([one.end(), all.end()]);
});

describe('a server that lost its session', () => {
  it('gets the subscriptions of its client again, once it is back', async () => {
    const one = await connect('/mcp/v1/docs');
    const all = await connect('/mcp/v1');
    await one.request('resources/subscribe', { uri: 'doc://1' });
    await all.request('resources/subscribe', { uri: 'mcp+docs+doc://1' });
    await all.request('resources/subscribe', { uri: 'mcp+wiki+doc://1' });
    await one.request('logging/setLevel', { level: 'error' });
    docs.seen.length = 0;
    docs.forgetSessions();
    await one.request('tools/list', {});
    await expect.poll(() => docs.messages('resources/subscribe')).toHaveLength(1);
    expect(docs.messages('logging/setLevel')[0]?.message?.params).toEqual({ level: 'error' });
    await push(docs, [updated('doc://1')], one, all);
    expect(paramsOf(one.heard, 'notifications/resources/updated')).toHaveLength(1);
    expect(paramsOf(all.heard, 'notifications/resources/updated')).toHaveLength(1);
    await Promise.all([one.end(), all.end()]);
  });

  it('is listened to again without any request to it', async () => {
    const one = await connect('/mcp/v1/wiki');
    await one.request('resources/subscribe', { uri: 'doc://1' });
    await expect.poll(wiki.streams).toBe(1);
    wiki.seen.length = 0;
    const undo = wiki.override(({ httpMethod, headers }, response) => {
      const isLost = headers['mcp-session-id'] !== undefined && !wiki.knows(headers);
      if (httpMethod === 'GET' && isLost) response.writeHead(404).end();
      return httpMethod === 'GET' && isLost;
    });
    wiki.forgetSessions();
    wiki.endStreams();
    await expect
      .poll(() => wiki.messages('resources/subscribe'), { timeout: 5_000 })
      .toHaveLength(1);
    await push(wiki, [updated('doc://1')], one);
    expect(paramsOf(one.heard, 'notifications/resources/updated')).toHaveLength(1);
    undo();
    await one.end();
  });

  // Last, since it changes the policies of the plane.
  it('gets no subscription that its agent may no longer have', async () => {
    const one = await connect('/mcp/v1/docs');
    await one.request('resources/subscribe', { uri: 'doc://1' });
    docs.seen.length = 0;
    docs.forgetSessions();
    await plane.setPolicies([
      {
        id: '0190aaaa-0000-7000-8000-0000000000aa',
        name: 'no-subscriptions',
        rego: 'package none\n\nallow if input.request.method != "resources/subscribe"\n',
      },
    ]);
    await one.request('tools/list', {});
    const records = async () => (await plane.records()).filter((one) => one.type === 'decision');
    await expect.poll(async () => (await records()).at(-1)?.policy_result).toBe('deny');
    expect(docs.messages('resources/subscribe')).toEqual([]);
    await push(docs, [updated('doc://1')], one);
    expect(paramsOf(one.heard, 'notifications/resources/updated')).toEqual([]);
    await one.end();
  });
});
