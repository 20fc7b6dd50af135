/** Two workers on real sockets: what one forwards to the other, and what comes back. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHttpServer } from '@governance/shared/http/http-server';
import fc from 'fast-check';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pino } from 'pino';
import { request as ask, Client } from 'undici';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { GatewayError } from '../gateway/json-rpc.ts';
import { type JoinedWorkers, joinWorkers } from './join-workers.ts';
import { socketPath } from './worker-place.ts';
import { createWorkerSessions } from './worker-sessions.ts';

const BODY_BYTES = 64 * 1024;
/** More than the buffers of two sockets hold. */
const LARGE_BYTES = 16 * 1024 * 1024;

interface TestWorker {
  app: FastifyInstance;
  joined: JoinedWorkers;
  url: string;
  /** Requests that this worker served itself. */
  served: { method: string; body: string; headers: FastifyRequest['headers'] }[];
  /** Requests in progress whose client left. */
  gone: number;
  stop(): Promise<void>;
}

let socketDir: string;
let workers: TestWorker[];

beforeEach(async () => {
  socketDir = mkdtempSync(join(tmpdir(), 'sockets-'));
  workers = [await startWorker(1), await startWorker(2)];
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  rmSync(socketDir, { recursive: true, force: true });
});

async function startWorker(number: number): Promise<TestWorker> {
  const app = createHttpServer({ log: pino({ level: 'silent' }), corsOrigins: [] });
  const joined = joinWorkers(
    { task: 'serve', worker: number, count: 2, socketDir },
    { bodyBytes: BODY_BYTES },
  );
  const worker: TestWorker = { app, joined, url: '', served: [], gone: 0, stop: async () => {} };
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const { method, headers } = request;
    worker.served.push({ method, headers, body: String(request.body ?? '') });
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) worker.gone++;
    });
    await answer(request, reply, number);
    return reply;
  };
  app.addHook('preClose', async () => joined.sessions?.endStreams());
  await app.register(async (scope) => {
    scope.addHook('onRequest', (request, reply, done) => {
      try {
        const passed = joined.sessions?.passOn(request, reply);
        if (passed === undefined) done();
        else passed.catch(done);
      } catch (error) {
        done(error as Error);
      }
    });
    scope.setErrorHandler((error, _request, reply) => {
      const { status = 500, message } = error as GatewayError;
      return reply.code(status).send(message);
    });
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    );
    for (const method of ['GET', 'POST', 'DELETE'] as const) {
      scope.route({ method, url: '/mcp', handler: serve, exposeHeadRoute: false });
    }
  });
  await joined.listen(app);
  // In place of the supervisor, which hands over accepted connections.
  const port: Server = createServer({ pauseOnConnect: true }, (socket) => {
    if (joined.accept(socket)) socket.resume();
    else socket.destroy();
  });
  await new Promise<void>((resolve) => port.listen(0, '127.0.0.1', resolve));
  const address = port.address();
  worker.url = `http://127.0.0.1:${(address as { port: number }).port}`;
  worker.stop = async () => {
    port.close();
    await joined.close();
  };
  return worker;
}

async function answer(request: FastifyRequest, reply: FastifyReply, by: number): Promise<void> {
  const { wanted } = request.headers;
  reply.header('x-by', String(by));
  switch (wanted) {
    case 'events':
      reply.hijack();
      reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'x-by': String(by) });
      for (let n = 1; !reply.raw.destroyed; n++) {
        reply.raw.write(`data: ${n}\n\n`);
        await sleep(10);
      }
      return;
    case 'never':
      await new Promise((resolve) => reply.raw.once('close', resolve));
      return;
    case 'large':
      reply.send(Buffer.alloc(LARGE_BYTES, 'x'));
      return;
    case 'nothing':
      reply.code(204).send();
      return;
    default:
      reply.code(wanted === 'refusal' ? 401 : 200).send(`served by ${by}`);
  }
}

const worker = (number: number) => workers[number - 1] as TestWorker;
const sessionOf = (number: number) => `w${number}.${'r'.repeat(43)}`;

function send(to: number, session: string, over: Record<string, unknown> = {}) {
  const { headers, ...rest } = over as { headers?: Record<string, string> };
  return ask(`${worker(to).url}/mcp`, {
    method: 'POST',
    body: '{"x":"é"}',
    headers: { 'mcp-session-id': session, 'content-type': 'application/json', ...headers },
    ...rest,
  });
}

it('forwards a request unchanged to the worker that its session id names', async () => {
  expect(worker(2).joined.sessions?.nameSession('abc')).toBe('w2.abc');
  const headers = { authorization: 'Basic x', 'x-requester-id': 'Zoë', connection: 'keep-alive' };
  for (const [to, owner] of [
    [1, 2],
    [2, 1],
    [1, 1],
  ] as const) {
    const answered = await send(to, sessionOf(owner), { headers });
    expect(await answered.body.text()).toBe(`served by ${owner}`);
    expect(answered.headers['x-by']).toBe(String(owner));
    expect(worker(owner).served.at(-1)).toMatchObject({
      method: 'POST',
      body: '{"x":"é"}',
      headers: { authorization: 'Basic x', 'mcp-session-id': sessionOf(owner) },
    });
  }
  const refused = await send(1, sessionOf(2), { headers: { wanted: 'refusal' } });
  expect([refused.statusCode, await refused.body.text()]).toEqual([401, 'served by 2']);
  const ended = await send(1, sessionOf(2), {
    method: 'DELETE',
    body: null,
    headers: { wanted: 'nothing' },
  });
  expect([ended.statusCode, await ended.body.text()]).toEqual([204, '']);
  expect(worker(2).served.at(-1)?.method).toBe('DELETE');
});

it('forwards large bodies, in pieces and whole', async () => {
  const pieces = Array.from({ length: 20 }, (_, n) => String(n % 10).repeat(10_000));
  const sent = await send(1, sessionOf(2), { body: Readable.from(pieces) });
  expect(await sent.body.text()).toBe('served by 2');
  expect(worker(2).served.at(-1)?.body).toBe(pieces.join(''));
  expect(worker(2).served.at(-1)?.headers['content-length']).toBeUndefined();

  const answered = await send(1, sessionOf(2), { headers: { wanted: 'large' } });
  // A reader slower than the owner.
  await sleep(50);
  let bytes = 0;
  for await (const chunk of answered.body) bytes += (chunk as Buffer).length;
  expect(bytes).toBe(LARGE_BYTES);
});

it.each([
  'none',
  'w3.x',
  'w0.x',
  'w02.x',
  'w2',
  'W2.x',
  'w2,w1.x',
])('serves the session %j itself: no other worker can have it', async (session) => {
  const answered = await send(1, session);
  expect(await answered.body.text()).toBe('served by 1');
  expect(worker(2).served).toEqual([]);
});

it('streams an answer, and passes on its end in both directions', async () => {
  const client = new AbortController();
  const stream = await ask(`${worker(1).url}/mcp`, {
    headers: { 'mcp-session-id': sessionOf(2), wanted: 'events' },
    signal: client.signal,
  });
  expect(stream.headers['content-type']).toBe('text/event-stream');
  const seen: string[] = [];
  for await (const chunk of stream.body) {
    seen.push(String(chunk));
    if (seen.join('').includes('data: 3')) break;
  }
  // It never ends, so anything that arrives arrives before its end.
  expect(seen.join('')).toMatch(/^data: 1\n\ndata: 2\n\n/);
  await vi.waitFor(() => expect(worker(2).gone).toBe(1));

  // A client that leaves before there is an answer.
  const waiting = send(1, sessionOf(2), { headers: { wanted: 'never' }, signal: client.signal });
  await vi.waitFor(() => expect(worker(2).served).toHaveLength(2));
  client.abort();
  await expect(waiting).rejects.toThrow();
  await vi.waitFor(() => expect(worker(2).gone).toBe(2));

  // The owner ends: an answer in progress breaks off.
  const other = await ask(`${worker(1).url}/mcp`, {
    headers: { 'mcp-session-id': sessionOf(2), wanted: 'events' },
  });
  const read = (async () => {
    for await (const _chunk of other.body);
  })();
  worker(2).app.server.closeAllConnections();
  await expect(read).rejects.toThrow();
});

it('knows no session of a worker that is down, and reaches its successor for the next', async () => {
  const client = new Client(worker(1).url);
  const call = () =>
    client.request({
      method: 'POST',
      path: '/mcp',
      body: 'x'.repeat(BODY_BYTES),
      headers: { 'mcp-session-id': sessionOf(2), 'content-type': 'application/json' },
    });
  await (await call()).body.text();
  const waiting = send(1, sessionOf(2), { headers: { wanted: 'never' } });
  await vi.waitFor(() => expect(worker(2).served).toHaveLength(2));
  const stopped = worker(2).stop();
  worker(2).app.server.closeAllConnections();
  const broken = await waiting;
  expect(broken.statusCode).toBe(503);
  expect(await broken.body.text()).toContain('ended meanwhile');
  await stopped;
  for (let n = 0; n < 3; n++) {
    const gone = await call();
    expect([gone.statusCode, await gone.body.text()]).toEqual([404, 'No such session.']);
  }
  workers[1] = await startWorker(2);
  expect(await (await call()).body.text()).toBe('served by 2');
  await client.close();
});

it('forwards nothing that came from a worker, and nothing too large', async () => {
  const large = await send(1, sessionOf(2), { body: 'x'.repeat(BODY_BYTES + 1) });
  expect(large.statusCode).toBe(413);
  await large.body.dump();
  expect(worker(2).served).toEqual([]);

  const path = socketPath(socketDir, 1);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(path);
    let got = '';
    socket.on('data', (chunk) => {
      got += chunk;
    });
    socket.on('end', () => resolve(got));
    socket.on('error', reject);
    socket.write(
      `DELETE /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\nMcp-Session-Id: ${sessionOf(2)}\r\n\r\n`,
    );
  });
  expect(text).toContain('served by 1');
  expect(worker(2).served).toEqual([]);
});

it('stops only once requests under way were answered', async () => {
  let isStopped = false;
  const client = new AbortController();
  const waiting = send(1, sessionOf(1), { headers: { wanted: 'never' }, signal: client.signal });
  await vi.waitFor(() => expect(worker(1).served).toHaveLength(1));
  const stopped = worker(1)
    .stop()
    .then(() => (isStopped = true));
  await sleep(100);
  expect(isStopped).toBe(false);
  client.abort();
  await expect(waiting).rejects.toThrow();
  await stopped;
});

it('forwards any id to the existing worker that it names, and never to itself', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 64 }),
      fc.integer({ min: 1, max: 64 }),
      fc.oneof(
        fc.string(),
        fc.string().map((rest) => `w${rest}`),
        fc.array(fc.string()),
      ),
      fc.nat({ max: 70 }),
      (count, own, anything, named) => {
        fc.pre(own <= count);
        const asked: number[] = [];
        const sessions = createWorkerSessions({
          worker: own,
          count,
          wayTo: (owner) => {
            asked.push(owner);
            throw new Error('asked');
          },
          isThere: async () => true,
          isPrivate: () => false,
          bodyBytes: BODY_BYTES,
        });
        const pass = (id: string | string[]) => {
          const headers = { 'mcp-session-id': id };
          const raw = { once: () => {}, off: () => {}, destroyed: true };
          const request = { method: 'GET', headers, raw: { headers, rawHeaders: [] } };
          // The members of a request and its reply that passOn reads before it asks the owner.
          const passed = sessions.passOn(
            request as unknown as FastifyRequest,
            { raw } as unknown as FastifyReply,
          );
          passed?.catch(() => undefined);
          return passed;
        };
        void pass(anything);
        expect(asked.every((owner) => owner !== own && owner >= 1 && owner <= count)).toBe(true);
        asked.length = 0;
        void pass(`w${named}.secret`);
        expect(asked).toEqual(named >= 1 && named <= count && named !== own ? [named] : []);
        expect(pass(sessions.nameSession('secret'))).toBeUndefined();
      },
    ),
    { numRuns: 300 },
  );
});
