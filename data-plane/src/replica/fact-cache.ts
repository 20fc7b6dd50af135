import type { FactKind, FactOf } from '@governance/shared/channel/facts';
import { LRUCache } from 'lru-cache';
import type { FactKindContext } from './fact-kind.ts';
import { forgetTenant } from './fact-reader.ts';

/** Kinds whose facts are stored under their own ids. */
type KindWithId = {
  [K in FactKind]: FactOf<K> extends { id: string } ? K : never;
}[FactKind];

/**
 * Caches facts of some kinds by id; the least recently used ones are only on disk. A fact that
 * cannot be read, or is stored under another id, counts as missing.
 *
 * @param max facts that are kept in memory
 */
export function createFactCache<Kinds extends KindWithId>(
  { facts, isServed }: Pick<FactKindContext, 'facts' | 'isServed'>,
  kinds: readonly Kinds[],
  max: number,
) {
  const known = new LRUCache<string, FactOf<Kinds>>({ max });
  return {
    find<K extends Kinds>(tenantId: string, kind: K, id: string): FactOf<K> | undefined {
      const place = `${tenantId}/${kind}/${id}`;
      const cached = known.get(place);
      if (cached !== undefined) return cached as FactOf<K>;
      const fact = isServed(tenantId) ? facts.read(tenantId, kind, id) : undefined;
      if (fact?.state !== 'known' || fact.value.id !== id) return undefined;
      known.set(place, fact.value);
      return fact.value;
    },
    changed(tenantId: string, kind: string, key: string): void {
      if ((kinds as readonly string[]).includes(kind)) known.delete(`${tenantId}/${kind}/${key}`);
    },
    dropped: (tenantId: string): void => forgetTenant(known, tenantId),
  };
}
