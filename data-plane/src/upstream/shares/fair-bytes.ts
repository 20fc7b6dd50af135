/**
 * Bytes of memory that agents cause, counted by agent and by tenant. Nobody takes more than is left
 * ([ADR 34](../../../../docs/adr/0034-nobody-takes-more-than-is-left.md)). Proven by
 * fair-bytes.test.ts.
 */
import { getHeapStatistics } from 'node:v8';
import { type ByteOwner, OwnedBytes } from './owned-bytes.ts';

export type { ByteOwner };

/** Bytes of one part of what V8's heap may take. */
export function heapShare(parts: number): number {
  return Math.floor(getHeapStatistics().heap_size_limit / parts);
}

export class FairBytes extends OwnedBytes {
  readonly #max: number;
  readonly #servesSeveral: () => boolean;

  /** @param max of all agents together */
  constructor(max: number, servesSeveral: () => boolean) {
    super();
    this.#max = max;
    this.#servesSeveral = servesSeveral;
  }

  /** Whether more than half is taken. */
  get isShort(): boolean {
    return this.total > this.#max / 2;
  }

  /**
   * Whether an agent may cause so many bytes more: of several tenants each takes at most half of
   * what the others leave, and so does each agent of what its tenant may take. A single
   * answer of an agent may take whatever its tenant may.
   *
   * @param ofThis bytes that are counted for the same answer already
   */
  hasRoom(owner: ByteOwner, bytes: number, ofThis = 0): boolean {
    const free = this.#max - this.total;
    const ofTenant = this.ofTenant(owner);
    const most = this.#servesSeveral() ? (free + ofTenant) / 2 : free + ofTenant;
    if (bytes > free || ofTenant + bytes > most) return false;
    const own = this.ofAgent(owner);
    return own <= ofThis || own + bytes <= (most - ofTenant + own) / 2;
  }
}
