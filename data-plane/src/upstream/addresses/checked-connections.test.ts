import { lookup } from 'node:dns';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Dispatcher } from 'undici';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { createCheckedConnections } from './checked-connections.ts';

afterEach(() => void vi.useRealTimers());

/** A connection's requests are answered with its number; nothing says how long it may be idle. */
const answer = (connection: number) =>
  `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1\r\n\r\n${connection}`;

function connections() {
  const made = createCheckedConnections({ lookup, isPrivateOpen: () => true }, 1000);
  onTestFinished(() => made.destroy());
  class Client extends Dispatcher {
    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
      return made.dispatch(options, handler);
    }
  }
  const client = new Client();
  return async (port: number) => {
    const origin = `http://127.0.0.1:${port}`;
    const { body } = await client.request({ origin, path: '/', method: 'POST', body: '{}' });
    const connection = Number(await body.text());
    // A connection can be used again a turn of the event loop later.
    await turn();
    return connection;
  };
}

/** Counts connections and requests, and closes an idle connection while this thread waits for it. */
const CLOSING_SERVER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const flags = new Int32Array(workerData);
  const sockets = new Set();
  let connections = 0;
  const server = require('node:net').createServer((socket) => {
    const number = ++connections;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => {
      Atomics.add(flags, 1, 1);
      socket.write(${JSON.stringify(answer(0)).slice(0, -2)}" + number);
    });
  });
  parentPort.on('message', () => {
    for (const socket of sockets) {
      socket.on('close', () => { Atomics.store(flags, 0, 1); Atomics.notify(flags, 0); });
      socket.destroy();
    }
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

it('a call is not sent on a connection that its server has just closed', async () => {
  const shared = new SharedArrayBuffer(8);
  const flags = new Int32Array(shared);
  const server = new Worker(CLOSING_SERVER, { eval: true, workerData: shared });
  onTestFinished(() => void server.terminate());
  const [port] = await once(server, 'message');
  const request = connections();
  expect(await request(port)).toBe(1);
  server.postMessage('close');
  // This thread hears nothing of the end before it sends.
  Atomics.wait(flags, 0, 0);
  expect(await request(port)).toBe(2);
  expect(flags[1]).toBe(2);
});

it('a call whose connection ends once it was read is not repeated', async () => {
  let requests = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => {
      requests += 1;
      if (requests === 1) socket.write(answer(1));
      else socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const request = connections();
  expect(await request(port)).toBe(1);
  await expect(request(port)).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  expect(requests).toBe(2);
});

it('an idle connection ends before most servers would end it', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const number = sockets.push(socket);
    socket.on('data', () => socket.write(answer(number)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const request = connections();
  expect(await request(port)).toBe(1);
  vi.advanceTimersByTime(3_000);
  expect(await request(port)).toBe(1);
  const ended = once(sockets[0] as Socket, 'close');
  vi.advanceTimersByTime(4_000);
  await ended;
  expect(await request(port)).toBe(2);
});
