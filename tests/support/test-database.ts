/**
 * A database of its own for a test file: a clone of the migrated template, made in about 50 ms and
 * dropped when the file's tests end.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ChangeBus,
  createChangeBus,
} from '@governance/control-plane/platform/database/change-bus';
import {
  type Connections,
  connectDatabase,
} from '@governance/control-plane/platform/database/database';
import { createLookups, type Lookups } from '@governance/control-plane/platform/database/lookups';
import {
  createTenantDatabase,
  type TenantDatabase,
} from '@governance/control-plane/platform/database/tenant-scope';
import pg from 'pg';
import { afterAll, inject } from 'vitest';

export interface TestDatabase {
  /** As the login that owns the tables: what DATABASE_URL would be. */
  url: string;
  /** As a superuser, exempt from row-level security, for inspection. */
  superuser: pg.Pool;
  connections: Connections;
  db: TenantDatabase;
  lookups: Lookups;
  changes: ChangeBus;
}

/**
 * Call it at the top of a test file or in `beforeAll`; it cleans up after the file's last test.
 *
 * @param now the clock of written rows; the real one unless given
 */
export async function testDatabase(now: () => Date = () => new Date()): Promise<TestDatabase> {
  const { superuserUrl, ownerUrl, template } = inject('postgres');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: superuserUrl });
  await admin.connect();
  await createClone(admin, name, template);
  await admin.end();

  const url = withDatabase(ownerUrl, name);
  const superuser = new pg.Pool({ connectionString: withDatabase(superuserUrl, name), max: 2 });
  // A connection still closing when the database is dropped gets an error: no failure.
  superuser.on('connect', (client) => client.on('error', () => undefined));
  let isClosing = false;
  const connections = await connectDatabase({
    url,
    poolSize: 4,
    maxOverflow: 4,
    // The last connections may still be closing when the database is dropped.
    onConnectionError: (error) => {
      if (!isClosing) console.error(error.message);
    },
  });
  const changes = createChangeBus((error) => {
    throw error;
  });
  afterAll(async () => {
    isClosing = true;
    await connections.close();
    await superuser.end();
    const last = new pg.Client({ connectionString: superuserUrl });
    await last.connect();
    await dropDatabase(last, name);
    await last.end();
  });
  return {
    url,
    superuser,
    connections,
    db: createTenantDatabase({ connections, changes, now }),
    lookups: createLookups(connections),
    changes,
  };
}

const GONE_TRIES = 250;

/**
 * Drops a database once its sessions are gone: a closing one would get a termination error that
 * nobody handles. After five seconds the rest are terminated.
 */
export async function dropDatabase(admin: pg.Client, name: string): Promise<void> {
  for (let left = GONE_TRIES; left > 0; left--) {
    const { rowCount } = await admin.query('SELECT 1 FROM pg_stat_activity WHERE datname = $1', [
      name,
    ]);
    if (rowCount === 0) break;
    await sleep(20);
  }
  await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
}

/** Two files may clone at the same moment, which PostgreSQL refuses for one template. */
async function createClone(admin: pg.Client, name: string, template: string): Promise<void> {
  await admin.query(`SELECT pg_advisory_lock(hashtext('governance-tests-clone'))`);
  await admin.query(
    `CREATE DATABASE ${name} TEMPLATE ${template} OWNER governance_tests STRATEGY FILE_COPY`,
  );
  await admin.query(`SELECT pg_advisory_unlock(hashtext('governance-tests-clone'))`);
}

function withDatabase(url: string, name: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${name}`;
  return parsed.href;
}
