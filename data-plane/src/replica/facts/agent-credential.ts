/** Credentials that agents have beside their first one, by id and by client id. */
import type { AgentCredentialFact } from '@governance/shared/facts';
import type { Database } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { FactIndex, FactKindContext } from '../fact-kind.ts';

const KIND = 'optional.agent_credential';

/** What is looked up by SQL. A fact of a version that did not know the kind is entered, too. */
export const CREDENTIALS_SCHEMA = `
CREATE TABLE agent_credentials (
  tenant_id TEXT NOT NULL,
  credential_id TEXT NOT NULL,
  client_id TEXT NOT NULL UNIQUE,
  PRIMARY KEY (tenant_id, credential_id)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO agent_credentials
  SELECT tenant_id, key, value->>'client_id' FROM facts
  WHERE kind = '${KIND}' AND value->>'client_id' IS NOT NULL;
`;

interface Place {
  tenantId: string;
  id: string;
}

export function agentCredentialFacts({ db, facts, isServed, cachedAgents }: FactKindContext) {
  const sql = prepareStatements(db);
  const known = new LRUCache<string, AgentCredentialFact>({ max: cachedAgents });
  const clients = new LRUCache<string, Place>({ max: cachedAgents });

  function findCredential(tenantId: string, id: string): AgentCredentialFact | undefined {
    const place = `${tenantId}/${id}`;
    const cached = known.get(place);
    if (cached) return cached;
    const fact = isServed(tenantId) ? facts.read(tenantId, KIND, id) : undefined;
    if (fact?.state !== 'known' || fact.value.id !== id) return undefined;
    known.set(place, fact.value);
    return fact.value;
  }

  function findCredentialOfClient(clientId: string) {
    const place = clients.get(clientId) ?? readPlace(clientId);
    const credential = place && findCredential(place.tenantId, place.id);
    if (credential?.client_id !== clientId) return undefined;
    return { tenantId: place?.tenantId as string, credential };
  }

  function readPlace(clientId: string): Place | undefined {
    const row = sql.find.get(clientId);
    if (!row) return undefined;
    const place = { tenantId: row.tenant_id, id: row.credential_id };
    clients.set(clientId, place);
    return place;
  }

  function forget(place: string): void {
    const credential = known.peek(place);
    if (credential) clients.delete(credential.client_id);
    known.delete(place);
  }

  const index: FactIndex<AgentCredentialFact> = {
    kind: KIND,
    checkKey: (credential, key) => credential.id === key,
    put(tenantId, { id, client_id }) {
      const owner = sql.find.get(client_id);
      if (owner) return `its client id belongs to credential ${owner.credential_id}`;
      sql.put.run(tenantId, id, client_id);
      return null;
    },
    remove: (tenantId, key) => sql.remove.run(tenantId, key),
    clear: (tenantId) => sql.clear.run(tenantId),
    fill(tenantId) {
      sql.fill.run(tenantId);
      const reason = 'its client id belongs to another credential';
      return sql.readUnfilled.all(tenantId).map(({ key, digest }) => ({ key, digest, reason }));
    },
  };

  return {
    finds: { findCredential, findCredentialOfClient },
    index,
    changed(tenantId: string, kind: string, key: string): void {
      if (kind === KIND) forget(`${tenantId}/${key}`);
    },
    dropped(tenantId: string): void {
      for (const place of known.keys()) {
        if (place.startsWith(`${tenantId}/`)) known.delete(place);
      }
      for (const [clientId, place] of clients.entries()) {
        if (place.tenantId === tenantId) clients.delete(clientId);
      }
    },
  };
}

function prepareStatements(db: Database) {
  return {
    find: db.prepare<[string], { tenant_id: string; credential_id: string }>(
      'SELECT tenant_id, credential_id FROM agent_credentials WHERE client_id = ?',
    ),
    put: db.prepare<[string, string, string]>('INSERT INTO agent_credentials VALUES (?, ?, ?)'),
    remove: db.prepare<[string, string]>(
      'DELETE FROM agent_credentials WHERE tenant_id = ? AND credential_id = ?',
    ),
    clear: db.prepare<[string]>('DELETE FROM agent_credentials WHERE tenant_id = ?'),
    // Of two with one client id the first stays; `readUnfilled` finds the others. A fact that was
    // refused has no client id.
    fill: db.prepare<[string]>(
      `INSERT OR IGNORE INTO agent_credentials
       SELECT tenant_id, key, value->>'client_id' FROM staged
       WHERE tenant_id = ? AND kind = '${KIND}' AND value->>'client_id' IS NOT NULL`,
    ),
    readUnfilled: db.prepare<[string], { key: string; digest: Buffer }>(
      `SELECT s.key, s.digest FROM staged s
       LEFT JOIN agent_credentials c ON c.tenant_id = s.tenant_id AND c.credential_id = s.key
       WHERE s.tenant_id = ? AND s.kind = '${KIND}' AND s.value->>'client_id' IS NOT NULL
         AND c.credential_id IS NULL`,
    ),
  };
}
