/** Who hangs up: what was set aside for a body that never came is given back. */
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import Fastify from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { afterAll, expect, it } from 'vitest';
import { payloadUploadRoute } from './payload-upload-route.ts';

const PATH = '/api/v1/data-planes/0190aaaa-0000-7000-8000-00000000000a/payloads';
const JSON_TYPE = 'application/json';

const app = Fastify().withTypeProvider<ZodTypeProvider>();
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
void app.register(payloadUploadRoute({ ingest: async () => ({ results: ['refused'] }) }));

async function hangUpInTheMiddle(): Promise<void> {
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  const asked = once(app.server, 'request');
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nHost: here\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 9\r\n\r\n{`,
  );
  const [, response] = await asked;
  const closed = once(response, 'close');
  socket.destroy();
  await closed;
  await new Promise((resolve) => setImmediate(resolve));
}

it.each([
  ['while its body is read', false],
  ['while its token is looked up', true],
])('one that hangs up %s leaves room for the next', async (_, isWaiting) => {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  isWaitingForEnd = isWaiting;
  // One sender has room for one at a time.
  for (let i = 0; i < 2; i++) await hangUpInTheMiddle();
  isWaitingForEnd = false;
  const answer = await app.inject({ method: 'POST', url: PATH, payload: { payloads: [] } });
  expect(answer.statusCode, answer.body).toBe(200);
});
