/** Who hangs up: what was set aside for a body that never came is given back. */
import { once } from 'node:events';
import { NDJSON } from '@governance/shared/channel/channel-routes';
import Fastify from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { Registry } from 'prom-client';
import { afterAll, expect, it } from 'vitest';
import { hangUpInTheMiddle } from '../../../tests/support/hang-up.ts';
import { auditBatchRoutes } from './audit-batch-routes.ts';

const PATH = '/api/v1/data-planes/0190aaaa-0000-7000-8000-00000000000a/audit-batches';
const BYTES = 7_000;

const app = Fastify().withTypeProvider<ZodTypeProvider>();
afterAll(() => app.close());
app.setSerializerCompiler(serializerCompiler);
app.setValidatorCompiler(() => (value) => ({ value }));
app.setErrorHandler((_error, _request, reply) => void reply.code(422).send({ detail: '' }));
app.decorateRequest('dataPlane', {
  getter: () => ({ tenantId: 'a', tokenId: '', deploymentId: null, region: '', hasEnded: false }),
});
/** As the route's guard, which asks the database: it is done when the caller has gone, or at once. */
let isWaitingForEnd = false;
app.addHook('onRequest', async (_request, reply) => {
  if (isWaitingForEnd) await once(reply.raw, 'close');
});
void app.register(
  auditBatchRoutes({
    registry: new Registry(),
    limits: {
      inWork: { total: 2, perTenant: 2, perSender: 2 },
      bytes: { total: BYTES * 2, perTenant: BYTES + 1, perSender: BYTES + 1 },
    },
    ingest: { ingestBatch: () => Promise.reject(new Error('nothing comes here')) },
  }),
);

const body = { path: PATH, contentType: NDJSON, bytes: BYTES };

it.each([
  ['while its body is read', false],
  ['while its token is looked up', true],
])('one that hangs up %s leaves room for the next', async (_, isWaiting) => {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  isWaitingForEnd = isWaiting;
  for (let i = 0; i < 3; i++) await hangUpInTheMiddle(app.server, body);
  isWaitingForEnd = false;
  const answer = await app.inject({
    method: 'POST',
    url: PATH,
    headers: { 'content-type': NDJSON },
    payload: 'x'.repeat(BYTES),
  });
  expect(answer.statusCode).toBe(422);
});
