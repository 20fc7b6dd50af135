/**
 * Five hundred idle listeners: all stay connected, each costs little, notifications reach all of
 * them, and none outlives the service.
 */
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSession, PATIENT } from '../../testing/test-client.ts';
import { settledBytes } from '../../testing/test-memory.ts';
import { modernRequest } from '../../testing/test-modern-client.ts';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const AGENTS = 5;
/** For each agent. */
const STREAMS = 100;
const KEEP_ALIVE_MS = 250;
const PATH = '/mcp/v1/up';
/** Heap and buffers: the gateway's side and the client's. */
const BYTES_A_STREAM = 32 * 1024;

/** A stream as a bare socket, which costs the test next to nothing. */
interface Stream {
  socket: Socket;
  keepAlives: number;
  changes: number;
  isEnded: boolean;
}

/** The request that opens a stream. */
interface Opening {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body: string;
}

let upstream: TestUpstream;
let plane: TestPlane;
let isStopped: boolean;

beforeEach(async () => {
  isStopped = false;
  upstream = await startTestUpstream({ offersStream: true });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    keepAliveMs: KEEP_ALIVE_MS,
  });
});

afterEach(async () => {
  if (!isStopped) await plane.stop();
  await upstream.stop();
});

const ERAS: Record<string, (basic: string, n: number) => Promise<Opening>> = {
  'of sessions': async (basic) => {
    const headers = await openSession(plane, PATH, basic);
    return { method: 'GET', headers: { accept: 'text/event-stream', ...headers }, body: '' };
  },
  'of MCP 2026-07-28': async (basic, id) => {
    const params = { notifications: { toolsListChanged: true } };
    const options = { authorization: basic, id };
    const { headers, body } = modernRequest('subscriptions/listen', params, options);
    const accept = 'application/json, text/event-stream';
    const type = { accept, 'content-type': 'application/json' };
    return { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(body) };
  },
};

const count = (text: string, part: string) => text.split(part).length - 1;

/** Opens a stream and waits for its response head. */
function listen({ method, headers, body }: Opening): Promise<Stream> {
  const { host, hostname, port } = new URL(plane.url);
  const socket = connect(Number(port), hostname);
  const stream: Stream = { socket, keepAlives: 0, changes: 0, isEnded: false };
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ host, ...headers, ...(body !== '' && length) })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  socket.write(`${method} ${PATH} HTTP/1.1\r\n${lines}\r\n${body}`);
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => {
      stream.isEnded = true;
    });
    socket.setEncoding('latin1').on('data', (text: string) => {
      // The gateway writes each of them at once.
      stream.keepAlives += count(text, ':keepalive');
      stream.changes += count(text, '"notifications/tools/list_changed"');
      if (!text.startsWith('HTTP/1.1')) return;
      if (text.startsWith('HTTP/1.1 200 ')) resolve(stream);
      else reject(new Error(text));
    });
  });
}

const connections = () =>
  new Promise<number>((resolve, reject) => {
    plane.app.server.getConnections((error, open) => (error ? reject(error) : resolve(open)));
  });

describe.each(Object.keys(ERAS))('500 idle streams %s', (era) => {
  it('stay, cost little, receive notifications and end with the service', async () => {
    const openings: Opening[] = [];
    for (let agent = 0; agent < AGENTS; agent++) {
      const { basic } = plane.addAgent(['*:*']);
      for (let n = 0; n < STREAMS; n++) {
        openings.push((await ERAS[era]?.(basic, n)) as Opening);
      }
    }
    const before = await settledBytes();
    const streams: Stream[] = [];
    // One agent after the other, so as not to overflow the listener's backlog.
    for (let from = 0; from < openings.length; from += STREAMS) {
      const some = openings.slice(from, from + STREAMS);
      streams.push(...(await Promise.all(some.map(listen))));
    }
    expect(streams).toHaveLength(AGENTS * STREAMS);
    // The gateway listens once for each agent, however many clients it has.
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
    // Memory does not grow with keep-alives over time.
    expect((await settledBytes()) - afterThree).toBeLessThan(streams.length * 2_048);

    await plane.stop();
    isStopped = true;
    await expect.poll(() => streams.filter((one) => !one.isEnded), PATIENT).toEqual([]);
    expect(await connections()).toBe(0);
    await expect.poll(upstream.streams, PATIENT).toBe(0);
  });
});
