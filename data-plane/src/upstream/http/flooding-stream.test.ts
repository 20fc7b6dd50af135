/** Streams that bring more than can be read are ended; undici is never paused for them. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { Agent } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { HttpExchange } from './http-exchange.ts';

const EVENT = 'data: {}\n\n';
const open = new Set<Socket>();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const socket of open) socket.destroy();
  for (const close of closers.splice(0)) await close();
});

/** An answer without a length, as HTTP/1.0 has it: it ends with its connection. */
async function ask(say: (socket: Socket) => void, costMs: number) {
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
      say(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent();
  closers.push(
    () => agent.destroy(),
    () => server.close(),
  );
  let messages = 0;
  const error = await new Promise<Error | null>((resolve) => {
    const exchange = new HttpExchange(
      {
        onMessage: () => {
          messages++;
          const begun = performance.now();
          while (performance.now() - begun < costMs);
        },
        onEnd: (_status, fault) => resolve(fault),
      },
      1024,
    );
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    agent.dispatch({ origin, path: '/', method: 'GET' }, exchange);
  });
  return { messages, error };
}

it('one that is costly to read and ends with its connection ends well', async () => {
  const { messages, error } = await ask((socket) => socket.end(EVENT.repeat(10)), 5);
  expect(error).toBeNull();
  expect(messages).toBe(10);
});

it('one that takes all the time is ended', async () => {
  const flood = (socket: Socket) => {
    const more = () => {
      if (!socket.destroyed) socket.write(EVENT.repeat(50), () => setImmediate(more));
    };
    more();
  };
  const { error } = await ask(flood, 2);
  expect(error).toMatchObject({ kind: 'too_large', message: 'a stream of more than can be read' });
});
