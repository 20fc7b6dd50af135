/**
 * Data planes reach their control plane over TLS: a certificate of an authority that the operator
 * named is trusted, any other is not, and the log says so.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { afterAll, expect, it, vi } from 'vitest';
import { adminApi } from './support/admin-api.ts';
import { type ServiceProcess, startService } from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Made for these tests alone: CN=localhost, signed by ca.pem, whose key was not kept. */
const folder = join(import.meta.dirname, 'support/tls');
const database = await testDatabase();
const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

/** What stands before a control plane in production: it ends TLS and passes everything on. */
async function startTlsProxy(port: number): Promise<string> {
  const open = new Set<TLSSocket>();
  const server = createServer(
    {
      key: readFileSync(join(folder, 'server.key.pem')),
      cert: readFileSync(join(folder, 'server.pem')),
    },
    (client) => {
      open.add(client);
      const backend = connect(port, '127.0.0.1');
      const end = () => {
        open.delete(client);
        client.destroy();
        backend.destroy();
      };
      for (const socket of [client, backend]) socket.on('error', end).on('close', end);
      client.pipe(backend).pipe(client);
    },
  );
  // A client that does not trust the certificate hangs up.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    for (const client of open) client.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

async function start(env: Record<string, string>, untilShown?: RegExp): Promise<ServiceProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'governance-tls-'));
  closers.push(async () => rmSync(dataDir, { recursive: true, force: true }));
  const service = await startService({ env, dataDir, ...(untilShown && { untilShown }) });
  closers.push(service.stop);
  return service;
}

it('trusts the authority that the operator named, and no other', async () => {
  const controlPlane = await start({
    SERVICE_DEPLOYMENT_MODE: 'control-plane',
    DATABASE_URL: database.url,
  });
  const admin = await adminApi(controlPlane.url, 'admin', controlPlane.adminPassword);
  const { token } = await admin.post<{ token: string }>('/api/v1/admin/data-plane-tokens', {
    ...{ label: 'tls', region: 'here' },
  });
  const env = {
    SERVICE_DEPLOYMENT_MODE: 'data-plane',
    SERVICE_CP_URL: await startTlsProxy(Number(new URL(controlPlane.url).port)),
    SERVICE_CP_TOKEN: token,
  };
  await start({ ...env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') });
  const list = () => admin.get<{ total: number }>('/api/v1/data-planes');
  expect(await list()).toMatchObject({ total: 1, data_planes: [{ status: 'online' }] });

  const other = await start(env, /UNABLE_TO_VERIFY_LEAF_SIGNATURE/);
  expect((await fetch(`${other.url}/ready`).catch(() => null))?.ok ?? false).toBe(false);
  expect(await list()).toMatchObject({ total: 1 });
});
