import { readdirSync } from 'node:fs';
import { assetPath } from '@governance/shared/process/assets';
import pg from 'pg';
import { expect, inject, it } from 'vitest';
import { dropDatabase, testDatabase } from '../../../../tests/support/test-database.ts';
import { Prisma } from '../generated/client.ts';
import { describeDatabaseFailure } from './database-failure.ts';
import { migrateDatabase } from './migrations.ts';

const MIGRATIONS = readdirSync(assetPath('prisma/migrations'))
  .filter((name) => /^\d/.test(name))
  .sort();
const test = await testDatabase();

it('migrating again, by three replicas at once, finds nothing to do', async () => {
  expect(await Promise.all([1, 2, 3].map(() => migrateDatabase(test.url)))).toEqual([[], [], []]);
});

it('three replicas that start on an empty database migrate it once', async () => {
  const { superuserUrl, ownerUrl } = inject('postgres');
  const admin = new pg.Client({ connectionString: superuserUrl });
  await admin.connect();
  await admin.query('CREATE DATABASE test_empty OWNER governance_tests');
  try {
    const url = new URL(ownerUrl);
    url.pathname = '/test_empty';
    const applied = await Promise.all([1, 2, 3].map(() => migrateDatabase(url.href)));
    expect(applied.flat()).toEqual(MIGRATIONS);
  } finally {
    await dropDatabase(admin, 'test_empty');
    await admin.end();
  }
});

it('says which privilege a login lacks that may not migrate', async () => {
  const { superuserUrl } = inject('postgres');
  const admin = new pg.Client({ connectionString: superuserUrl });
  await admin.connect();
  await admin.query(`CREATE ROLE test_weak LOGIN PASSWORD 'weak'`);
  await admin.query('CREATE DATABASE test_weak');
  const urlOf = (database: string) =>
    Object.assign(new URL(superuserUrl), {
      username: 'test_weak',
      password: 'weak',
      pathname: `/${database}`,
    }).href;
  const explained = (database: string) =>
    migrateDatabase(urlOf(database)).catch((error: unknown) =>
      describeDatabaseFailure(error, 'DATABASE_URL'),
    );
  const saying = (what: string) => ({
    name: 'StartError',
    message: expect.stringContaining(`lacks a privilege (${what}`),
  });
  try {
    // A schema of somebody else's, tables of somebody else's, roles that it may not take.
    expect(await explained('test_weak')).toMatchObject(saying('permission denied for schema'));
    const migrated = new URL(test.url).pathname.slice(1);
    expect(await explained(migrated)).toMatchObject(saying('permission denied for table'));
    await admin.query('ALTER DATABASE test_weak OWNER TO test_weak');
    expect(await explained('test_weak')).toMatchObject(saying('permission denied to'));
  } finally {
    await dropDatabase(admin, 'test_weak');
    await admin.query('DROP ROLE test_weak');
    await admin.end();
  }
});

it('0002 makes every tenant of the first schema read its feed once more', async () => {
  const { superuserUrl, ownerUrl } = inject('postgres');
  const admin = new pg.Client({ connectionString: superuserUrl });
  await admin.connect();
  await admin.query('CREATE DATABASE test_first_schema OWNER governance_tests');
  try {
    const urlOf = (base: string) =>
      Object.assign(new URL(base), { pathname: '/test_first_schema' });
    expect(await migrateDatabase(urlOf(ownerUrl).href, '0001_init')).toEqual(['0001_init']);
    const client = new pg.Client({ connectionString: urlOf(superuserUrl).href });
    client.on('error', () => undefined);
    await client.connect();
    await client.query(`
      INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'one'), (gen_random_uuid(), 'two');
      INSERT INTO tenant_heads (tenant_id, feed_seq, admin_stream, admin_head)
        SELECT id, 7, id, repeat('0', 64) FROM tenants`);
    expect(await migrateDatabase(urlOf(ownerUrl).href)).toEqual(MIGRATIONS.slice(1));
    const { rows } = await client.query(
      `SELECT compacted_seq, relforcerowsecurity AS forced FROM tenant_heads, pg_class
       WHERE pg_class.oid = 'tenant_heads'::regclass`,
    );
    await client.end();
    const expected = { compacted_seq: '7', forced: true };
    expect(rows).toEqual([expected, expected]);
  } finally {
    await dropDatabase(admin, 'test_first_schema');
    await admin.end();
  }
});

it('a migration that loses a deadlock with a replica at work is applied again', async () => {
  const { superuserUrl, ownerUrl } = inject('postgres');
  const admin = new pg.Client({ connectionString: superuserUrl });
  await admin.connect();
  await admin.query('CREATE DATABASE test_deadlock OWNER governance_tests');
  const urlOf = (base: string) => Object.assign(new URL(base), { pathname: '/test_deadlock' }).href;
  const replicas = [1, 2].map(() => new pg.Client({ connectionString: urlOf(superuserUrl) }));
  const [writer = admin, reader = admin] = replicas;
  try {
    // The next one builds an index of the ledger, and drops another in the same transaction.
    await migrateDatabase(urlOf(ownerUrl), '0046_payload_receipt');
    for (const replica of replicas) await replica.connect();
    const waiting = (count: number) =>
      expect
        .poll(async () => {
          const { rows } = await admin.query(
            `SELECT count(*)::int AS waiting FROM pg_locks
             WHERE NOT granted AND database = (
               SELECT oid FROM pg_database WHERE datname = 'test_deadlock')
               AND locktype = 'relation'`,
          );
          return rows[0].waiting;
        })
        .toBe(count);
    const write = 'LOCK TABLE ledger_records IN ROW EXCLUSIVE MODE';
    await writer.query(`BEGIN; ${write}`);
    await reader.query('BEGIN; SELECT count(*) FROM ledger_records');
    const migrated = migrateDatabase(urlOf(ownerUrl), '0047_ledger_subjects');
    await waiting(1);
    // It has looked for a deadlock before there is one: the migration will find it.
    await reader.query(`SET deadlock_timeout = '1min'`);
    const written = reader.query(`${write}; COMMIT`);
    await waiting(2);
    await writer.query('COMMIT');
    expect(await migrated).toEqual(['0047_ledger_subjects']);
    await written;
  } finally {
    for (const replica of replicas) await replica.end();
    await dropDatabase(admin, 'test_deadlock');
    await admin.end();
  }
}, 60_000);

it('a migration whose process was killed is applied again by the next start', async () => {
  await test.superuser.query(
    `UPDATE _prisma_migrations SET finished_at = NULL, applied_steps_count = 0`,
  );
  // Everything but the list of migrations. DROP OWNED would be shorter, and would take from the tests
  // that run beside this one the roles that their login granted itself.
  await test.superuser.query(`
    CREATE SCHEMA kept;
    ALTER TABLE _prisma_migrations SET SCHEMA kept;
    DROP SCHEMA public CASCADE;
    CREATE SCHEMA public AUTHORIZATION pg_database_owner;
    ALTER TABLE kept._prisma_migrations SET SCHEMA public`);
  expect(await migrateDatabase(test.url)).toEqual(MIGRATIONS);
});

it('every model of the schema file matches its table', async () => {
  for (const model of Object.values(Prisma.ModelName)) {
    const name = `${model.charAt(0).toLowerCase()}${model.slice(1)}`;
    const delegate = (
      test.connections.prisma as unknown as Record<string, { findFirst(): unknown }>
    )[name];
    expect(await delegate?.findFirst(), model).toBeNull();
  }
});

it('0012 counts the payloads that are there, of each tenant', async () => {
  const { superuserUrl, ownerUrl } = inject('postgres');
  const admin = new pg.Client({ connectionString: superuserUrl });
  await admin.connect();
  await admin.query('CREATE DATABASE test_payloads OWNER governance_tests');
  try {
    const urlOf = (base: string) => Object.assign(new URL(base), { pathname: '/test_payloads' });
    await migrateDatabase(urlOf(ownerUrl).href, '0011_data_protection');
    const client = new pg.Client({ connectionString: urlOf(superuserUrl).href });
    client.on('error', () => undefined);
    await client.connect();
    await client.query(`
      INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'one'), (gen_random_uuid(), 'two');
      INSERT INTO event_payloads (tenant_id, event_id, part, deployment_id, is_encrypted,
          data_key_id, ciphertext)
        SELECT t.id, t.id, part, t.id, false, t.id, 'x'
        FROM tenants t, unnest(ARRAY['input', 'result']) AS part`);
    await migrateDatabase(urlOf(ownerUrl).href);
    const { rows } = await client.query(
      `SELECT events, relforcerowsecurity AS forced FROM payload_counts, pg_class
       WHERE pg_class.oid = 'event_payloads'::regclass`,
    );
    await client.end();
    const expected = { events: '1', forced: true };
    expect(rows).toEqual([expected, expected]);
  } finally {
    await dropDatabase(admin, 'test_payloads');
    await admin.end();
  }
});

it('0035 makes times readable that were stored beyond the year 9999', async () => {
  const { superuserUrl, ownerUrl } = inject('postgres');
  const admin = new pg.Client({ connectionString: superuserUrl });
  await admin.connect();
  await admin.query('CREATE DATABASE test_times OWNER governance_tests');
  try {
    const urlOf = (base: string) => Object.assign(new URL(base), { pathname: '/test_times' });
    await migrateDatabase(urlOf(ownerUrl).href, '0034_alert_keys');
    const client = new pg.Client({ connectionString: urlOf(superuserUrl).href });
    client.on('error', () => undefined);
    await client.connect();
    await client.query(`
      INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'one'), (gen_random_uuid(), 'two');
      INSERT INTO policies (tenant_id, id, name, rego_content, updated_at)
        SELECT id, id, 'p', 'package p', now() FROM tenants;
      INSERT INTO policy_replays (tenant_id, id, policy_id, from_time, to_time, name, rego_content,
          rego_sha256, is_left_out, set_digest, opens_encrypted, until_position, decisions_total,
          result, requested_by, lease_until)
        SELECT id, id, id, '10000-01-01 13:59:58Z', '10000-01-01 13:59:59Z', '', '', '', false, '',
          false, 0, 0, '{}', '', now() FROM tenants;
      INSERT INTO evidence_packages (tenant_id, id, requested_by, requested_at, from_time, to_time,
          include_payloads, expires_at)
        SELECT id, id, '', now(), '2026-01-01 00:00:00Z', '10000-01-01 13:59:59Z', false, now()
        FROM tenants`);
    await migrateDatabase(urlOf(ownerUrl).href);
    const timesOf = async (table: string) => {
      const { rows } = await client.query(
        `SELECT DISTINCT from_time, to_time, relforcerowsecurity AS forced FROM ${table}, pg_class
         WHERE pg_class.oid = '${table}'::regclass`,
      );
      return rows;
    };
    const [replays, packages] = [
      await timesOf('policy_replays'),
      await timesOf('evidence_packages'),
    ];
    await client.end();
    const to_time = new Date('9999-12-31T23:59:59.999Z');
    const from = (text: string) => ({ from_time: new Date(text), to_time, forced: true });
    expect(replays).toEqual([from('9999-12-31T23:59:59.998Z')]);
    expect(packages).toEqual([from('2026-01-01T00:00:00Z')]);
  } finally {
    await dropDatabase(admin, 'test_times');
    await admin.end();
  }
});
