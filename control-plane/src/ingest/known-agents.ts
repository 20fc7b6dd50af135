/**
 * Which agents a tenant has or had. A row of `agents` is never deleted, so an agent that was found
 * stays known in memory. A batch asks the database at most once.
 */
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { findAgentIds } from './ingest-store.ts';

const AGENTS_KEPT = 100_000;

export interface KnownAgents {
  /** @returns those of `agentIds` that the tenant never had, in lower case */
  findUnknown(tenantId: string, agentIds: Iterable<string>): Promise<ReadonlySet<string>>;
}

export function createKnownAgents(ingestPool: Pool): KnownAgents {
  const known = new LRUCache<string, true>({ max: AGENTS_KEPT });
  return {
    findUnknown: async (tenantId, agentIds) => {
      const asked = new Set<string>();
      for (const given of agentIds) {
        const id = given.toLowerCase();
        if (!known.get(`${tenantId}/${id}`)) asked.add(id);
      }
      if (asked.size === 0) return asked;
      for (const id of await findAgentIds(ingestPool, tenantId, [...asked])) {
        known.set(`${tenantId}/${id}`, true);
        asked.delete(id);
      }
      return asked;
    },
  };
}
