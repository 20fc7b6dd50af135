/**
 * Stages a snapshot of a tenant's feed: written page by page beside the valid facts, so that memory
 * does not grow with it, and swapped in by one transaction. The next snapshot discards what an
 * ended process left staged.
 */
import type { FeedEntry } from '@governance/shared/channel/facts';
import { checkFact, REFUSED, type RefusedFact } from './fact-check.ts';
import type { FactIndex } from './fact-kind.ts';
import { DigestSet, type FeedPlace, factDigest, type TenantState } from './fact-seal.ts';
import type { ReplicaFile } from './replica-file.ts';
import { putState } from './stored-tenants.ts';

export type SnapshotStaging = ReturnType<typeof createSnapshotStaging>;

/**
 * @param onSwapped called after the swap is on disk, with the tenant's new state and the facts
 *   that were refused
 */
export function createSnapshotStaging(
  { db, sql }: ReplicaFile,
  indexes: readonly FactIndex<never>[],
  tenantId: string,
  onSwapped: (state: TenantState, refused: RefusedFact[]) => void,
) {
  const sum = new DigestSet();
  const refused: RefusedFact[] = [];
  let isOpen = true;
  sql.clearStaged.run(tenantId);

  /** @returns the bytes that it stored */
  function stage({ kind, key, value }: FeedEntry): number {
    if (value === null || value === undefined) throw new Error('a tombstone in a snapshot');
    const index = indexes.find((one) => one.kind === kind);
    const { text, reason } = checkFact(kind, key, value, index);
    const digest = factDigest(tenantId, kind, key, text);
    sql.stage.run(tenantId, kind, key, text, digest);
    sum.toggle(digest);
    if (reason !== null) refused.push({ tenantId, kind, key, reason });
    return Buffer.byteLength(kind) + Buffer.byteLength(key) + Buffer.byteLength(text);
  }

  function fill({ kind, clear, fill: fillIn }: FactIndex<never>): void {
    clear(tenantId);
    for (const { key, digest, reason } of fillIn(tenantId)) {
      const instead = factDigest(tenantId, kind, key, REFUSED);
      sql.putFact.run(tenantId, kind, key, REFUSED, instead);
      sum.toggle(digest);
      sum.toggle(instead);
      refused.push({ tenantId, kind, key, reason });
    }
  }

  return {
    /**
     * @returns the bytes that it stored
     * @throws when an entry is a tombstone, or its (kind, key) occurred before
     */
    add: (entries: readonly FeedEntry[]): number => {
      if (!isOpen) throw new Error('the snapshot is over');
      const stageAll = () => entries.reduce((bytes, entry) => bytes + stage(entry), 0);
      return db.transaction(stageAll).immediate();
    },
    /** Replaces the tenant's facts and its feed position by the staged ones, atomically. */
    swap: (place: FeedPlace): void => {
      if (!isOpen) throw new Error('the snapshot is over');
      isOpen = false;
      db.transaction(() => {
        sql.deleteTenantFacts.run(tenantId);
        sql.moveStaged.run(tenantId);
        indexes.forEach(fill);
        putState(sql, tenantId, { place, sum });
        sql.clearStaged.run(tenantId);
      }).immediate();
      onSwapped({ place, sum }, refused);
    },
    /** Discards what was staged. No effect after a swap. */
    drop: (): void => {
      if (!isOpen) return;
      isOpen = false;
      sql.clearStaged.run(tenantId);
    },
  };
}
