/** The replica's tables and its prepared statements. */
import type { Database } from 'better-sqlite3';

const VERSION = 1;

// SQLite has no page checksums, and a flipped bit must not become a permission: `digest` covers a
// fact's tenant, kind, key and value; `seal` covers the cursor and all digests of the tenant, so
// that a fact that is lost, or entries that are skipped, show as well. `agents` holds what is looked
// up or counted by SQL.
const SCHEMA = `
CREATE TABLE tenants (
  tenant_id TEXT PRIMARY KEY,
  cursor INTEGER NOT NULL,
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
PRAGMA user_version = ${VERSION};
`;

export interface FactRow {
  value: string;
  digest: Buffer;
}

/** Migrates the file and prepares every statement that the replica runs. */
export function prepareStatements(db: Database) {
  const version = db.pragma('user_version', { simple: true }) as number;
  if (version > VERSION) throw new Error(`the replica was written by a newer version (${version})`);
  if (version === 0) db.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
  return {
    findTenant: db.prepare<[string], { cursor: number; seal: Buffer }>(
      'SELECT cursor, seal FROM tenants WHERE tenant_id = ?',
    ),
    putTenant: db.prepare<[string, number, Buffer]>(
      'INSERT OR REPLACE INTO tenants VALUES (?, ?, ?)',
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
