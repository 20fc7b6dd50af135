/** After an outage, with the pauses of production: everything is caught up within seconds, unasked. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDataPlaneCore, type DataPlaneCore } from '../core/data-plane-core.ts';
import { connectControlPlane } from '../registration/connect.ts';
import { aBundle, aBundleSigner } from '../testing/test-bundles.ts';
import { until } from '../testing/test-control-plane.ts';
import {
  type HttpControlPlane,
  startHttpControlPlane,
} from '../testing/test-http-control-plane.ts';
import { aDecision } from '../testing/test-records.ts';

const told: unknown[][] = [];
const log = {
  info: (...line: unknown[]) => void told.push(line),
  warn: () => undefined,
  error: () => undefined,
};
const signer = aBundleSigner();
const OUTAGE_MS = 8_000;
let dataDir: string;
let server: HttpControlPlane;
let core: DataPlaneCore;
let connections: Awaited<ReturnType<typeof connectControlPlane>>;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'recovery-'));
  server = await startHttpControlPlane({ bundleKeys: [signer.public] });
  core = await createDataPlaneCore({
    dataDir,
    version: '1.0.0',
    log,
    onFatal: (error) => {
      throw error;
    },
    shipDelayMs: 5,
    readUsedShare: async () => 0,
    loadPolicy: async () => ({ evaluate: () => ({ ok: false, fault: 'trap', message: '' }) }),
  });
  connections = await connectControlPlane({
    core,
    dataDir,
    cpUrl: server.url,
    tokens: ['root-token'],
    region: null,
    version: '1.0.0',
    label: 'here',
    log,
  });
});

afterEach(async () => {
  await connections.stop();
  await core.stop(50);
  await server.stop();
  rmSync(dataDir, { recursive: true });
});

const role = (name: string) => ({
  kind: 'role',
  key: name,
  value: { id: name, name, permissions: [], resource_scopes: [] },
});

it('has the newest facts, rules and records by itself', async () => {
  const { tenantId } = server;
  const bundle = (revision: number) => aBundle({ tenantId, revision, signer });
  const tenant = () => core.status().tenants[0];
  await until(() => tenant() !== undefined);
  server.plane().offer(bundle(1));
  server.plane().publish(role('before'));
  await until(() => tenant()?.bundle.active?.revision === 1 && core.replica.cursor(tenantId) === 1);

  server.intercept((request) => {
    request.socket.destroy();
    return true;
  });
  server.plane().announce();
  await core.ledger.append(tenantId, aDecision());
  await until(() => tenant()?.shipper.state === 'retrying');
  await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
  expect(tenant()?.control_plane.state).toBe('unreachable');
  server.plane().publish(role('after'));
  server.plane().offer(bundle(2));

  server.intercept(null);
  // The pauses themselves are proven in link/contact.test.ts.
  await until(() => core.replica.cursor(tenantId) === 2);
  await until(() => tenant()?.bundle.active?.revision === 2 && tenant()?.shipper.backlog === 0);
  expect(tenant()?.control_plane.state).toBe('connected');
  expect(told).toContainEqual([
    { tenantId, awaySince: expect.any(String) },
    'the control plane answers again',
  ]);
}, 30_000);
