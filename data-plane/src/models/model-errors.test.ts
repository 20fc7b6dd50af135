import { createHttpServer } from '@governance/shared/http/http-server';
import { createLog } from '@governance/shared/process/log';
import { expect, it } from 'vitest';
import { answerError } from './model-errors.ts';

it.each([
  ['undefined', undefined],
  ['null', null],
  ['an error', new Error('secret')],
])('%s that was thrown is a 500 in the words of the client', async (_what, thrown) => {
  const log = createLog({ debug: false }, { write: () => {} });
  const app = createHttpServer({ log, corsOrigins: [] });
  app.route({
    method: 'GET',
    url: '/throws',
    errorHandler: (error, request, reply) => answerError(error, 'openai', request, reply),
    handler: async () => {
      throw thrown;
    },
  });
  const answer = await app.inject({ method: 'GET', url: '/throws' });
  expect(answer.statusCode).toBe(500);
  expect(answer.json()).toMatchObject({ error: { type: 'governance', code: 'internal' } });
  expect(answer.body).not.toContain('secret');
  await app.close();
});
