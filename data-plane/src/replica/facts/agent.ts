/**
 * Agents with their roles resolved, by id and by client id. An agent is unknown while its own fact
 * or one of its roles is: a policy may deny by role.
 */
import type { AgentFact } from '@governance/shared/facts';
import type { Database } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { ReplicaAgent } from '../../contracts.ts';
import type { FactIndex, FactKindContext } from '../fact-kind.ts';
import { findKillSwitch } from './kill-switch.ts';
import { isRoleKind, readRoles } from './role.ts';

/** What is looked up or counted by SQL. */
export const AGENTS_SCHEMA = `
CREATE TABLE agents (
  tenant_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  client_id TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  kill_released_generation INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX agents_by_status ON agents (tenant_id, status, kill_released_generation);
`;

interface ClientPlace {
  tenantId: string;
  agentId: string;
}

export function agentFacts({ db, facts, isServed, cachedAgents }: FactKindContext) {
  const sql = prepareStatements(db);
  const agents = new LRUCache<string, ReplicaAgent>({ max: cachedAgents });
  const clients = new LRUCache<string, ClientPlace>({ max: cachedAgents });

  function findAgent(tenantId: string, agentId: string): ReplicaAgent | undefined {
    const place = `${tenantId}/${agentId}`;
    const cached = agents.get(place);
    if (cached) return cached;
    const agent = isServed(tenantId) ? readAgent(tenantId, agentId) : undefined;
    if (agent) agents.set(place, agent);
    return agent;
  }

  function readAgent(tenantId: string, agentId: string): ReplicaAgent | undefined {
    const fact = facts.read(tenantId, 'agent', agentId);
    if (fact.state !== 'known' || fact.value.id !== agentId) return undefined;
    const roles = readRoles(facts, tenantId, fact.value.role_ids);
    if ('lacking' in roles) {
      const reason = `its role ${roles.lacking} is ${roles.state}`;
      facts.refuse({ tenantId, kind: 'agent', key: agentId, reason });
      return undefined;
    }
    return { ...fact.value, ...roles };
  }

  function findAgentOfClient(clientId: string) {
    const cached = clients.get(clientId);
    const known = cached && agentOfClient(cached, clientId);
    if (known) return known;
    const row = sql.findClient.get(clientId);
    if (!row) return undefined;
    const place = { tenantId: row.tenant_id, agentId: row.agent_id };
    clients.set(clientId, place);
    return agentOfClient(place, clientId);
  }

  function agentOfClient({ tenantId, agentId }: ClientPlace, clientId: string) {
    const agent = findAgent(tenantId, agentId);
    return agent?.client_id === clientId ? { tenantId, agent } : undefined;
  }

  function countActiveAgents(tenantId: string): number {
    const killSwitch = findKillSwitch(facts, tenantId);
    const generation = killSwitch?.engaged ? killSwitch.generation : 0;
    return sql.countActive.get(tenantId, generation) ?? 0;
  }

  function forgetAgent(place: string): void {
    const agent = agents.peek(place);
    if (agent) clients.delete(agent.client_id);
    agents.delete(place);
  }

  const index: FactIndex<AgentFact> = {
    kind: 'agent',
    checkKey: (agent, key) => agent.id === key,
    put(tenantId, { id, client_id, status, kill_released_generation }) {
      const owner = sql.findClient.get(client_id);
      if (owner) return `its client id belongs to agent ${owner.agent_id}`;
      sql.put.run(tenantId, id, client_id, status, kill_released_generation);
      return null;
    },
    remove: (tenantId, key) => sql.remove.run(tenantId, key),
    clear: (tenantId) => sql.clear.run(tenantId),
    fill(tenantId) {
      sql.fill.run(tenantId);
      const reason = 'its client id belongs to another agent';
      return sql.readUnfilled.all(tenantId).map(({ key, digest }) => ({ key, digest, reason }));
    },
  };

  return {
    finds: { findAgent, findAgentOfClient, countActiveAgents },
    index,
    changed(tenantId: string, kind: string, key: string): void {
      if (kind === 'agent') forgetAgent(`${tenantId}/${key}`);
      if (!isRoleKind(kind)) return;
      for (const [place, agent] of agents.entries()) {
        if (place.startsWith(`${tenantId}/`) && agent.role_ids.includes(key)) forgetAgent(place);
      }
    },
    dropped(tenantId: string): void {
      for (const place of agents.keys()) {
        if (place.startsWith(`${tenantId}/`)) forgetAgent(place);
      }
      for (const [clientId, place] of clients.entries()) {
        if (place.tenantId === tenantId) clients.delete(clientId);
      }
    },
  };
}

function prepareStatements(db: Database) {
  return {
    findClient: db.prepare<[string], { tenant_id: string; agent_id: string }>(
      'SELECT tenant_id, agent_id FROM agents WHERE client_id = ?',
    ),
    put: db.prepare<[string, string, string, string, number]>(
      'INSERT INTO agents VALUES (?, ?, ?, ?, ?)',
    ),
    remove: db.prepare<[string, string]>('DELETE FROM agents WHERE tenant_id = ? AND agent_id = ?'),
    clear: db.prepare<[string]>('DELETE FROM agents WHERE tenant_id = ?'),
    // Of two agents with one client id the first stays; `readUnfilled` finds the others. A fact
    // that was refused has no client id.
    fill: db.prepare<[string]>(
      `INSERT OR IGNORE INTO agents
       SELECT tenant_id, key, value->>'client_id', value->>'status',
              value->>'kill_released_generation'
       FROM staged WHERE tenant_id = ? AND kind = 'agent' AND value->>'client_id' IS NOT NULL`,
    ),
    readUnfilled: db.prepare<[string], { key: string; digest: Buffer }>(
      `SELECT s.key, s.digest FROM staged s
       LEFT JOIN agents a ON a.tenant_id = s.tenant_id AND a.agent_id = s.key
       WHERE s.tenant_id = ? AND s.kind = 'agent' AND s.value->>'client_id' IS NOT NULL
         AND a.agent_id IS NULL`,
    ),
    countActive: db
      .prepare<[string, number], number>(
        `SELECT count(*) FROM agents
         WHERE tenant_id = ? AND status = 'active' AND kill_released_generation >= ?`,
      )
      .pluck(),
  };
}
