/**
 * One real PostgreSQL for a whole test run, with a migrated template that each test file clones
 * (tests/support/test-database.ts). DATABASE_TEST_URL names a superuser's connection to another server, to
 * run the same tests against an older version.
 */
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateDatabase } from '@governance/control-plane/platform/database/migrations';
import { startEmbeddedPostgres } from '@governance/control-plane/platform/postgres/embedded-postgres';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
// @ts-expect-error a plain script, which must run before anything is compiled
import { prepare } from '../../scripts/prepare.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: { superuserUrl: string; ownerUrl: string; template: string };
    /**
     * A folder for what the files of this run compile for each other
     * (tests/support/compiled-once.ts).
     */
    compiledPolicies: string;
  }
}

const TEMPLATE = 'governance_template';
/** Linux's file system in memory. */
const MEMORY = '/dev/shm';
/** Far more than the databases of a run need at a time. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await prepare();
  const server = await startServer();
  const ownerUrl = await makeTemplate(server.superuserUrl);
  project.provide('postgres', {
    superuserUrl: server.superuserUrl,
    ownerUrl,
    template: TEMPLATE,
  });
  const compiled = mkdtempSync(join(tmpdir(), 'governance-compiled-'));
  project.provide('compiledPolicies', compiled);
  return async () => {
    rmSync(compiled, { recursive: true, force: true });
    await server.stop();
  };
}

async function startServer(): Promise<{ superuserUrl: string; stop: () => Promise<void> }> {
  const given = process.env.DATABASE_TEST_URL;
  if (given) return { superuserUrl: given, stop: async () => {} };
  const dataDir = mkdtempSync(join(databaseFolder(), 'governance-tests-'));
  // When running as root, PostgreSQL's own user needs access.
  chmodSync(dataDir, 0o755);
  const warn = (message: string) => console.error(message);
  const server = await startEmbeddedPostgres({
    dataDir,
    durable: false,
    log: { info: () => {}, warn },
  });
  return {
    superuserUrl: server.superuserUrl,
    stop: async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * In memory where there is room: a database of each test file is hundreds of new files, and on ext4
 * these took a third of PostgreSQL's CPU. Nothing here is to survive a crash.
 */
function databaseFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ENOUGH_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** @returns the template's URL as the login that owns its tables, which is not a superuser */
async function makeTemplate(superuserUrl: string): Promise<string> {
  const superuser = new pg.Client({ connectionString: superuserUrl });
  await superuser.connect();
  try {
    await superuser.query(`DROP DATABASE IF EXISTS ${TEMPLATE}`);
    const owner = await superuser.query(
      `SELECT 1 FROM pg_roles WHERE rolname = 'governance_tests'`,
    );
    if (owner.rowCount === 0) {
      await superuser.query(
        `CREATE ROLE governance_tests LOGIN CREATEROLE PASSWORD 'governance_tests'`,
      );
    }
    await superuser.query(`CREATE DATABASE ${TEMPLATE} OWNER governance_tests`);
  } finally {
    await superuser.end();
  }
  const url = new URL(superuserUrl);
  url.username = 'governance_tests';
  url.password = 'governance_tests';
  url.pathname = `/${TEMPLATE}`;
  await migrateDatabase(url.href);
  return url.href;
}
