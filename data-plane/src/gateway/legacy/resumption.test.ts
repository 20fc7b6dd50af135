/** Broken streams: by hand, and with real clients whose connections are cut in the middle. */
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const PATH = '/mcp/v1/up';
let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
/** Lets the tool answer. */
let answer: () => void = () => undefined;
let calls = 0;
const open: (() => void)[] = [];

beforeAll(async () => {
  upstream = await startTestUpstream({
    offersStream: true,
    tools: [
      {
        name: 'read_slowly',
        handle: ({ event, id, progressToken, response }) => {
          calls++;
          const params = { progressToken, progress: 1 };
          event({ jsonrpc: '2.0', method: 'notifications/progress', params });
          answer = () => {
            const content = [{ type: 'text', text: 'at last' }];
            event({ jsonrpc: '2.0', id, result: { content } });
            response.end();
          };
        },
      },
    ],
  });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function connect() {
  agent = plane.addAgent(['*:*']);
  let session: Record<string, string> = {};
  const request = (method: string, message?: unknown, more: Record<string, string> = {}) => {
    const abort = new AbortController();
    open.push(() => abort.abort());
    const response = fetch(`${plane.url}${PATH}`, {
      method,
      headers: {
        authorization: agent.basic,
        accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
        ...(message !== undefined && { 'content-type': 'application/json' }),
        ...session,
        ...more,
      },
      ...(message !== undefined && { body: JSON.stringify(message) }),
      signal: abort.signal,
    });
    return { response, cut: () => abort.abort() };
  };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
  const begun = await request('POST', { jsonrpc: '2.0', id: 0, method: 'initialize', params })
    .response;
  session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  /** A stream whose events are read as they come. */
  const stream = async (method: 'GET' | 'POST', message?: unknown, lastEventId?: string) => {
    const more: Record<string, string> = lastEventId ? { 'last-event-id': lastEventId } : {};
    const { response, cut } = request(method, message, more);
    const { body, status } = await response;
    const events: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (event) => void events.push(event) });
    const decoder = new TextDecoder();
    const ended = (async () => {
      for await (const chunk of body ?? []) parser.feed(decoder.decode(chunk as Uint8Array));
      return true;
    })().catch(() => false);
    return { status, events, ended, cut };
  };
  /** The stream of the session, once its server is listened to. */
  const listen = async () => {
    const before = upstream.streams();
    const own = await stream('GET');
    await expect.poll(upstream.streams).toBeGreaterThan(before);
    return own;
  };
  return { stream, listen };
}

const call = {
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name: 'read_slowly', arguments: {}, _meta: { progressToken: 'p' } },
};
const news = (n: number) => {
  const params = { level: 'info', data: `news ${n}` };
  return { jsonrpc: '2.0', method: 'notifications/message', params };
};
const told = (events: EventSourceMessage[]) =>
  events.map(({ data }) => JSON.parse(data).params?.data);

describe('an answer whose connection broke', () => {
  it('is fetched with the id of the last event, once the server gave it', async () => {
    const { stream } = await connect();
    const first = await stream('POST', call);
    await expect.poll(() => first.events).toHaveLength(1);
    first.cut();
    await first.ended;
    const again = await stream('GET', undefined, first.events[0]?.id);
    expect(again.status).toBe(200);
    answer();
    expect(await again.ended).toBe(true);
    const [result, ...more] = again.events.map(({ data }) => JSON.parse(data));
    expect(result).toMatchObject({ id: 7, result: { content: [{ text: 'at last' }] } });
    expect(more).toEqual([]);
  });

  it('is kept when the server gave it in the meantime, beside the stream of the session', async () => {
    const { stream } = await connect();
    const own = await stream('GET');
    const first = await stream('POST', call);
    await expect.poll(() => first.events).toHaveLength(1);
    first.cut();
    await first.ended;
    await new Promise((resolve) => setTimeout(resolve, 50));
    answer();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const again = await stream('GET', undefined, first.events[0]?.id);
    expect(await again.ended).toBe(true);
    expect(again.events.map(({ data }) => JSON.parse(data).id)).toEqual([7]);
    own.cut();
  });

  it('is available to nobody else', async () => {
    const one = await connect();
    const first = await one.stream('POST', call);
    await expect.poll(() => first.events).toHaveLength(1);
    first.cut();
    const other = await connect();
    const wrong = await other.stream('GET', undefined, first.events[0]?.id);
    answer();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(wrong.events).toEqual([]);
    wrong.cut();
  });
});

describe('the stream of the session', () => {
  it('continues where it broke, with what came in the meantime', async () => {
    const { stream, listen } = await connect();
    const first = await listen();
    upstream.push(news(1));
    await expect.poll(() => first.events).toHaveLength(1);
    first.cut();
    await first.ended;
    upstream.push(news(2));
    const again = await stream('GET', undefined, first.events[0]?.id);
    upstream.push(news(3));
    await expect.poll(() => told(again.events)).toEqual(['news 2', 'news 3']);
    again.cut();
  });

  it('is taken over by a client that came back before its broken connection was noticed', async () => {
    const { stream, listen } = await connect();
    const first = await listen();
    upstream.push(news(1));
    await expect.poll(() => first.events).toHaveLength(1);
    expect((await stream('GET')).status).toBe(409);
    const again = await stream('GET', undefined, first.events[0]?.id);
    expect(await first.ended).toBe(true);
    upstream.push(news(2));
    await expect.poll(() => told(again.events)).toEqual(['news 2']);
    expect((await stream('GET')).status).toBe(409);
    again.cut();
  });

  it('repeats nothing to a client that names no event, or an unknown one', async () => {
    for (const lastEventId of [undefined, 'x', '9-9', '1-', '1-999999999999']) {
      const { stream, listen } = await connect();
      const first = await listen();
      upstream.push(news(1));
      await expect.poll(() => first.events).toHaveLength(1);
      first.cut();
      await first.ended;
      let again = await stream('GET', undefined, lastEventId);
      for (let n = 0; again.status === 409 && n < 50; n++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        again = await stream('GET', undefined, lastEventId);
      }
      upstream.push(news(2));
      await expect.poll(() => told(again.events)).toEqual(['news 2']);
      again.cut();
      await again.ended;
    }
  });
});

/** Real clients that lose all connections in the middle of a call. */
describe.each(['SDK v1', 'SDK v2'])('%s', (name) => {
  it('gets the answer of a call whose connection was cut', async () => {
    const by = plane.addAgent(['*:*']);
    const options = { requestInit: { headers: { authorization: by.basic } } };
    const url = new URL(`${plane.url}${PATH}`);
    const params = { name: 'read_slowly', arguments: {} };
    const before = calls;
    const cutOnce = () => {
      plane.app.server.closeAllConnections();
      setTimeout(() => answer(), 100);
    };
    let answering: Promise<unknown>;
    let close: () => Promise<void>;
    if (name === 'SDK v1') {
      const client = new ClientV1({ name: 'cut', version: '1' });
      await client.connect(new HttpV1(url, options));
      answering = client.callTool(params, undefined, { onprogress: cutOnce });
      close = () => client.close();
    } else {
      const client = new ClientV2({ name: 'cut', version: '2' });
      await client.connect(new HttpV2(url, options));
      answering = client.callTool(params, { onprogress: cutOnce });
      close = () => client.close();
    }
    expect(JSON.stringify(await answering)).toContain('at last');
    // It was sent to the server once.
    expect(calls).toBe(before + 1);
    await close();
  }, 15_000);
});
