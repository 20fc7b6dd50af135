import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { getDefaultHighWaterMark } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHttpServer } from './http/http-server.ts';
import { createLog } from './process/log.ts';

/** Of a request's body: 16 KiB in Node 20, 64 in later versions. */
const BUFFER = getDefaultHighWaterMark(false);
const log = createLog({ debug: false }, { write: () => {} });
let app: ReturnType<typeof createHttpServer>;
let begun: string[];
let ended: string[];
let answers: (() => void)[];

beforeEach(async () => {
  app = createHttpServer({ log, corsOrigins: [] });
  begun = [];
  ended = [];
  answers = [];
  app.post('/:name', ({ params }, reply) => {
    const { name } = params as { name: string };
    begun.push(name);
    reply.raw.once('close', () => ended.push(name));
    return new Promise<string>((resolve) => answers.push(() => resolve(`<${name}>`)));
  });
  app.get('/poll', (_request, reply) => {
    begun.push('poll');
    reply.raw.once('close', () => ended.push('poll'));
    return new Promise<string>((resolve) => answers.push(() => resolve('')));
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(async () => {
  for (const answer of answers) answer();
  await app.close();
});

const ask = (name: string, body = 'hi') =>
  `POST /${name} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

async function send(text: string): Promise<Socket> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** What was not read when the service closed the connection resets it, which is an error here. */
const closing = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

it('begins a request once the one before it on the connection was answered', async () => {
  const socket = await send(ask('a') + ask('b') + ask('c'));
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  for (const [n, name] of ['a', 'b', 'c'].entries()) {
    await expect.poll(() => answers.length).toBe(n + 1);
    expect(begun.at(-1)).toBe(name);
    answers[n]?.();
    await expect.poll(() => text).toContain(`<${name}>`);
  }
  expect(ended).toEqual(['a', 'b', 'c']);
  socket.destroy();
});

it('begins nothing for a client that has gone, and tells what was begun', async () => {
  const socket = await send(ask('a') + ask('b') + ask('c'));
  await expect.poll(() => begun).toEqual(['a']);
  socket.destroy();
  await expect.poll(() => ended).toEqual(['a']);
  answers[0]?.();
  // Another connection is served meanwhile.
  const other = await send(ask('d'));
  await expect.poll(() => begun).toEqual(['a', 'd']);
  other.destroy();
});

it('closes a connection that sends very many ahead', async () => {
  const socket = await send(ask('a'));
  await expect.poll(() => begun).toEqual(['a']);
  const closed = closing(socket);
  socket.write('GET /b HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(17));
  await closed;
  expect(begun).toEqual(['a']);
});

it('keeps a body that waits within its buffer, and still notices that the client leaves', async () => {
  const socket = await send(ask('a') + ask('b', 'b'.repeat(BUFFER - 1)));
  await expect.poll(() => begun).toEqual(['a']);
  // The body has arrived as well.
  await sleep(100);
  socket.resetAndDestroy();
  await expect.poll(() => ended).toEqual(['a']);
});

it.each([
  ['a length', ask('b', 'b'.repeat(BUFFER))],
  ['chunks', 'POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'],
])('closes a connection whose waiting body could exceed its buffer, by %s', async (_what, next) => {
  const socket = await send(ask('a') + next);
  await closing(socket);
  await expect.poll(() => ended).toEqual(['a']);
  expect(begun).toEqual(['a']);
});

it('notices a client that leaves behind a body that no route reads', async () => {
  const body = 'a'.repeat(300_000);
  const socket = await send(
    `GET /poll HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await expect.poll(() => begun).toEqual(['poll']);
  await sleep(100);
  socket.resetAndDestroy();
  await expect.poll(() => ended).toEqual(['poll']);
});
