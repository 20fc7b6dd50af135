/** Who hangs up: the memory that was reserved for a body that never came is given back. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
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
/** What a handler waits for, as for a server. */
let serving: Promise<void> | undefined;
let inWork = 0;
app.post('/', async (request) => {
  inWork += 1;
  await serving;
  inWork -= 1;
  return { bytes: (request.body as Buffer).length };
});

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

it('who does not wait for the answers has no room for more until these are there', async () => {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  let serve = () => {};
  serving = new Promise((done) => {
    serve = done;
  });
  const request = { method: 'POST', body: 'x'.repeat(BYTES) };
  const leaving = new AbortController();
  const left = Array.from({ length: 16 }, () =>
    expect(
      fetch(`http://127.0.0.1:${port}/`, { ...request, signal: leaving.signal }),
    ).rejects.toThrow(),
  );
  await expect.poll(() => inWork).toBe(16);
  leaving.abort();
  await Promise.all(left);
  const connections = () =>
    new Promise((done) => app.server.getConnections((_error, count) => done(count)));
  await expect.poll(connections).toBe(0);
  const answer = () => fetch(`http://127.0.0.1:${port}/`, request);
  expect((await answer()).status).toBe(503);
  serve();
  await expect.poll(() => inWork).toBe(0);
  expect(await (await answer()).json()).toEqual({ bytes: BYTES });
});
