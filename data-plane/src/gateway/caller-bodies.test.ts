/** Who hangs up: the memory that was reserved for a body that never came is given back. */
import { once } from 'node:events';
import Fastify from 'fastify';
import { afterAll, expect, it } from 'vitest';
import { hangUpInTheMiddle } from '../../../tests/support/hang-up.ts';
import { readCallerBodies } from './caller-bodies.ts';
import type { GatewayError } from './json-rpc.ts';

const BYTES = 1_000;

const app = Fastify();
afterAll(() => app.close());
app.setErrorHandler((error, _request, reply) => {
  void reply.code((error as GatewayError).status ?? 500).send({ detail: String(error) });
});
/** As the token's verification: it is done when the caller has gone, or at once. */
let isWaitingForEnd = false;
app.addHook('onRequest', async (_request, reply) => {
  if (isWaitingForEnd) await once(reply.raw, 'close');
});
readCallerBodies(app, '*', BYTES);
app.post('/', async (request) => ({ bytes: (request.body as Buffer).length }));

const body = { path: '/', contentType: 'text/plain', bytes: BYTES };

it.each([
  ['while its body is read', false],
  ['while its token is verified', true],
])('one that hangs up %s leaves room for the next', async (_, isWaiting) => {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  isWaitingForEnd = isWaiting;
  // One more than there is room for.
  for (let i = 0; i < 17; i++) await hangUpInTheMiddle(app.server, body);
  isWaitingForEnd = false;
  const answer = await app.inject({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'text/plain' },
    payload: 'x'.repeat(BYTES),
  });
  expect(answer.json()).toEqual({ bytes: BYTES });
});
