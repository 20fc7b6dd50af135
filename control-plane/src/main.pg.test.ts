import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '@governance/shared/process/log';
import pg from 'pg';
import { expect, inject, it, vi } from 'vitest';
import { dropDatabase, testDatabase } from '../../tests/support/test-database.ts';
import { createControlPlane, parseControlPlaneConfig } from './main.ts';

// Each starts a compiler and reads a schema engine.
vi.setConfig({ testTimeout: 90_000 });

/** What a replica of the control plane needs to start on a database. */
function aConfig(url: string, dataDir: string) {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return parseControlPlaneConfig({
    DATABASE_URL: url,
    SERVICE_DATA_DIR: dataDir,
    SERVICE_ADMIN_PASSWORD: 'the administrator’s password',
    SERVICE_MASTER_KEY: randomBytes(32).toString('base64'),
    SERVICE_JWT_PRIVATE_KEY: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    SERVICE_JWT_PUBLIC_KEY: keys.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    SERVICE_DB_POOL_SIZE: '3',
    SERVICE_DB_MAX_OVERFLOW: '0',
  });
}

it('two replicas that start at once on a database with nothing in it agree on everything', async () => {
  const { superuserUrl, ownerUrl } = inject('postgres');
  const name = `test_first_start_${randomBytes(4).toString('hex')}`;
  const url = new URL(ownerUrl);
  url.pathname = `/${name}`;
  const admin = new pg.Client({ connectionString: superuserUrl });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name} OWNER governance_tests`);
  const dataDir = mkdtempSync(join(tmpdir(), 'governance-replicas-'));
  const config = aConfig(url.href, dataDir);
  const log = createLog({ debug: false }, { write: () => {} });
  const replicas = await Promise.all(
    [1, 2].map(async () => {
      const replica = await createControlPlane(config, { log });
      await replica.start();
      return replica;
    }),
  );
  try {
    const tenants = await Promise.all(replicas.map((replica) => replica.tenants.listIds()));
    expect(tenants[0]).toHaveLength(1);
    expect(tenants).toEqual([tenants[0], tenants[0]]);
    const signing = await Promise.all(
      replicas.map(async ({ serviceKeys }) => [
        (await serviceKeys.bundleSigningKey()).kid,
        (await serviceKeys.feedSigningKey()).kid,
        (await serviceKeys.bundleVerificationKeys()).length,
      ]),
    );
    expect(signing).toEqual([signing[0], signing[0]]);
    expect(signing[0]?.[2]).toBe(1);
    const [tenantId = ''] = tenants[0] ?? [];
    const bundles = await Promise.all(
      replicas.map(({ bundleSource }) => bundleSource.findCurrent(tenantId)),
    );
    expect(bundles[0]?.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(bundles.map((bundle) => bundle?.digest)).toEqual(bundles.map(() => bundles[0]?.digest));
    // A third one without the master key, as after a restore that forgot its file.
    await expect(createControlPlane({ ...config, masterKey: undefined }, { log })).rejects.toThrow(
      'the master key of this database is missing',
    );
    expect(existsSync(join(dataDir, 'master-key'))).toBe(false);
  } finally {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await dropDatabase(admin, name);
    await admin.end();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it('a database of a newer version is served with a warning, as in an upgrade that is rolled out', async () => {
  const { url, superuser } = await testDatabase();
  const aMigration = `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, rolled_back_at)`;
  await superuser.query(`${aMigration} VALUES
    ('1', '', '9001_newer', now(), NULL), ('2', '', '9002_newest', now(), NULL),
    ('3', '', '9003_failed', NULL, NULL), ('4', '', '9004_undone', now(), now())`);
  const dataDir = mkdtempSync(join(tmpdir(), 'governance-newer-'));
  const lines: string[] = [];
  const log = createLog({ debug: false }, { write: (line) => lines.push(line) });
  const controlPlane = await createControlPlane(aConfig(url, dataDir), { log });
  await controlPlane.stop();
  rmSync(dataDir, { recursive: true, force: true });
  const [warning, ...others] = lines
    .map((line) => JSON.parse(line) as { msg: string; migrations?: string[] })
    .filter(({ migrations }) => migrations);
  expect(warning?.migrations).toEqual(['9001_newer', '9002_newest']);
  expect(warning?.msg).toMatch(/newer version than this service/);
  expect(others).toEqual([]);
});
