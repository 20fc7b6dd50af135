/**
 * Bytes of memory that agents cause, counted by agent and by tenant. Nobody takes more than is left
 * ([ADR 34](../../../../docs/adr/0034-nobody-takes-more-than-is-left.md)). Proven by
 * fair-bytes.test.ts.
 */
import { getHeapStatistics } from 'node:v8';

export interface ByteOwner {
  readonly tenantId: string;
  /** Of the agent, unique among all tenants. */
  readonly key: string;
}

/** Bytes of one part of what V8's heap may take. */
export function heapShare(parts: number): number {
  return Math.floor(getHeapStatistics().heap_size_limit / parts);
}

export class FairBytes {
  readonly #max: number;
  readonly #servesSeveral: () => boolean;
  readonly #byAgent = new Map<string, number>();
  readonly #byTenant = new Map<string, number>();
  #total = 0;

  /** @param max of all agents together */
  constructor(max: number, servesSeveral: () => boolean) {
    this.#max = max;
    this.#servesSeveral = servesSeveral;
  }

  get total(): number {
    return this.#total;
  }

  /** Whether more than half is taken. */
  get isShort(): boolean {
    return this.#total > this.#max / 2;
  }

  /**
   * Whether an agent may cause so many bytes more: of several tenants each takes at most half of
   * what the others leave, and so does each agent of what its tenant may take. An agent that has
   * nothing yet may take whatever its tenant may.
   */
  hasRoom({ tenantId, key }: ByteOwner, bytes: number): boolean {
    const free = this.#max - this.#total;
    const ofTenant = this.#byTenant.get(tenantId) ?? 0;
    const most = this.#servesSeveral() ? (free + ofTenant) / 2 : free + ofTenant;
    if (bytes > free || ofTenant + bytes > most) return false;
    const own = this.#byAgent.get(key) ?? 0;
    return own === 0 || own + bytes <= (most - ofTenant + own) / 2;
  }

  /** Counts so many bytes more, or fewer if negative, whether there is room for them or not. */
  add({ tenantId, key }: ByteOwner, bytes: number): void {
    this.#total += bytes;
    change(this.#byAgent, key, bytes);
    change(this.#byTenant, tenantId, bytes);
  }
}

function change(counts: Map<string, number>, key: string, bytes: number): void {
  const count = (counts.get(key) ?? 0) + bytes;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
