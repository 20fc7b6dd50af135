import { FACTS, type FactKind, type FactOf } from '@governance/shared/channel/facts';
import { zodFault } from '@governance/shared/http/zod-fault';
import { REFUSED, type RefusedFact } from './fact-check.ts';
import { factDigest } from './fact-seal.ts';

/** A stored fact: absent, unusable, or its value. */
export type ReadFact<K extends FactKind> =
  | { state: 'absent' }
  | { state: 'refused' }
  | { state: 'known'; value: FactOf<K> };

interface StoredFacts {
  get(tenantId: string, kind: string, key: string): { value: string; digest: Buffer } | undefined;
}

/**
 * Reads single facts. A fact that does not parse, or whose stored bytes changed, counts as refused.
 */
export class FactReader {
  readonly #stored: StoredFacts;
  /** Raises an alert about a fact that cannot be used. */
  readonly refuse: (fact: RefusedFact) => void;
  /** Results of `find`, bounded by the tenants and their servers. */
  readonly #found = new Map<string, unknown>();

  constructor(stored: StoredFacts, refuse: (fact: RefusedFact) => void) {
    this.#stored = stored;
    this.refuse = refuse;
  }

  read<K extends FactKind>(tenantId: string, kind: K, key: string): ReadFact<K> {
    const row = this.#stored.get(tenantId, kind, key);
    if (!row) return { state: 'absent' };
    if (row.value === REFUSED) return { state: 'refused' };
    const isWhole = row.digest.equals(factDigest(tenantId, kind, key, row.value));
    const parsed = isWhole ? FACTS[kind].safeParse(JSON.parse(row.value)) : null;
    if (parsed?.success) return { state: 'known', value: parsed.data as FactOf<K> };
    const reason = parsed ? zodFault(parsed.error) : 'the stored fact is damaged';
    this.refuse({ tenantId, kind, key, reason });
    return { state: 'refused' };
  }

  /**
   * A fact that is kept in memory until it changes: for kinds with few facts a tenant.
   *
   * @param ifRefused what an unusable fact counts as
   */
  find<K extends FactKind>(
    tenantId: string,
    kind: K,
    key: string,
    ifRefused?: FactOf<K>,
  ): FactOf<K> | undefined {
    const place = `${tenantId}/${kind}/${key}`;
    if (this.#found.has(place)) return this.#found.get(place) as FactOf<K> | undefined;
    const fact = this.read(tenantId, kind, key);
    const value = fact.state === 'known' ? fact.value : undefined;
    const found = fact.state === 'refused' ? ifRefused : value;
    this.#found.set(place, found);
    return found;
  }

  /** Forgets the result for one fact. */
  forget(tenantId: string, kind: string, key: string): void {
    this.#found.delete(`${tenantId}/${kind}/${key}`);
  }

  forgetTenant(tenantId: string): void {
    forgetTenant(this.#found, tenantId);
  }
}

/** Removes a tenant's entries; the keys begin with its id and a slash. */
export function forgetTenant(
  kept: { keys(): Iterable<string>; delete(key: string): boolean },
  tenantId: string,
): void {
  for (const key of kept.keys()) if (key.startsWith(`${tenantId}/`)) kept.delete(key);
}
