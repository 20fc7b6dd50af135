/** Streams that bring more than can be read are ended; undici is never paused for them. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { Agent } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { HttpExchange } from './http-exchange.ts';
import { createReadingTimes } from './reading-times.ts';

const EVENT = 'data: {}\n\n';
const open = new Set<Socket>();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const socket of open) socket.destroy();
  for (const close of closers.splice(0)) await close();
});

/** An answer without a length, as HTTP/1.0 has it: it ends with its connection. */
async function ask(
  say: (socket: Socket) => void,
  costMs: number,
  spendReading: HttpExchange['spendReading'] = null,
) {
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
    exchange.spendReading = spendReading;
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

function flood(socket: Socket): void {
  const more = () => {
    if (!socket.destroyed) socket.write(EVENT.repeat(50), () => setImmediate(more));
  };
  more();
}

it('one that takes all the time is ended', async () => {
  const { error } = await ask(flood, 2);
  expect(error).toMatchObject({ kind: 'too_large', message: 'a stream of more than can be read' });
});

it('many of one agent that take all the time together are ended, and its calm one is not', async () => {
  const spend = createReadingTimes();
  const of = (agent: string) => (begun: number, ended: number) => spend(agent, begun, ended);
  const calm = (socket: Socket) => {
    const timer = setInterval(() => socket.write(EVENT), 100);
    setTimeout(() => {
      clearInterval(timer);
      socket.end(EVENT);
    }, 2_500);
  };
  const begun = performance.now();
  const calmOne = ask(calm, 0.1, of('a'));
  const others = await Promise.all(Array.from({ length: 20 }, () => ask(flood, 2, of('a'))));
  expect(performance.now() - begun).toBeLessThan(10_000);
  for (const { error } of others) expect(error).toMatchObject({ kind: 'too_large' });
  expect((await calmOne).error).toBeNull();
});

it('one that brings little is not ended, however much the others of its agent take', async () => {
  const { messages, error } = await ask(
    (socket) => socket.end(EVENT.repeat(20)),
    5,
    () => true,
  );
  expect(error).toBeNull();
  expect(messages).toBe(20);
});

it('the reading of an agent is counted by itself, and forgotten as time passes', () => {
  const spend = createReadingTimes();
  expect(spend('a', 0, 400)).toBe(false);
  expect(spend('a', 400, 1_400)).toBe(true);
  expect(spend('b', 1_400, 1_410)).toBe(false);
  expect(spend('a', 1_400, 1_410)).toBe(true);
  expect(spend('a', 3_000, 3_010)).toBe(false);
  // However long it was too much, what came before holds for a second at most.
  for (let at = 3_010; at < 60_000; at += 100) spend('a', at, at + 100);
  expect(spend('a', 62_000, 62_010)).toBe(false);
});
