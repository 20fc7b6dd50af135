/** Bodies that never end use no more memory than one agent may have, and none of another's. */
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const MESSAGE = 64 * 1024;
let upstream: TestUpstream;
let plane: TestPlane;
const sockets: Socket[] = [];

beforeAll(async () => {
  upstream = await startTestUpstream();
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    config: { messageBytes: MESSAGE },
  });
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

/** A request whose body begins. */
function begin(agent: TestAgent, headers: string[], body: string) {
  const { port, hostname } = new URL(plane.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const one = { socket, text: '' };
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    one.text += chunk.toString();
  });
  const head = [
    'POST /mcp/v1/up HTTP/1.1',
    `host: ${hostname}`,
    `authorization: ${agent.basic}`,
    'content-type: application/json',
    'accept: application/json, text/event-stream',
    ...headers,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  return one;
}

const call = (agent: TestAgent) => {
  const params = { name: 'echo', arguments: {} };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  return plane.post('/mcp/v1/up', message, { authorization: agent.basic });
};

it.each([
  ['that declare their length', [`content-length: ${MESSAGE}`], ' '.repeat(1000)],
  ['that do not', ['transfer-encoding: chunked'], '8\r\n        \r\n'],
])('bodies %s are bounded by agent', async (_, headers, body) => {
  const agent = plane.addAgent();
  const begun = Array.from({ length: 40 }, () => begin(agent, headers, body));
  const refused = () => begun.filter(({ text }) => text !== '');
  await vi.waitFor(() => expect(refused()).toHaveLength(24));
  for (const { text } of refused()) {
    expect(text).toContain('503 Service Unavailable');
    expect(text).toContain('Busy: this agent has too many bytes of requests under way');
  }
  expect((await call(agent)).status).toBe(503);
  expect((await call(plane.addAgent())).json.result).toBeDefined();
  for (const { socket } of begun) socket.destroy();
  await vi.waitFor(async () => expect((await call(agent)).json.result).toBeDefined());
});

it('bodies of many agents are bounded by tenant', async () => {
  const agents = Array.from({ length: 5 }, () => plane.addAgent());
  const headers = [`content-length: ${MESSAGE}`];
  const begun = agents.flatMap((agent) =>
    Array.from({ length: 16 }, () => begin(agent, headers, ' ')),
  );
  const refused = () => begun.filter(({ text }) => text.includes('the agents of this tenant have'));
  await vi.waitFor(() => expect(refused()).toHaveLength(16));
  const neighbour = await plane.addNeighbour();
  expect((await call(neighbour.addAgent())).json.result).toBeDefined();
});

it('a body counts with its actual length, until it is answered', async () => {
  const agent = plane.addAgent();
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } };
  const text = JSON.stringify(message);
  const chunk = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
  upstream.seen.length = 0;
  const stop = upstream.override((request) => request.message?.method === 'tools/call');
  const begun: ReturnType<typeof begin>[] = [];
  for (let i = 1; i <= 20; i++) {
    begun.push(begin(agent, ['transfer-encoding: chunked'], chunk));
    await vi.waitFor(() => expect(upstream.messages('tools/call').length).toBe(i), { interval: 5 });
  }
  stop();
  expect((await call(agent)).json.result).toBeDefined();
  expect(begun.map(({ text }) => text).join('')).toBe('');
});
