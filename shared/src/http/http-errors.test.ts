import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { AppError } from '../errors.ts';
import { createLog } from '../process/log.ts';
import { createErrorHandler, RequestInvalid } from './http-errors.ts';
import { createHttpServer } from './http-server.ts';

/** A server, and what it logged. */
function aServer() {
  const logged: string[] = [];
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      logged.push(String(chunk));
      done();
    },
  });
  const app = createHttpServer({ log: createLog({ debug: false }, output), corsOrigins: [] });
  return { app, logged };
}

it.each([
  ['undefined', undefined],
  ['null', null],
  ['a text', 'secret: the database said no'],
  ['an error', new Error('secret: the database said no')],
])('%s that a handler threw is a 500 with a request id and nothing else', async (_what, thrown) => {
  const { app, logged } = aServer();
  app.get('/late', async () => {
    throw thrown;
  });
  app.get('/at-once', () => {
    throw thrown;
  });
  await app.register(async (plane) => {
    plane.setErrorHandler(createErrorHandler(() => false));
    plane.get('/of-a-plane', async () => {
      throw thrown;
    });
  });
  for (const url of ['/late', '/at-once', '/of-a-plane']) {
    const answer = await app.inject({ method: 'GET', url });
    expect(answer.statusCode).toBe(500);
    expect(answer.json()).toEqual({
      detail: expect.stringMatching(
        /^Something went wrong on our side\. Request id: [0-9a-f-]{36}$/,
      ),
    });
  }
  expect(logged.filter((line) => line.includes('unexpected error'))).toHaveLength(3);
  // What was thrown, not how it was answered.
  expect(logged.join()).not.toContain('TypeError');
  await app.close();
});

it('says of a field that is missing that it is required, and each thing once', async () => {
  const { app } = aServer();
  const issues = z
    .object({ from: z.string(), list: z.array(z.number()), url: z.url({ error: 'is no URL' }) })
    .refine(() => false, { error: 'is no URL', path: ['url'], when: () => true })
    .safeParse({ list: ['a'], url: '127.0.0.1' }).error?.issues;
  app.get('/invalid', async () => {
    throw new RequestInvalid(issues ?? []);
  });
  const answer = await app.inject({ method: 'GET', url: '/invalid' });
  expect(answer.statusCode).toBe(422);
  expect(answer.json().detail).toBe(
    'body.from: is required: expected string; ' +
      'body.list.0: Invalid input: expected number, received string; body.url: is no URL',
  );
  expect(answer.json().errors).toHaveLength(4);
  await app.close();
});

it('says of a request without a body that it is required', async () => {
  const { app } = aServer();
  app.post('/invalid', async ({ body }) => {
    throw new RequestInvalid(z.object({}).safeParse(body ?? null).error?.issues ?? []);
  });
  const answer = await app.inject({ method: 'POST', url: '/invalid' });
  expect(answer.json().detail).toBe('body: is required: expected object');
  await app.close();
});

it('an answer of another form that fails before its first byte is a 500 like any other', async () => {
  const { app } = aServer();
  app.get('/lines', async (_request, reply) => {
    const lines = Readable.from(
      (async function* () {
        yield* await Promise.reject<string[]>(new Error('secret'));
      })(),
    );
    return reply.header('content-type', 'application/x-ndjson').send(lines);
  });
  const answer = await app.inject({ method: 'GET', url: '/lines' });
  expect(answer.statusCode).toBe(500);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.json()).toEqual({ detail: expect.stringContaining('Request id') });
  await app.close();
});

it('says of an outage once in five seconds that requests fail, and how many more did', async () => {
  const { app, logged } = aServer();
  const away = new Error('connect ECONNREFUSED');
  await app.register(async (plane) => {
    plane.setErrorHandler(createErrorHandler((error) => error === away));
    plane.get('/away', async () => {
      throw away;
    });
    plane.get('/busy', async () => {
      throw new AppError('UNAVAILABLE', 'Too much is under way.');
    });
  });
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const ask = async (path: string) => expect((await app.inject(path)).statusCode).toBe(503);
  const errors = () => logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 50);
  for (const path of ['/away', '/away', '/busy', '/away']) await ask(path);
  expect(errors().map(({ err, msg }) => [err.message, msg])).toEqual([
    ['connect ECONNREFUSED', 'The service cannot answer now: try again.'],
    ['Too much is under way.', 'Too much is under way.'],
  ]);
  now.mockReturnValue(5_000);
  await ask('/away');
  expect(errors()[2]).toMatchObject({ leftOut: 2 });
  now.mockRestore();
  await app.close();
});

it('says with every 503 and 429 when to come back, but to those who know by themselves', async () => {
  const { app } = aServer();
  await app.register(async (plane) => {
    const isPatient = ({ url }: { url: string }) => url.startsWith('/patient');
    plane.setErrorHandler(createErrorHandler(() => true, isPatient));
    for (const who of ['', '/patient']) {
      plane.get(`${who}/away`, async () => {
        throw new Error('connect ECONNREFUSED');
      });
      plane.get(`${who}/often`, async () => {
        throw new AppError('RATE_LIMITED');
      });
      plane.get(`${who}/told`, async () => {
        throw new AppError('UNAVAILABLE', 'Busy.', { retryAfterSeconds: 7 });
      });
    }
  });
  const told = async (path: string) => (await app.inject(path)).headers['retry-after'];
  const paths = ['/away', '/often', '/told', '/patient/away', '/patient/often', '/patient/told'];
  expect(await Promise.all(paths.map(told))).toEqual(['5', '60', '7', undefined, '60', '7']);
  await app.close();
});

it('a caller that leaves is no error; what fails besides is one', async () => {
  const { app, logged } = aServer();
  app.get('/poll', async (_request, reply) => {
    await once(reply.raw, 'close');
    throw new DOMException('it was aborted', 'AbortError');
  });
  app.get('/lines', async (_request, reply) => {
    await once(reply.raw, 'close');
    return reply.send(Readable.from(['a']));
  });
  app.get('/broken', async (_request, reply) => {
    await once(reply.raw, 'close');
    throw new Error('the database said no');
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  for (const path of ['/poll', '/lines', '/broken']) {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    const asked = once(app.server, 'request');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`);
    const [, response] = await asked;
    const closed = once(response, 'close');
    socket.destroy();
    await closed;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const errors = logged.filter((line) => line.includes('unexpected error'));
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain('the database said no');
  await app.close();
});
