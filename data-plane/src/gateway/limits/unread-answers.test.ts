/**
 * Clients on bare sockets that do not read their answers. What waits for an agent is bounded over
 * all of its connections, and a connection without progress is closed.
 */
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openSession, openWay, PATIENT, toolCall } from '../../testing/test-client.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const MIB = 1024 * 1024;
/** More than the system buffers of a connection hold. */
const ANSWER = 8 * MIB;
const LIMIT = 3 * ANSWER;
const PATH = '/mcp/v1/up';
/** Longer than it takes to make six answers on a busy machine. */
const STALL_MS = 5_000;

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
let other: TestAgent;
const open: Socket[] = [];

beforeAll(async () => {
  upstream = await startTestUpstream({
    offersStream: true,
    tools: [
      {
        name: 'read_much',
        annotations: { readOnlyHint: true },
        // An image, which takes no time to inspect.
        handle: ({ result }) =>
          result({
            content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(ANSWER) }],
          }),
      },
      { name: 'read_little', annotations: { readOnlyHint: true } },
    ],
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    config: { unreadBytesPerAgent: LIMIT, stallMs: STALL_MS, messageBytes: 16 * MIB },
  });
  other = plane.addAgent(['*:*']);
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** A request on a connection of its own, whose answer is never read. */
function sendUnread(method: string, headers: Record<string, string>, message?: unknown): Socket {
  const { hostname, port } = new URL(plane.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const body = message === undefined ? '' : JSON.stringify(message);
  const all = {
    host: `${hostname}:${port}`,
    accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
    ...(body !== '' && { 'content-type': 'application/json', 'content-length': `${body.length}` }),
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(`${method} ${PATH} HTTP/1.1\r\n${head.join('')}\r\n${body}`);
  open.push(socket);
  return socket;
}

const unreadBytes = async () => {
  const metric = plane.registry.getSingleMetric('governance_gateway_unread_bytes');
  return (await metric?.get())?.values[0]?.value ?? Number.NaN;
};
const connections = () =>
  new Promise<number>((resolve, reject) => {
    plane.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
const ask = (name: string, of: TestAgent) =>
  plane.post(PATH, toolCall(name), { authorization: of.basic });

it.each([
  'without a session',
  'in a session',
  'of MCP 2026-07-28',
] as const)('answers %s that nobody reads are bounded, and their connections are closed', async (way) => {
  agent = plane.addAgent(['*:*']);
  const call = await openWay(way, plane, PATH, agent.basic);
  for (let n = 1; n <= 6; n++) {
    const { headers, message } = call('read_much', {}, n);
    sendUnread('POST', headers, message);
  }
  await expect.poll(unreadBytes, PATIENT).toBeGreaterThan(LIMIT / 2);
  let most = 0;
  await expect
    .poll(async () => {
      most = Math.max(most, await unreadBytes());
      return (await ask('read_much', agent)).json.error;
    }, PATIENT)
    .toMatchObject({ code: -32603, message: expect.stringMatching(/^Busy: .*unread/) });
  expect(most).toBeLessThanOrEqual(LIMIT + MIB);
  // Small answers are sent, and another agent gets what it asks for.
  expect((await ask('read_little', agent)).json.result).toBeDefined();
  expect((await ask('read_much', other)).json.result).toBeDefined();
  const before = await connections();
  await expect.poll(unreadBytes, { timeout: 40_000, interval: 50 }).toBe(0);
  await expect.poll(connections, PATIENT).toBeLessThan(before);
  expect((await ask('read_much', agent)).json.result).toBeDefined();
}, 90_000);

it('streams that nobody reads are bounded, and their connections are closed', async () => {
  agent = plane.addAgent(['*:*']);
  const sessions = await Promise.all(
    Array.from({ length: 4 }, () => openSession(plane, PATH, agent.basic)),
  );
  for (const headers of sessions) sendUnread('GET', headers);
  await expect.poll(upstream.streams, PATIENT).toBeGreaterThan(0);
  const message = {
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { level: 'info', data: 'a'.repeat(MIB) },
  };
  let most = 0;
  // What comes while others are inspected is dropped.
  const pushOne = async () => {
    upstream.push(message);
    most = Math.max(most, await unreadBytes());
    return most;
  };
  // More than three of the four streams hold a message each. On a busy machine they hold no second
  // one: the next is inspected only when they are closed.
  await expect.poll(pushOne, { ...PATIENT, interval: 20 }).toBeGreaterThan(3 * MIB);
  expect(most).toBeLessThanOrEqual(LIMIT + 2 * MIB);
  await expect.poll(unreadBytes, { timeout: 40_000, interval: 50 }).toBe(0);
}, 90_000);
