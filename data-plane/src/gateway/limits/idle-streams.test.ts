/**
 * Five hundred clients that listen and say nothing: all stay connected, each costs little, news
 * reach all of them, and none outlives the service.
 */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../../test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../upstream/test-upstream.ts';
import { openSession, PATIENT } from './test-client.ts';
import { settledBytes } from './test-memory.ts';

const AGENTS = 5;
const SESSIONS = 100;
const KEEP_ALIVE_MS = 250;
const PATH = '/mcp/v1/up';
/** Of heap and buffers: the gateway's side and the client's. */
const BYTES_A_STREAM = 32 * 1024;

/** A stream as a bare socket, which costs the test next to nothing. */
interface Stream {
  socket: Socket;
  keepAlives: number;
  changes: number;
  isEnded: boolean;
}

let upstream: TestUpstream;
let plane: TestPlane;
let isStopped = false;

beforeAll(async () => {
  upstream = await startTestUpstream({ offersStream: true });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    keepAliveMs: KEEP_ALIVE_MS,
  });
});

afterAll(async () => {
  if (!isStopped) await plane?.stop();
  await upstream?.stop();
});

const count = (text: string, part: string) => text.split(part).length - 1;

/** Opens a stream and waits for its head. */
function listen(headers: Record<string, string>): Promise<Stream> {
  const { hostname, port } = new URL(plane.url);
  const socket = connect(Number(port), hostname);
  const stream: Stream = { socket, keepAlives: 0, changes: 0, isEnded: false };
  const lines = Object.entries({
    host: `${hostname}:${port}`,
    accept: 'text/event-stream',
    ...headers,
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  socket.write(`GET ${PATH} HTTP/1.1\r\n${lines}\r\n`);
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => {
      stream.isEnded = true;
    });
    socket.setEncoding('latin1').on('data', (text: string) => {
      // The gateway writes each of them in one go.
      stream.keepAlives += count(text, ':keepalive');
      stream.changes += count(text, 'notifications/tools/list_changed');
      if (!text.startsWith('HTTP/1.1')) return;
      if (text.startsWith('HTTP/1.1 200 ')) resolve(stream);
      else reject(new Error(text));
    });
  });
}

const gauge = async (name: string) =>
  (await plane.registry.getSingleMetric(name)?.get())?.values ?? [];

const connections = () =>
  new Promise<number>((resolve, reject) => {
    plane.app.server.getConnections((error, open) => (error ? reject(error) : resolve(open)));
  });

it('500 idle streams', async () => {
  const agents = Array.from({ length: AGENTS }, () => plane.addAgent(['*:*']));
  const sessions: Record<string, string>[] = [];
  for (const { basic } of agents) {
    for (let n = 0; n < SESSIONS; n++) sessions.push(await openSession(plane, PATH, basic));
  }
  expect(await gauge('governance_mcp_sessions')).toMatchObject([{ value: AGENTS * SESSIONS }]);

  const before = await settledBytes();
  const streams: Stream[] = [];
  // One agent after the other, so that the listener's backlog holds them.
  for (let from = 0; from < sessions.length; from += SESSIONS) {
    const some = sessions.slice(from, from + SESSIONS);
    streams.push(...(await Promise.all(some.map(listen))));
  }
  expect(streams).toHaveLength(AGENTS * SESSIONS);
  // The gateway listens once for each agent, however many clients that has.
  await expect.poll(upstream.streams, PATIENT).toBe(AGENTS);

  const fewest = (of: 'keepAlives' | 'changes') => Math.min(...streams.map((one) => one[of]));
  const already = fewest('keepAlives');
  await expect.poll(() => fewest('keepAlives'), PATIENT).toBeGreaterThanOrEqual(already + 3);
  const afterThree = await settledBytes();
  expect((afterThree - before) / streams.length).toBeLessThan(BYTES_A_STREAM);

  upstream.push({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  await expect.poll(() => fewest('changes'), PATIENT).toBe(1);
  const later = fewest('keepAlives');
  await expect.poll(() => fewest('keepAlives'), PATIENT).toBeGreaterThanOrEqual(later + 3);
  expect(Math.max(...streams.map((one) => one.changes))).toBe(1);
  expect(streams.filter((one) => one.isEnded)).toEqual([]);
  // Time costs nothing: what is held does not grow with the signs of life.
  expect((await settledBytes()) - afterThree).toBeLessThan(streams.length * 2_048);

  const started = performance.now();
  await plane.stop();
  isStopped = true;
  await expect.poll(() => streams.filter((one) => !one.isEnded), PATIENT).toEqual([]);
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(await connections()).toBe(0);
  await expect.poll(upstream.streams, PATIENT).toBe(0);
});
