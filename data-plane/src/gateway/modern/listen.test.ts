/**
 * `subscriptions/listen` streams with complications: clients that leave early, streams that are
 * evicted before they begin, subscriptions that end twice.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpServer } from '@governance/shared/http/http-server';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { listenModern } from '../../testing/test-modern-client.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream } from '../../testing/test-upstream.ts';

interface ServerStream {
  id: unknown;
  uris: string[];
  response: ServerResponse;
  isOpen: boolean;
}

let url: string;
let plane: TestPlane;
let agent: TestAgent;
let streams: ServerStream[] = [];
/** What the server answers only when told to. */
let held: { method: string; answer(): void }[] = [];
let isHeld: (method: string, params: Record<string, unknown>) => boolean = () => false;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    const answer = () => {
      if (method === 'subscriptions/listen') return listen(id, params.notifications, response);
      response.writeHead(200, { 'content-type': 'application/json' });
      const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
      const result = { supportedVersions: ['2026-07-28'], capabilities, tools: [] };
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    };
    if (isHeld(method, params)) held.push({ method, answer });
    else answer();
  });
});

function listen(id: unknown, wanted: Record<string, unknown>, response: ServerResponse): void {
  const uris = (wanted.resourceSubscriptions ?? []) as string[];
  const stream = { id, uris, response, isOpen: true };
  streams.push(stream);
  response.on('close', () => {
    stream.isOpen = false;
  });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  tell(stream, 'notifications/subscriptions/acknowledged', { notifications: wanted });
}

function tell({ id, response }: ServerStream, method: string, params: object): void {
  const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
  const text = JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta } });
  response.write(`event: message\ndata: ${text}\n\n`);
}

const openStreams = () => streams.filter(({ isOpen }) => isOpen);
const isFor = (uri: string) => (method: string, params: Record<string, unknown>) => {
  const { resourceSubscriptions } = (params.notifications ?? {}) as Record<string, unknown>;
  const uris = Array.isArray(resourceSubscriptions) ? resourceSubscriptions : [];
  return method === 'subscriptions/listen' && uris.includes(uri);
};
async function release(): Promise<void> {
  isHeld = () => false;
  await vi.waitFor(() => expect(held).not.toEqual([]));
  for (const { answer } of held.splice(0)) answer();
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', url)],
    config: { maxSessionsPerAgent: 2 },
  });
});

beforeEach(() => {
  streams = [];
  held = [];
  agent = plane.addAgent();
});

afterEach(async () => {
  isHeld = () => false;
  for (const { answer } of held.splice(0)) answer();
  await plane.records();
});

afterAll(async () => {
  await plane?.stop();
  server.closeAllConnections();
  server.close();
});

const open = (notifications: object, id = 'sub') =>
  listenModern(plane, notifications, { authorization: agent.basic, id });
const TOOLS = { toolsListChanged: true };

it('keeps nothing of a client that left before its server was open', async () => {
  isHeld = (method) => method === 'server/discover';
  const gone = open(TOOLS);
  await vi.waitFor(() => expect(held).not.toEqual([]));
  await gone.close();
  await sleep(50);
  await release();
  // If it still counted, it would be the oldest, which is evicted for others.
  const [first, second, third] = [open(TOOLS, '1'), open(TOOLS, '2'), open(TOOLS, '3')];
  await third.acknowledged;
  const ended = await Promise.race([first.done, second.done]);
  expect(ended.at(-1)).toMatchObject({ result: { resultType: 'complete' } });
  for (const stream of [first, second, third]) await stream.close();
  await vi.waitFor(() => expect(openStreams()).toEqual([]));
});

it('ends one in order that is evicted before it has begun', async () => {
  isHeld = isFor('doc://slow');
  const slow = open({ ...TOOLS, resourceSubscriptions: ['doc://slow'] }, 'slow');
  await vi.waitFor(() => expect(held).not.toEqual([]));
  isHeld = () => false;
  const others = [open(TOOLS, '1'), open(TOOLS, '2')];
  const received = await slow.done;
  expect((await slow.answer).headers.get('content-type')).toBe('text/event-stream');
  expect(received.map(({ id, method }) => id ?? method)).toEqual([
    'notifications/subscriptions/acknowledged',
    'slow',
  ]);
  for (const { answer } of held.splice(0)) answer();
  for (const stream of others) await stream.close();
});

it('what comes before it has begun counts with the unread of its agent', async () => {
  const limit = 64 * 1024;
  const config = { unreadBytesPerAgent: limit, maxSessionsPerAgent: 10 };
  const own = await startTestPlane({ servers: [HTTP_SERVER('up', url)], config });
  const authorization = own.addAgent().basic;
  const unread = async () => {
    const metric = own.registry.getSingleMetric('governance_gateway_unread_bytes');
    return (await metric?.get())?.values[0]?.value ?? Number.NaN;
  };
  const first = listenModern(own, TOOLS, { authorization });
  await first.acknowledged;
  isHeld = isFor('doc://slow');
  const wanted = { ...TOOLS, resourceSubscriptions: ['doc://slow'] };
  const slow = Array.from({ length: 5 }, () => listenModern(own, wanted, { authorization }));
  await vi.waitFor(() => expect(held).not.toEqual([]));
  const [stream] = openStreams();
  if (!stream) throw new Error('the server is not listened to');
  for (let n = 0; n < 5; n++) {
    tell(stream, 'notifications/tools/list_changed', { n, text: 'a'.repeat(limit / 8) });
  }
  // Small, so that there is room for it on each, behind seven of 25: then all were inspected.
  tell(stream, 'notifications/tools/list_changed', { last: 'a'.repeat(1200) });
  await vi.waitFor(async () => expect(await unread()).toBeGreaterThan((7 * limit) / 8 + 5 * 1300));
  expect(await unread()).toBeLessThanOrEqual(limit);
  await release();
  for (const one of slow) await one.acknowledged;
  await vi.waitFor(async () => expect(await unread()).toBe(0));
  const texts = slow.flatMap(({ received }) => received.filter(({ params }) => params?.text));
  // Of 25; what the first stream had unread for a moment may leave one to be inspected afterwards.
  expect(texts.length).toBeGreaterThanOrEqual(7);
  expect(texts.length).toBeLessThanOrEqual(10);
  for (const one of [first, ...slow]) await one.close();
  await own.stop();
});

describe('of an agent that was suspended before it has begun, is refused', () => {
  const openSlow = async (on: TestPlane, by: TestAgent) => {
    isHeld = isFor('doc://slow');
    const wanted = { ...TOOLS, resourceSubscriptions: ['doc://slow'] };
    const slow = listenModern(on, wanted, { authorization: by.basic });
    await vi.waitFor(() => expect(held).not.toEqual([]));
    by.update({ status: 'suspended' });
    return slow;
  };

  it('though a server sent something for it', async () => {
    const begun = open(TOOLS);
    await begun.acknowledged;
    const slow = await openSlow(plane, agent);
    for (const stream of openStreams()) tell(stream, 'notifications/tools/list_changed', {});
    await begun.done;
    await release();
    expect((await slow.answer).status).toBe(401);
  });

  it('though the service stops', async () => {
    const own = await startTestPlane({ servers: [HTTP_SERVER('up', url)] });
    // The service's own listener: it lets requests in progress end.
    const app = createHttpServer({ log: pino({ level: 'silent' }), corsOrigins: [] });
    await app.register(own.plane.routes);
    const at = { ...own, url: await app.listen({ host: '127.0.0.1', port: 0 }) };
    const begun = listenModern(at, TOOLS, { authorization: own.addAgent().basic });
    await begun.acknowledged;
    const slow = await openSlow(at, own.addAgent());
    const closed = app.close();
    await begun.done;
    await release();
    expect((await slow.answer).status).toBe(401);
    await closed;
    await own.stop();
  });
});

it('still receives updates of a resource that another client no longer waits for', async () => {
  const wanted = { resourceSubscriptions: ['doc://1'] };
  const first = open(wanted, '1');
  await first.acknowledged;
  // The server has not answered the second when its client leaves.
  const second = open({ resourceSubscriptions: ['doc://1', 'doc://slow'] }, '2');
  isHeld = isFor('doc://slow');
  await vi.waitFor(() => expect(held).not.toEqual([]));
  await second.close();
  await release();
  await vi.waitFor(() => expect(openStreams().map(({ uris }) => uris)).toEqual([['doc://1']]));
  for (const stream of openStreams()) {
    tell(stream, 'notifications/resources/updated', { uri: 'doc://1' });
  }
  await vi.waitFor(() => expect(first.received).toHaveLength(2));
  await first.close();
  await vi.waitFor(() => expect(openStreams()).toEqual([]));
});

it('subscribes to many resources a few at a time, and to all of them', async () => {
  const uris = Array.from({ length: 40 }, (_, i) => `doc://${i}`);
  let [underWay, most] = [0, 0];
  const subscribe = async () => {
    most = Math.max(most, ++underWay);
    await sleep(5);
    underWay--;
    return {};
  };
  const legacy = await startTestUpstream({
    capabilities: { resources: { subscribe: true } },
    methods: { 'resources/subscribe': subscribe, 'resources/unsubscribe': subscribe },
  });
  const own = await startTestPlane({
    servers: [HTTP_SERVER('up', legacy.url)],
    // Subscriptions without a slot would be missing from the acknowledgement.
    config: { upstreamRequestsPerAgent: 12 },
  });
  const { basic: authorization } = own.addAgent();
  const wanted = { resourceSubscriptions: uris };
  const stream = listenModern(own, wanted, { authorization, path: '/mcp/v1/up' });
  await stream.acknowledged;
  expect(stream.received).toMatchObject([{ params: { notifications: wanted } }]);
  await stream.close();
  await vi.waitFor(() => expect(legacy.messages('resources/unsubscribe')).toHaveLength(40));
  expect(most).toBeLessThanOrEqual(16);
  await own.stop();
  await legacy.stop();
});

it('opens no more streams than there are places, though all ask at once', async () => {
  const small = await startTestPlane({
    servers: [HTTP_SERVER('up', url)],
    config: { maxSessions: 3, maxSessionsPerAgent: 2 },
  });
  isHeld = (method) => method === 'server/discover';
  const asking = [1, 2, 3].flatMap((n) => {
    const { basic: authorization } = small.addAgent();
    return ['a', 'b'].map((id) => listenModern(small, TOOLS, { authorization, id: `${id}${n}` }));
  });
  const answers = asking.map(({ answer }) => answer);
  await vi.waitFor(() => expect(held).toHaveLength(3));
  await release();
  const status = (await Promise.all(answers)).map(({ status }) => status).sort();
  expect(status).toEqual([200, 200, 200, 503, 503, 503]);
  for (const one of asking) await one.close();
  await small.stop();
});
