/**
 * A queue with turns by tenant and, within a tenant, by agent, so that many jobs of one do not
 * delay the others.
 */
export interface Owner {
  readonly tenantId: string;
  readonly agentId: string;
}

export class FairQueue<T> {
  /** By tenant and agent. At both levels the first entry has the next turn. */
  readonly #tenants = new Map<string, Map<string, Set<T>>>();

  add({ tenantId, agentId }: Owner, item: T): void {
    const agents = this.#tenants.get(tenantId) ?? new Map<string, Set<T>>();
    const items = agents.get(agentId) ?? new Set<T>();
    this.#tenants.set(tenantId, agents);
    agents.set(agentId, items);
    items.add(item);
  }

  delete({ tenantId, agentId }: Owner, item: T): void {
    const agents = this.#tenants.get(tenantId);
    const items = agents?.get(agentId);
    if (!agents || !items?.delete(item)) return;
    if (items.size === 0) agents.delete(agentId);
    if (agents.size === 0) this.#tenants.delete(tenantId);
  }

  /** The number of a tenant's waiting jobs. */
  countOf(tenantId: string): number {
    let count = 0;
    for (const items of this.#tenants.get(tenantId)?.values() ?? []) count += items.size;
    return count;
  }

  /**
   * Takes the oldest job of the agent whose turn it is.
   *
   * @param mayGo whether a tenant may have a turn now
   */
  take(mayGo: (tenantId: string) => boolean): T | undefined {
    for (const [tenantId, agents] of this.#tenants) {
      if (!mayGo(tenantId)) continue;
      for (const [agentId, items] of agents) {
        for (const item of items) {
          this.delete({ tenantId, agentId }, item);
          moveToEnd(agents, agentId);
          moveToEnd(this.#tenants, tenantId);
          return item;
        }
      }
    }
    return undefined;
  }
}

function moveToEnd<V>(map: Map<string, V>, key: string): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}
