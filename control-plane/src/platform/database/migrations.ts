/**
 * Applies prisma/migrations with Prisma's own schema engine in its WebAssembly form, which keeps
 * the same `_prisma_migrations` table as `prisma migrate deploy`: operators may use either.
 * Several replicas may start at once: one migrates, the others wait for it and find nothing to do
 * (migrations.pg.test.ts).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { assetPath } from '@governance/shared/process/assets';
import { errorCode, StartError } from '@governance/shared/process/start-error';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as engineModule from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

// Any constant will do, as long as every replica uses the same one.
const MIGRATION_LOCK = 7_207_346_801n;

const CONNECT_TIMEOUT_MS = 10_000;

const DEADLOCK = '40P01';
const DEADLOCK_TRIES = 10;
const DEADLOCK_PAUSE_MS = 1_000;

/** The oldest server the SQL is written for (`GRANT` on schema public, `RETURN` bodies). */
const OLDEST_SERVER = 150_000;

/**
 * Brings the database to the newest schema.
 *
 * @param connectionString of the login that owns the tables and may create roles
 * @param upTo the last migration to apply, to see what a later one does with data; all unless given
 * @returns the names of the migrations that this call applied; after a deadlock, those since
 * @throws StartError when the server is too old
 * @throws Error when it cannot be reached, or a migration fails (it is then rolled back)
 */
export async function migrateDatabase(connectionString: string, upTo?: string): Promise<string[]> {
  // The lock belongs to a session: one dedicated connection holds it to the end.
  const lock = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  await lock.connect();
  try {
    const { rows } = await lock.query<{ version: number }>(
      `SELECT current_setting('server_version_num')::int AS version`,
    );
    if ((rows[0]?.version ?? 0) < OLDEST_SERVER) {
      const version = Math.floor((rows[0]?.version ?? 0) / 10_000);
      throw new StartError(
        `the server of DATABASE_URL is PostgreSQL ${version}: use PostgreSQL 15 or newer`,
      );
    }
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    return await applyAgain(connectionString, upTo);
  } finally {
    // Ending the session releases the lock.
    await lock.end();
  }
}

/**
 * Migrations of a newer version: the database has them, this version does not.
 *
 * @param connectionString of the login that owns the tables
 * @returns their names in order; those that failed or were rolled back are none
 */
export async function findNewerMigrations(connectionString: string): Promise<string[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `SELECT DISTINCT migration_name AS name FROM _prisma_migrations
       WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL AND migration_name <> ALL ($1)
       ORDER BY migration_name`,
      [listMigrations(assetPath('prisma/migrations'))],
    );
    return rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/**
 * A migration that takes locks one after the other may lose a deadlock with a replica of before: it is
 * rolled back, and applied again.
 */
async function applyAgain(connectionString: string, upTo?: string): Promise<string[]> {
  for (let triesLeft = DEADLOCK_TRIES; ; triesLeft--) {
    try {
      return await applyMigrations(connectionString, upTo);
    } catch (error) {
      if (errorCode(error) !== DEADLOCK || triesLeft <= 1) throw error;
      await sleep(DEADLOCK_PAUSE_MS);
    }
  }
}

async function applyMigrations(connectionString: string, upTo?: string): Promise<string[]> {
  await loadEngine();
  const schema = await readFile(assetPath('prisma/schema.prisma'), 'utf8');
  const pool = new pg.Pool({ connectionString, max: 1 });
  const adapter = new WholeScriptAdapter(pool);
  try {
    const engine = await engineModule.SchemaEngine.new(
      { datamodels: [['schema.prisma', schema]] },
      () => {},
      bindMigrationAwareSqlAdapterFactory(adapter),
    );
    try {
      const filters = { externalTables: [], externalEnums: [] };
      const migrationsList = readMigrations(assetPath('prisma/migrations'), upTo);
      // A failed or killed migration left nothing but its row (each is one transaction). Without
      // this it would have to be resolved by hand.
      const { failedMigrationNames } = await engine.diagnoseMigrationHistory({
        migrationsList,
        optInToShadowDatabase: false,
        filters,
      });
      for (const migrationName of failedMigrationNames) {
        await engine.markMigrationRolledBack({ migrationName });
      }
      const { appliedMigrationNames } = await engine.applyMigrations({ filters, migrationsList });
      return appliedMigrationNames;
    } finally {
      engine.free();
    }
  } catch (error) {
    throw adapter.failure ?? withCode(error);
  } finally {
    await pool.end();
  }
}

/** The engine keeps only PostgreSQL's text of what its own queries met. */
function withCode(error: unknown): unknown {
  const denied = /^ERROR: (permission denied .*)$/m.exec(
    error instanceof Error ? error.message : '',
  );
  if (!denied) return error;
  return Object.assign(new Error(denied[1], { cause: error }), { code: '42501' });
}

/**
 * The stock adapter splits a script at every semicolon, even inside a function body. Sent whole, a
 * migration is also one implicit transaction.
 */
class WholeScriptAdapter extends PrismaPg {
  /** PostgreSQL's error, of which the engine says only that it was external. */
  failure: unknown;

  override async connect() {
    const adapter = await super.connect();
    adapter.executeScript = async (script) => {
      try {
        await adapter.underlyingDriver().query(script);
      } catch (error) {
        this.failure = error;
        throw error;
      }
    };
    return adapter;
  }
}

// Node has WebAssembly; its types come with the browser library, which we leave out.
const { WebAssembly: wasm } = globalThis as unknown as {
  WebAssembly: {
    instantiate(
      bytes: Uint8Array,
      imports: Record<string, unknown>,
    ): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>;
  };
};

let loading: Promise<void> | undefined;

function loadEngine(): Promise<void> {
  loading ??= (async () => {
    const require = createRequire(assetPath('control-plane/package.json'));
    const glue = require.resolve('@prisma/schema-engine-wasm/schema_engine_bg');
    const { instance } = await wasm.instantiate(await readFile(glue.replace(/\.js$/, '.wasm')), {
      './schema_engine_bg.js': withoutLingeringTimers(engineModule),
    });
    engineModule.__wbg_set_wasm(instance.exports);
    instance.exports.__wbindgen_start();
  })();
  return loading;
}

/**
 * The engine guards its own lock with a 10 s timer that it never clears: unreferenced, it keeps no
 * process from ending.
 */
function withoutLingeringTimers(imports: Record<string, unknown>): Record<string, unknown> {
  const wrapped = { ...imports };
  for (const [name, original] of Object.entries(imports)) {
    if (name.startsWith('__wbg_setTimeout_')) {
      wrapped[name] = (...args: unknown[]) =>
        (original as (...args: unknown[]) => NodeJS.Timeout)(...args).unref();
    }
  }
  return wrapped;
}

function listMigrations(baseDir: string): string[] {
  const folders = readdirSync(baseDir, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  return folders.map((folder) => folder.name).sort();
}

function readMigrations(baseDir: string, upTo?: string) {
  return {
    baseDir,
    lockfile: {
      path: 'migration_lock.toml',
      content: readFileSync(join(baseDir, 'migration_lock.toml'), 'utf8'),
    },
    shadowDbInitScript: '',
    migrationDirectories: listMigrations(baseDir)
      .filter((name) => upTo === undefined || name <= upTo)
      .map((path) => ({
        path,
        migrationFile: {
          path: 'migration.sql',
          content: {
            tag: 'ok' as const,
            value: readFileSync(join(baseDir, path, 'migration.sql'), 'utf8'),
          },
        },
      })),
  };
}
