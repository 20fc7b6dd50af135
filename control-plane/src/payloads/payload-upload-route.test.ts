/** Who hangs up: what was set aside for a body that never came is given back. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { afterAll, expect, it } from 'vitest';
import { hangUpInTheMiddle } from '../../../tests/support/hang-up.ts';
import { payloadUploadRoute } from './payload-upload-route.ts';

const PATH = '/api/v1/data-planes/0190aaaa-0000-7000-8000-00000000000a/payloads';
const JSON_TYPE = 'application/json';

// A client keeps its connections for seconds, and one that left in the middle for a minute.
const app = Fastify({ forceCloseConnections: true }).withTypeProvider<ZodTypeProvider>();
afterAll(() => app.close());
app.setSerializerCompiler(serializerCompiler);
app.setValidatorCompiler(() => (value) => ({ value }));
app.decorateRequest('dataPlane', {
  getter: () => ({ tenantId: 'a', tokenId: '', deploymentId: null, region: '', hasEnded: false }),
});
/** As the route's guard, which asks the database: it is done when the caller has gone, or at once. */
let isWaitingForEnd = false;
app.addHook('onRequest', async (_request, reply) => {
  if (isWaitingForEnd) await once(reply.raw, 'close');
});
/** What is stored waits for this, as for a database or a provider of keys. */
let storing: Promise<unknown> = Promise.resolve();
let inWork = 0;
void app.register(
  payloadUploadRoute({
    ingest: async () => {
      inWork += 1;
      await storing;
      inWork -= 1;
      return { results: ['refused'] };
    },
  }),
);

const body = { path: PATH, contentType: JSON_TYPE, bytes: 9 };

it.each([
  ['while its body is read', false],
  ['while its token is looked up', true],
])('one that hangs up %s leaves room for the next', async (_, isWaiting) => {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  isWaitingForEnd = isWaiting;
  // One sender has room for one at a time.
  for (let i = 0; i < 2; i++) await hangUpInTheMiddle(app.server, body);
  isWaitingForEnd = false;
  const answer = await app.inject({ method: 'POST', url: PATH, payload: { payloads: [] } });
  expect(answer.statusCode, answer.body).toBe(200);
});

it('one that hangs up while its payloads are stored has no room for others meanwhile', async () => {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  let resolve = () => {};
  storing = new Promise<void>((done) => {
    resolve = done;
  });
  const send = () => app.inject({ method: 'POST', url: PATH, payload: { payloads: [] } });
  const { port } = app.server.address() as AddressInfo;
  const leaving = new AbortController();
  const asked = once(app.server, 'request');
  const headers = { 'content-type': JSON_TYPE };
  const request = { method: 'POST', body: '{}', headers, signal: leaving.signal };
  const left = expect(fetch(`http://127.0.0.1:${port}${PATH}`, request)).rejects.toThrow();
  const [, answer] = await asked;
  await expect.poll(() => inWork).toBe(1);
  const closed = once(answer, 'close');
  leaving.abort();
  await Promise.all([left, closed]);
  expect((await send()).statusCode).toBe(503);
  resolve();
  await expect.poll(() => inWork).toBe(0);
  expect((await send()).statusCode).toBe(200);
});
