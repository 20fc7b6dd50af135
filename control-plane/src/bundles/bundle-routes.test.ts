/** What a large bundle costs where many read it slowly. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { afterAll, expect, it } from 'vitest';
import { bundleRoutes } from './bundle-routes.ts';

const TENANT = '0190aaaa-0000-7000-8000-00000000000a';
const BYTES = 8 * 1024 * 1024;
const READERS = 16;

const app = Fastify().withTypeProvider<ZodTypeProvider>();
const sockets: Socket[] = [];
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await app.close();
});
app.setSerializerCompiler(serializerCompiler);
app.setValidatorCompiler(() => (value) => ({ value }));
app.decorateRequest('dataPlane', {
  getter: () => ({
    tenantId: TENANT,
    tokenId: '',
    deploymentId: null,
    region: '',
    hasEnded: false,
  }),
});
const bundle = { revision: 1, digest: 'a'.repeat(64), bytes: new Uint8Array(BYTES) };
void app.register(
  bundleRoutes({
    bundles: { findCurrent: async () => bundle, pullBundle: async () => null },
    recheck: async () => {},
  }),
);

it('is in memory once, however many have not read it yet', async () => {
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < READERS; i++) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.write(`GET /api/v1/opa/bundle/${TENANT} HTTP/1.1\r\nHost: here\r\n\r\n`);
    await once(socket, 'readable');
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan((READERS / 2) * BYTES);
});
