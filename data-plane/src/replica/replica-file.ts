/** The replica's file: its tables, and the statements that do not depend on a kind of fact. */
import { rmSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { openPrepared, sqliteCode } from '../storage/durable-database.ts';
import { requireKnownVersion, versionOf } from '../storage/file-version.ts';
import { AGENTS_SCHEMA } from './facts/agent.ts';
import { CREDENTIALS_SCHEMA } from './facts/agent-credential.ts';

const VERSION = 3;

const FACT_COLUMNS = `
  tenant_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  digest BLOB NOT NULL,
  PRIMARY KEY (tenant_id, kind, key)
`;

// SQLite has no page checksums, and a flipped bit must not become a permission: `digest` covers a
// fact's tenant, kind, key and value; `seal` covers the cursor, the feed's digest there, the time
// of the newest statement and all digests of the tenant, so that a fact that is lost, or entries
// that are skipped, show as well. `staged` holds a snapshot until its end was verified; only then
// does it replace the tenant's facts.
const SCHEMA = `
CREATE TABLE tenants (
  tenant_id TEXT PRIMARY KEY,
  cursor INTEGER NOT NULL,
  digest TEXT NOT NULL,
  statement_ms INTEGER NOT NULL,
  seal BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE facts (${FACT_COLUMNS}) STRICT, WITHOUT ROWID;
CREATE TABLE staged (${FACT_COLUMNS}) STRICT, WITHOUT ROWID;
${AGENTS_SCHEMA}
${CREDENTIALS_SCHEMA}
`;

// Of the control plane's clock, beside the tenant's newest time. A table of its own: the version before
// has none, and goes on with the file.
const CLOCKS = `
CREATE TABLE IF NOT EXISTS clock_generations (
  tenant_id TEXT PRIMARY KEY,
  generation INTEGER NOT NULL,
  digest BLOB NOT NULL
) STRICT, WITHOUT ROWID;
`;

const SET_VERSION = `PRAGMA user_version = ${VERSION};`;

const DROP_FIRST = ['tenants', 'facts', 'agents']
  .map((table) => `DROP TABLE IF EXISTS ${table};`)
  .join(' ');

interface TenantRow {
  cursor: number;
  digest: string;
  /** The time of the newest verified statement, in Unix milliseconds; 0 before the first. */
  statement_ms: number;
  seal: Buffer;
}

export type ReplicaFile = ReturnType<typeof openReplicaFile>;

/**
 * Opens the file. A damaged one is discarded and filled again from the feed: it is a copy, and
 * until then every agent is unknown.
 *
 * @throws when it is in use, or was written by a newer version
 */
export function openReplicaFile(path: string) {
  try {
    return openAndPrepare(path);
  } catch (error) {
    const isDamaged = /^SQLITE_(CORRUPT|NOTADB)$/.test(sqliteCode(error) ?? '');
    if (!isDamaged && !(error instanceof DamagedReplicaError)) throw error;
    for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
    return openAndPrepare(path);
  }
}

class DamagedReplicaError extends Error {}

function openAndPrepare(path: string) {
  return openPrepared(path, { exclusive: true }, (db) => {
    const state = db.pragma('integrity_check(1)', { simple: true });
    if (state !== 'ok') throw new DamagedReplicaError(String(state));
    migrate(db);
    return { db, sql: prepareStatements(db) };
  });
}

function migrate(db: Database): void {
  requireKnownVersion(db, { version: VERSION, what: 'the replica' });
  const version = versionOf(db);
  // Version 1 had no digests. Its facts are read again from the feed.
  if (version < 2) db.exec(`BEGIN IMMEDIATE; ${DROP_FIRST} ${SCHEMA} ${SET_VERSION} COMMIT`);
  // Version 2 keeps its facts: agents keep working while the control plane is away.
  else if (version < 3) db.exec(`BEGIN IMMEDIATE; ${CREDENTIALS_SCHEMA} ${SET_VERSION} COMMIT`);
  db.exec(CLOCKS);
}

function prepareStatements(db: Database) {
  return {
    findTenant: db.prepare<[string], TenantRow>(
      'SELECT cursor, digest, statement_ms, seal FROM tenants WHERE tenant_id = ?',
    ),
    putTenant: db.prepare<[string, number, string, number, Buffer]>(
      'INSERT OR REPLACE INTO tenants VALUES (?, ?, ?, ?, ?)',
    ),
    findClock: db.prepare<[string], { generation: number; digest: Buffer }>(
      'SELECT generation, digest FROM clock_generations WHERE tenant_id = ?',
    ),
    putClock: db.prepare<[string, number, Buffer]>(
      'INSERT OR REPLACE INTO clock_generations VALUES (?, ?, ?)',
    ),
    deleteClock: db.prepare<[string]>('DELETE FROM clock_generations WHERE tenant_id = ?'),
    deleteTenant: db.prepare<[string]>('DELETE FROM tenants WHERE tenant_id = ?'),
    readFacts: db.prepare<[string], { kind: string; key: string }>(
      'SELECT kind, key FROM facts WHERE tenant_id = ?',
    ),
    findFact: db.prepare<[string, string, string], { value: string; digest: Buffer }>(
      'SELECT value, digest FROM facts WHERE tenant_id = ? AND kind = ? AND key = ?',
    ),
    putFact: db.prepare<[string, string, string, string, Buffer]>(
      'INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?, ?)',
    ),
    deleteFact: db.prepare<[string, string, string]>(
      'DELETE FROM facts WHERE tenant_id = ? AND kind = ? AND key = ?',
    ),
    deleteTenantFacts: db.prepare<[string]>('DELETE FROM facts WHERE tenant_id = ?'),
    // Older files have more columns here; nothing reads them.
    stage: db.prepare<[string, string, string, string, Buffer]>(
      'INSERT INTO staged (tenant_id, kind, key, value, digest) VALUES (?, ?, ?, ?, ?)',
    ),
    clearStaged: db.prepare<[string]>('DELETE FROM staged WHERE tenant_id = ?'),
    moveStaged: db.prepare<[string]>(
      `INSERT INTO facts SELECT tenant_id, kind, key, value, digest FROM staged
       WHERE tenant_id = ?`,
    ),
  };
}
