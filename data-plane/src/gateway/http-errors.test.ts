import { createHttpServer } from '@governance/shared/http-server';
import { createLog } from '@governance/shared/log';
import { expect, it } from 'vitest';
import { createErrorHandler } from './http-errors.ts';

it.each([
  ['undefined', undefined],
  ['null', null],
  ['a text', 'secret'],
  ['an error', new Error('secret')],
])('%s that a handler threw is an internal error and nothing else', async (_what, thrown) => {
  const told: unknown[] = [];
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  const onProtocolError = (...what: unknown[]) => void told.push(what);
  await app.register(async (gateway) => {
    gateway.setErrorHandler(createErrorHandler({ publicUrl: 'https://gateway', onProtocolError }));
    gateway.get('/throws', async () => {
      throw thrown;
    });
  });
  const answer = await app.inject({ method: 'GET', url: '/throws' });
  expect(answer.statusCode).toBe(500);
  expect(answer.json()).toMatchObject({ error: { message: 'Internal error' } });
  expect(answer.body).not.toContain('secret');
  expect(told).toHaveLength(1);
  await app.close();
});
