/**
 * Look-up by client id: a table beside the facts of a kind that have a `client_id`, which is unique
 * over all tenants, with a cache in front. A second fact with the client id of another is refused. Proven by replica.test.ts and agent-credentials.test.ts.
 */
import type { FactOf } from '@governance/shared/channel/facts';
import type { Database } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { FactIndex } from './fact-kind.ts';

interface Place {
  tenantId: string;
  id: string;
}

type KindWithClient = 'agent' | 'optional.agent_credential';

/**
 * @param of.table its columns are the tenant, the fact's id, and these members
 * @param of.members of the fact, `client_id` the first of them
 * @param of.name what such a fact is called
 * @param of.cached client ids that are kept in memory, at most
 */
export function createClientIndex<K extends KindWithClient>(
  db: Database,
  of: {
    kind: K;
    table: string;
    members: readonly ['client_id', ...(string & keyof FactOf<K>)[]];
    name: string;
    cached: number;
  },
) {
  const { kind, table, members, name } = of;
  const idColumn = `${name}_id`;
  const staged = `s.tenant_id = ? AND s.kind = '${kind}' AND s.value->>'client_id' IS NOT NULL`;
  const sql = {
    find: db.prepare<[string], Place>(
      `SELECT tenant_id AS tenantId, ${idColumn} AS id FROM ${table} WHERE client_id = ?`,
    ),
    put: db.prepare<unknown[]>(
      `INSERT INTO ${table} VALUES (?, ?${members.map(() => ', ?').join('')})`,
    ),
    remove: db.prepare<[string, string]>(
      `DELETE FROM ${table} WHERE tenant_id = ? AND ${idColumn} = ?`,
    ),
    clear: db.prepare<[string]>(`DELETE FROM ${table} WHERE tenant_id = ?`),
    // A fact that was refused has no client id.
    fill: db.prepare<[string]>(
      `INSERT OR IGNORE INTO ${table}
       SELECT tenant_id, key, ${members.map((member) => `value->>'${member}'`).join(', ')}
       FROM staged s WHERE ${staged}`,
    ),
    readUnfilled: db.prepare<[string], { key: string; digest: Buffer }>(
      `SELECT s.key, s.digest FROM staged s
       LEFT JOIN ${table} t ON t.tenant_id = s.tenant_id AND t.${idColumn} = s.key
       WHERE ${staged} AND t.${idColumn} IS NULL`,
    ),
  };
  const clients = new LRUCache<string, Place>({ max: of.cached });

  const index: FactIndex<FactOf<K>> = {
    kind,
    checkKey: (fact, key) => fact.id === key,
    put(tenantId, fact) {
      const owner = sql.find.get(fact.client_id);
      if (owner) return `its client id belongs to ${name} ${owner.id}`;
      sql.put.run(tenantId, fact.id, ...members.map((member) => fact[member]));
      return null;
    },
    remove: (tenantId, key) => sql.remove.run(tenantId, key),
    clear: (tenantId) => sql.clear.run(tenantId),
    fill(tenantId) {
      sql.fill.run(tenantId);
      const reason = `its client id belongs to another ${name}`;
      return sql.readUnfilled.all(tenantId).map(({ key, digest }) => ({ key, digest, reason }));
    },
  };

  return {
    index,
    /** The fact of a client id. @param findFact by tenant and id: the cache may be stale */
    find<F extends { client_id: string }>(
      clientId: string,
      findFact: (tenantId: string, id: string) => F | undefined,
    ): { tenantId: string; fact: F } | undefined {
      const factAt = ({ tenantId, id }: Place) => {
        const fact = findFact(tenantId, id);
        return fact?.client_id === clientId ? { tenantId, fact } : undefined;
      };
      const cached = clients.get(clientId);
      const known = cached && factAt(cached);
      if (known) return known;
      const place = sql.find.get(clientId);
      const found = place && factAt(place);
      if (found) clients.set(clientId, place);
      return found;
    },
  };
}
