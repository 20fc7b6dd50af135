/** What a session sends by itself: nothing for an agent that was suspended meanwhile. */
import { Agent } from 'undici';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { testHttpSession } from '../../testing/test-http-session.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';
import { FairBytes } from '../shares/fair-bytes.ts';
import type { HttpUpstreamSession } from './http-session.ts';

let upstream: TestUpstream;
let session: HttpUpstreamSession;
let dispatcher: Agent;
let room: FairBytes;
/** Why the agent may not act. */
let findIneligibility = vi.fn<() => string | undefined>();

const suspend = () => findIneligibility.mockReturnValue('it is suspended');
const reactivate = () => findIneligibility.mockReturnValue(undefined);
const listened = () => upstream.seen.filter(({ httpMethod }) => httpMethod === 'GET').length;

beforeEach(async () => {
  upstream = await startTestUpstream({ offersStream: true });
  dispatcher = new Agent();
  findIneligibility = vi.fn();
  room = new FairBytes(40 * 1024, () => false);
  session = testHttpSession(upstream.url, dispatcher, {
    room: () => room,
    timeoutMs: 1000,
    findIneligibility,
  });
});

afterEach(async () => {
  await session.close();
  await dispatcher.destroy();
  await upstream.stop();
});

it('is not opened for an agent that was suspended while the server answered, and later anew', async () => {
  const undo = upstream.override(({ message }) => {
    if (message?.method === 'initialize') suspend();
    return false;
  });
  await expect(session.open()).rejects.toMatchObject({ kind: 'ineligible' });
  expect(upstream.messages('initialize')).toHaveLength(1);
  expect(upstream.messages('notifications/initialized')).toEqual([]);
  undo();
  reactivate();
  await session.open();
  expect(upstream.messages('notifications/initialized')).toMatchObject([
    { headers: { 'mcp-session-id': 'upstream-session-2' } },
  ]);
});

it('does not listen again while its agent is suspended, and does afterwards', async () => {
  session.listen(() => undefined);
  await session.open();
  await vi.waitFor(() => expect(upstream.streams()).toBe(1));
  suspend();
  findIneligibility.mockClear();
  upstream.endStreams();
  await vi.waitFor(() => expect(findIneligibility).toHaveBeenCalled(), { timeout: 3000 });
  reactivate();
  expect(listened()).toBe(1);
  await vi.waitFor(() => expect(upstream.streams()).toBe(1), { timeout: 4000 });
  expect(listened()).toBe(2);
});

it('a message on its stream for which there is no room ends that, and counts no longer', async () => {
  let closed = 0;
  upstream.override(({ httpMethod }, response) => {
    if (httpMethod !== 'GET') return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${'x'.repeat(30_000)}`);
    response.once('close', () => closed++);
    void vi
      .waitFor(() => expect(room.total).toBeGreaterThan(30_000))
      .then(() => response.write('x'.repeat(30_000)));
    return true;
  });
  await session.open();
  session.listen(() => undefined);
  await vi.waitFor(() => expect(closed).toBe(1));
  expect(room.total).toBe(0);
});

it('a stream that brings no JSON-RPC is opened again more and more seldom', async () => {
  const at: number[] = [];
  upstream.override(({ httpMethod }, response) => {
    if (httpMethod !== 'GET') return false;
    at.push(performance.now());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: nonsense\n\n');
    return true;
  });
  await session.open();
  session.listen(() => undefined);
  await vi.waitFor(() => expect(at).toHaveLength(3), { timeout: 30_000, interval: 100 });
  const [first = 0, second = 0, third = 0] = at;
  // Timers may be a little early.
  expect(second - first).toBeGreaterThan(990);
  expect(third - second).toBeGreaterThan(1990);
}, 40_000);

it('a stream that was ended is opened again when its server said', async () => {
  let endedAt = 0;
  const undo = upstream.override(({ httpMethod }, response) => {
    if (httpMethod !== 'GET') return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('retry: 1500\n\n');
    endedAt = performance.now();
    undo();
    return true;
  });
  await session.open();
  session.listen(() => undefined);
  await vi.waitFor(() => expect(upstream.streams()).toBe(1), { timeout: 30_000 });
  // Timers may be a little early.
  expect(performance.now() - endedAt).toBeGreaterThan(1490);
  expect(listened()).toBe(2);
}, 40_000);

it('a stream is asked for again where the server has another one still (409)', async () => {
  const undo = upstream.override(({ httpMethod }, response) => {
    if (httpMethod !== 'GET') return false;
    response.writeHead(409).end();
    undo();
    return true;
  });
  await session.open();
  session.listen(() => undefined);
  await vi.waitFor(() => expect(upstream.streams()).toBe(1), { timeout: 30_000 });
  expect(listened()).toBe(2);
}, 40_000);

it('is busy where its handshake finds no room: no call was sent', async () => {
  const instructions = 'x'.repeat(50_000);
  upstream.override(({ message }, response) => {
    if (message?.method !== 'initialize') return false;
    const result = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      serverInfo: {},
      instructions,
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    return true;
  });
  await expect(session.open()).rejects.toMatchObject({ kind: 'busy' });
  expect(room.total).toBe(0);
});
