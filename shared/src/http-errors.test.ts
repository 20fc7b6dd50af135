import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { createErrorHandler } from './http-errors.ts';
import { createHttpServer } from './http-server.ts';
import { createLog } from './log.ts';

it.each([
  ['undefined', undefined],
  ['null', null],
  ['a text', 'secret: the database said no'],
  ['an error', new Error('secret: the database said no')],
])('%s that a handler threw is a 500 with a request id and nothing else', async (_what, thrown) => {
  const logged: string[] = [];
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      logged.push(String(chunk));
      done();
    },
  });
  const app = createHttpServer({ log: createLog({ debug: false }, output), corsOrigins: [] });
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
