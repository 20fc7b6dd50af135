import { addTo } from './fair-shares.ts';

/** Counts what is kept in memory, by agent and by tenant, and tells who keeps more. */
export interface ByteOwner {
  readonly tenantId: string;
  /** The agent's key, unique among all tenants. */
  readonly key: string;
}

export class OwnedBytes {
  readonly #byTenant = new Map<string, number>();
  readonly #byAgent = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  ofTenant({ tenantId }: ByteOwner): number {
    return this.#byTenant.get(tenantId) ?? 0;
  }

  ofAgent({ key }: ByteOwner): number {
    return this.#byAgent.get(key) ?? 0;
  }

  /** Counts so many bytes more, or fewer if negative, whether there is room for them or not. */
  add({ tenantId, key }: ByteOwner, bytes: number): void {
    this.#total += bytes;
    addTo(this.#byTenant, tenantId, bytes);
    addTo(this.#byAgent, key, bytes);
  }

  /** Whether one's tenant keeps more than the other's; of tenants that keep the same, its agent. */
  hasMore(one: ByteOwner, other: ByteOwner): boolean {
    const more = this.ofTenant(one) - this.ofTenant(other);
    return more > 0 || (more === 0 && this.ofAgent(one) > this.ofAgent(other));
  }
}
