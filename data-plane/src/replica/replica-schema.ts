/** The replica's tables and its prepared statements. */
import type { Database } from 'better-sqlite3';

const VERSION = 2;

// SQLite has no page checksums, and a flipped bit must not become a permission: `digest` covers a
// fact's tenant, kind, key and value; `seal` covers the cursor, the feed's digest there, the time
// of the newest statement and all digests of the tenant, so that a fact that is lost, or entries
// that are skipped, show as well. `agents` holds what is looked up or counted by SQL. `staged`
// holds a snapshot until its end was verified; only then does it replace the tenant's facts.
const SCHEMA = `
CREATE TABLE tenants (
  tenant_id TEXT PRIMARY KEY,
  cursor INTEGER NOT NULL,
  digest TEXT NOT NULL,
  statement_ms INTEGER NOT NULL,
  seal BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE facts (
  tenant_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  digest BLOB NOT NULL,
  PRIMARY KEY (tenant_id, kind, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE agents (
  tenant_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  client_id TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  kill_released_generation INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX agents_by_status ON agents (tenant_id, status, kill_released_generation);
CREATE TABLE staged (
  tenant_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  digest BLOB NOT NULL,
  client_id TEXT,
  status TEXT,
  kill_released_generation INTEGER,
  PRIMARY KEY (tenant_id, kind, key)
) STRICT, WITHOUT ROWID;
PRAGMA user_version = ${VERSION};
`;

const DROP_FIRST = ['tenants', 'facts', 'agents']
  .map((table) => `DROP TABLE IF EXISTS ${table};`)
  .join(' ');

export interface TenantRow {
  cursor: number;
  digest: string;
  /** Of the newest verified statement, Unix milliseconds; 0 before the first. */
  statement_ms: number;
  seal: Buffer;
}

export interface FactRow {
  value: string;
  digest: Buffer;
}

/** Migrates the file and prepares every statement that the replica runs. */
export function prepareStatements(db: Database) {
  const version = db.pragma('user_version', { simple: true }) as number;
  if (version > VERSION) throw new Error(`the replica was written by a newer version (${version})`);
  // What the first version kept was of a control plane in the same process: it is read once more.
  if (version < VERSION) db.exec(`BEGIN IMMEDIATE; ${DROP_FIRST} ${SCHEMA} COMMIT`);
  return {
    findTenant: db.prepare<[string], TenantRow>(
      'SELECT cursor, digest, statement_ms, seal FROM tenants WHERE tenant_id = ?',
    ),
    putTenant: db.prepare<[string, number, string, number, Buffer]>(
      'INSERT OR REPLACE INTO tenants VALUES (?, ?, ?, ?, ?)',
    ),
    clearStaged: db.prepare<[string]>('DELETE FROM staged WHERE tenant_id = ?'),
    stage: db.prepare<
      [string, string, string, string, Buffer, string | null, string | null, number | null]
    >('INSERT INTO staged VALUES (?, ?, ?, ?, ?, ?, ?, ?)'),
    moveFacts: db.prepare<[string]>(
      `INSERT INTO facts SELECT tenant_id, kind, key, value, digest FROM staged
       WHERE tenant_id = ?`,
    ),
    // Of two agents with one client id the first stays; `readUnmoved` finds the others.
    moveAgents: db.prepare<[string]>(
      `INSERT OR IGNORE INTO agents
       SELECT tenant_id, key, client_id, status, kill_released_generation FROM staged
       WHERE tenant_id = ? AND client_id IS NOT NULL`,
    ),
    readUnmoved: db.prepare<[string], { key: string; digest: Buffer }>(
      `SELECT s.key, s.digest FROM staged s
       LEFT JOIN agents a ON a.tenant_id = s.tenant_id AND a.agent_id = s.key
       WHERE s.tenant_id = ? AND s.client_id IS NOT NULL AND a.agent_id IS NULL`,
    ),
    readFacts: db.prepare<[string], { kind: string; key: string }>(
      'SELECT kind, key FROM facts WHERE tenant_id = ?',
    ),
    deleteTenant: db.prepare<[string]>('DELETE FROM tenants WHERE tenant_id = ?'),
    deleteTenantFacts: db.prepare<[string]>('DELETE FROM facts WHERE tenant_id = ?'),
    deleteTenantAgents: db.prepare<[string]>('DELETE FROM agents WHERE tenant_id = ?'),
    findFact: db.prepare<[string, string, string], FactRow>(
      'SELECT value, digest FROM facts WHERE tenant_id = ? AND kind = ? AND key = ?',
    ),
    putFact: db.prepare<[string, string, string, string, Buffer]>(
      'INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?, ?)',
    ),
    deleteFact: db.prepare<[string, string, string]>(
      'DELETE FROM facts WHERE tenant_id = ? AND kind = ? AND key = ?',
    ),
    findClient: db.prepare<[string], { tenant_id: string; agent_id: string }>(
      'SELECT tenant_id, agent_id FROM agents WHERE client_id = ?',
    ),
    putAgent: db.prepare<[string, string, string, string, number]>(
      `INSERT INTO agents VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (tenant_id, agent_id) DO UPDATE SET client_id = excluded.client_id,
         status = excluded.status, kill_released_generation = excluded.kill_released_generation`,
    ),
    deleteAgent: db.prepare<[string, string]>(
      'DELETE FROM agents WHERE tenant_id = ? AND agent_id = ?',
    ),
    countActive: db
      .prepare<[string, number], number>(
        `SELECT count(*) FROM agents
         WHERE tenant_id = ? AND status = 'active' AND kill_released_generation >= ?`,
      )
      .pluck(),
  };
}

export type ReplicaSql = ReturnType<typeof prepareStatements>;
