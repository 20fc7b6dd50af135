/**
 * A snapshot of a tenant's feed on its way in: written page by page beside what is valid, so that
 * memory does not grow with it, and swapped in by one transaction. What was staged when a process
 * ended is thrown away by the next snapshot.
 */
import type { FeedEntry } from '@governance/shared/facts';
import type { Database } from 'better-sqlite3';
import { checkFact, REFUSED, type RefusedFact } from './fact-check.ts';
import { DigestSet, type FeedPlace, factDigest } from './fact-seal.ts';
import type { ReplicaSql } from './replica-schema.ts';

export interface SnapshotStaging {
  /** @throws when an entry is a tombstone, or its (kind, key) came before */
  add(entries: readonly FeedEntry[]): void;
  /** Replaces the tenant's facts by what was added, and its place in the feed, as one. */
  swap(place: FeedPlace): void;
  /** Forgets what was added. Does nothing after a swap. */
  drop(): void;
}

/**
 * @param onSwapped told after the swap is on disk, with the new sum of the tenant's facts and
 *   those that were refused
 */
export function createSnapshotStaging(
  { db, sql }: { db: Database; sql: ReplicaSql },
  tenantId: string,
  onSwapped: (place: FeedPlace, sum: DigestSet, refused: RefusedFact[]) => void,
): SnapshotStaging {
  const sum = new DigestSet();
  const refused: RefusedFact[] = [];
  let isOpen = true;
  sql.clearStaged.run(tenantId);

  function stage({ kind, key, value }: FeedEntry): void {
    if (value === null || value === undefined) throw new Error('a tombstone in a snapshot');
    const { text, reason, agent } = checkFact(kind, key, value);
    const digest = factDigest(tenantId, kind, key, text);
    sql.stage.run(
      tenantId,
      kind,
      key,
      text,
      digest,
      agent?.client_id ?? null,
      agent?.status ?? null,
      agent?.kill_released_generation ?? null,
    );
    sum.toggle(digest);
    if (reason !== null) refused.push({ tenantId, kind, key, reason });
  }

  function refuseUnmoved(): void {
    for (const { key, digest } of sql.readUnmoved.all(tenantId)) {
      const instead = factDigest(tenantId, 'agent', key, REFUSED);
      sql.putFact.run(tenantId, 'agent', key, REFUSED, instead);
      sum.toggle(digest);
      sum.toggle(instead);
      const reason = 'its client id belongs to another agent';
      refused.push({ tenantId, kind: 'agent', key, reason });
    }
  }

  return {
    add: (entries) => {
      if (!isOpen) throw new Error('the snapshot is over');
      db.transaction(() => entries.forEach(stage)).immediate();
    },
    swap: (place) => {
      if (!isOpen) throw new Error('the snapshot is over');
      isOpen = false;
      db.transaction(() => {
        sql.deleteTenantFacts.run(tenantId);
        sql.deleteTenantAgents.run(tenantId);
        sql.moveFacts.run(tenantId);
        sql.moveAgents.run(tenantId);
        refuseUnmoved();
        const seal = sum.seal(tenantId, place);
        sql.putTenant.run(tenantId, place.cursor, place.digest, place.statementMs, seal);
        sql.clearStaged.run(tenantId);
      }).immediate();
      onSwapped(place, sum, refused);
    },
    drop: () => {
      if (!isOpen) return;
      isOpen = false;
      sql.clearStaged.run(tenantId);
    },
  };
}
