import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLog } from '../process/log.ts';
import { parseTrustedProxies } from './client-address.ts';
import { createHttpServer } from './http-server.ts';

it('closes without waiting for a connection that never sent a request', async () => {
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  let answer = (_text: string): void => undefined;
  const isAsked = new Promise<void>((resolve) => {
    app.get('/slow', () => {
      resolve();
      return new Promise<string>((resolve) => {
        answer = resolve;
      });
    });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const silent = connect(port, '127.0.0.1');
  await once(silent, 'connect');
  const ended = once(silent, 'close');
  const slow = fetch(`http://127.0.0.1:${port}/slow`).then((response) => response.text());
  await isAsked;
  const closed = app.close();
  // It is cut while the other still waits: what ends all connections in the end would end both.
  await ended;
  answer('done');
  // What was under way still got its answer.
  expect(await slow).toBe('done');
  await closed;
});

/** Sends requests over one connection, each once the one before was answered. */
async function aClient(port: number) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const ask = async (path: string) => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    return chunk.toString();
  };
  return { socket, ask };
}

it('answers, while it stops, what comes on an open connection, and closes it with the answer', async () => {
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  let answer: ((text: string) => void) | undefined;
  app.get('/', async () => 'served');
  app.get(
    '/slow',
    () =>
      new Promise<string>((resolve) => {
        answer = resolve;
      }),
  );
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const [busy, slow, idle] = await Promise.all([1, 2, 3].map(() => aClient(port)));
  for (const client of [busy, idle]) expect(await client?.ask('/')).toMatch(/keep-alive/i);
  const answered = slow?.ask('/slow');
  await expect.poll(() => answer).toBeDefined();
  const began = performance.now();
  const closed = app.closeGently();
  expect(await busy?.ask('/')).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*served/i);
  await expect(aClient(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  // The idle one is closed after the grace, and the request in progress is waited for.
  await once(idle?.socket as Socket, 'close');
  expect(performance.now() - began).toBeGreaterThan(200);
  answer?.('at last');
  expect(await answered).toMatch(/connection: close[\s\S]*at last/i);
  await closed;
});

it('sends, while it stops, the rest of an answer that was ended before, and begins nothing behind it', async () => {
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  let calls = 0;
  // More than the buffers of the system take.
  app.get('/', async () => {
    calls += 1;
    return 'x'.repeat(20_000_000);
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
  await expect.poll(() => calls).toBe(1);
  const closed = app.closeGently();
  // Beyond the grace.
  await sleep(500);
  let length = 0;
  for await (const chunk of socket) length += (chunk as Buffer).length;
  await closed;
  expect(length).toBeGreaterThan(20_000_000);
  expect(calls).toBe(1);
});

it.each([
  [
    'headers that are too large',
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
    431,
  ],
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  [
    'two lengths of one body',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ['two hosts', 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
  [
    'two credentials',
    'GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n',
    400,
  ],
  ['another expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n', 417],
  [
    'chunks that are none',
    'POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    400,
  ],
])('%s get an error of the usual shape', async (_what, text, status) => {
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  app.post('/body', async () => '');
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.end(text);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({ detail: expect.any(String) });
  await app.close();
});

it.each([
  ['a call in progress', '/slow', ''],
  ['an open stream', '/stream', 'data: 1'],
])('what is no HTTP behind %s only closes the connection', async (_what, path, begun) => {
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  let isAsked = false;
  app.get('/slow', () => {
    isAsked = true;
    return new Promise(() => undefined);
  });
  app.get('/stream', (_request, reply) => {
    isAsked = true;
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await expect.poll(() => isAsked && text.includes(begun)).toBe(true);
  socket.write('hello\r\n\r\n');
  await once(socket, 'close');
  expect(text).toContain(begun);
  expect(text).not.toContain('400 Bad Request');
  await app.close();
});

it('reads the address that a trusted proxy appended to very many headers', async () => {
  const log = createLog({ debug: false }, { write: () => {} });
  const trustedProxies = parseTrustedProxies(['127.0.0.1']);
  const app = createHttpServer({ log, corsOrigins: [], trustedProxies });
  app.get('/', async (request) => request.clientAddress);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(
    `GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.6\r\n${'a:\r\n'.repeat(1_100)}X-Forwarded-For: 192.0.2.9\r\nConnection: close\r\n\r\n`,
  );
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  expect(answer.split('\r\n\r\n')[1]).toBe('192.0.2.9');
  await app.close();
});

it('serves no request whose client left before its handler', async () => {
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  const served: string[] = [];
  const closed: string[] = [];
  let verified: (() => void) | undefined;
  app.addHook('onRequest', async (request, reply) => {
    if (request.url !== '/left') return;
    reply.raw.once('close', () => closed.push(request.url));
    await new Promise<void>((resolve) => {
      verified = resolve;
    });
  });
  app.get('/:name', async ({ url }) => {
    served.push(url);
    return 'served';
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const leaving = connect(port, '127.0.0.1');
  await once(leaving, 'connect');
  leaving.write('GET /left HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(() => verified).toBeDefined();
  leaving.destroy();
  await expect.poll(() => closed).toEqual(['/left']);
  verified?.();
  expect(await (await fetch(`http://127.0.0.1:${port}/there`)).text()).toBe('served');
  expect(served).toEqual(['/there']);
  await app.close();
});

it('shows the cursor of a list to pages of the origins that may call', async () => {
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: ['https://a.example'] });
  app.get('/page', async (_request, reply) => reply.header('x-next-cursor', 'next').send({}));
  const ask = (origin: string) => app.inject({ url: '/page', headers: { origin } });
  const { headers } = await ask('https://a.example');
  expect(headers['access-control-allow-origin']).toBe('https://a.example');
  expect(headers['access-control-expose-headers']).toContain('x-next-cursor');
  expect((await ask('https://b.example')).headers).not.toHaveProperty(
    'access-control-allow-origin',
  );
  await app.close();
});

/** A server whose bodies have at most 1 MiB, and an open connection to it. */
async function aReceiver() {
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  app.post('/', async () => 'taken');
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const answer = async () => ((await once(socket, 'data')) as [Buffer])[0].toString();
  const stop = async () => {
    socket.destroy();
    await app.close();
  };
  return { socket, answer, stop };
}

const headOf = (bytes: number) =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;

it('lets the sender of a body that is too large read why, and serves its connection on', async () => {
  const { socket, answer, stop } = await aReceiver();
  const bytes = 5 * 1024 * 1024;
  socket.write(headOf(bytes));
  expect(await answer()).toMatch(/^HTTP\/1\.1 413 /);
  // Sent after the answer, as by a client that reads only once it has sent all.
  socket.write(Buffer.alloc(bytes, ' '));
  socket.write(`${headOf(2)}{}`);
  expect(await answer()).toMatch(/^HTTP\/1\.1 200 /);
  await stop();
});

it('closes the connection of a body that is larger than what it would read and drop', async () => {
  const { socket, answer, stop } = await aReceiver();
  socket.write(headOf(99_999_999));
  expect(await answer()).toMatch(/^HTTP\/1\.1 413 .*\r\nconnection: close\r\n/is);
  await stop();
});
