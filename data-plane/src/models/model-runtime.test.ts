/** A client that does not read what its model says, over real sockets. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { FastifyReply } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { UpstreamExchange } from '../upstream/upstream.ts';
import { ModelReply } from './model-reply.ts';
import { createModelRuntime, type ModelRuntime } from './model-runtime.ts';

const TIMEOUT_MS = 300;

let upstream: Server;
let front: Server;
let runtime: ModelRuntime;
let bar: string | undefined;
let answer: ReturnType<ModelRuntime['ask']>;

const portOf = (server: Server) => (server.address() as AddressInfo).port;

beforeEach(async () => {
  bar = undefined;
  upstream = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const piece = Buffer.alloc(65_536, 'x');
    const fill = () => {
      while (response.write(piece));
    };
    response.on('drain', fill);
    fill();
  }).listen(0);
  await once(upstream, 'listening');
  runtime = createModelRuntime({
    url: `http://127.0.0.1:${portOf(upstream)}`,
    timeoutMs: TIMEOUT_MS,
    checkMs: 20,
  });
  front = createServer((_, raw) => {
    const exchange = {
      cancellation: { onCancel: null, isCancelled: false },
      findIneligibility: () => bar,
    } as unknown as UpstreamExchange;
    const reply = { raw, getHeaders: () => ({}), hijack: () => reply } as unknown as FastifyReply;
    answer = runtime.ask({ path: '/api/chat', body: '{}' }, exchange, new ModelReply(reply));
  }).listen(0);
  await once(front, 'listening');
  const client = request({ port: portOf(front) }).on('error', () => undefined);
  client.end();
  const [response] = (await once(client, 'response')) as [IncomingMessage];
  response.on('error', () => undefined).pause();
});

afterEach(async () => {
  await runtime.close();
  for (const server of [front, upstream]) {
    server.closeAllConnections();
    server.close();
  }
});

it('is not taken for a runtime that is silent', async () => {
  const longer = new Promise((resolve) => setTimeout(resolve, 2 * TIMEOUT_MS, 'not ended'));
  expect(await Promise.race([answer, longer])).toBe('not ended');
});

it('keeps no stream whose agent may not act any more', async () => {
  bar = 'suspended';
  expect(await answer).toMatchObject({ usage: { status: 200 }, failure: { kind: 'ineligible' } });
});

it('does not keep the service from stopping', async () => {
  const [ended] = await Promise.all([answer, runtime.close()]);
  expect(ended).toMatchObject({ failure: { kind: 'cancelled' } });
});

/** A runtime that answers with these bytes and keeps its connections. */
async function startRuntime(bytes: string) {
  const closed: Promise<unknown>[] = [];
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    closed.push(once(socket, 'close'));
    socket.once('data', () => socket.write(bytes));
  }).listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asked = createModelRuntime({
    ...{ url: `http://127.0.0.1:${port}`, timeoutMs: 5_000, checkMs: 1_000 },
  });
  const exchange = { cancellation: { onCancel: null, isCancelled: false } };
  return {
    closed,
    ask: (client: Parameters<ModelRuntime['ask']>[2]) =>
      asked.ask({ path: '/', body: null }, exchange as unknown as UpstreamExchange, client),
    stop: async () => {
      await asked.close();
      server.close();
    },
  };
}

it('of several content types the first counts, and is passed on', async () => {
  const one = await startRuntime(
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Type: text/html\r\n' +
      'Content-Length: 16\r\n\r\n{"eval_count":7}',
  );
  const asking = createServer((_, raw) => {
    const reply = { raw, getHeaders: () => ({}), hijack: () => reply } as unknown as FastifyReply;
    answer = one.ask(new ModelReply(reply));
  }).listen(0);
  await once(asking, 'listening');
  const got = await fetch(`http://127.0.0.1:${portOf(asking)}`);
  expect([got.headers.get('content-type'), await got.text()]).toEqual([
    'application/json',
    '{"eval_count":7}',
  ]);
  expect(await answer).toMatchObject({ usage: { output_tokens: 7 }, failure: undefined });
  asking.close();
  await one.stop();
});

it('does not keep the connection of an answer that cannot be begun', async () => {
  const one = await startRuntime('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{');
  const client = {
    begin: () => {
      throw new TypeError('no head');
    },
  } as unknown as ModelReply;
  await expect(one.ask(client)).rejects.toThrow('no head');
  await one.closed[0];
  await one.stop();
});
