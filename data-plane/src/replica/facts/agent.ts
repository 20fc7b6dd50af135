/**
 * Agents with their roles resolved, by id and by client id. An agent is unknown while its own fact
 * or one of its roles is: a policy may deny by role.
 */
import { LRUCache } from 'lru-cache';
import type { ReplicaAgent } from '../../contracts.ts';
import { createClientIndex } from '../client-index.ts';
import type { FactKindContext } from '../fact-kind.ts';
import { forgetTenant } from '../fact-reader.ts';
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

export function agentFacts({ db, facts, isServed, cachedAgents }: FactKindContext) {
  const countActive = db
    .prepare<[string, number], number>(
      `SELECT count(*) FROM agents
       WHERE tenant_id = ? AND status = 'active' AND kill_released_generation >= ?`,
    )
    .pluck();
  const agents = new LRUCache<string, ReplicaAgent>({ max: cachedAgents });
  const clients = createClientIndex(db, {
    kind: 'agent',
    table: 'agents',
    members: ['client_id', 'status', 'kill_released_generation'],
    name: 'agent',
    cached: cachedAgents,
  });

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

  function countActiveAgents(tenantId: string): number {
    const killSwitch = findKillSwitch(facts, tenantId);
    const generation = killSwitch?.engaged ? killSwitch.generation : 0;
    return countActive.get(tenantId, generation) ?? 0;
  }

  return {
    finds: {
      findAgent,
      findAgentOfClient: (clientId: string) => clients.find(clientId, findAgent),
      countActiveAgents,
    },
    index: clients.index,
    changed(tenantId: string, kind: string, key: string): void {
      if (kind === 'agent') agents.delete(`${tenantId}/${key}`);
      if (!isRoleKind(kind)) return;
      for (const [place, agent] of agents.entries()) {
        if (place.startsWith(`${tenantId}/`) && agent.role_ids.includes(key)) agents.delete(place);
      }
    },
    dropped: (tenantId: string): void => forgetTenant(agents, tenantId),
  };
}
