/**
 * Stores entries of a feed: facts, their index rows and the position after them in one durable
 * transaction. A refused fact is stored as refused, since its absence might permit something.
 */
import { FeedEntry } from '@governance/shared/channel/facts';
import { feedDigest } from '@governance/shared/channel/feed-chain';
import { z } from 'zod';
import { checkFact, type RefusedFact, refusedFor } from './fact-check.ts';
import type { FactIndex } from './fact-kind.ts';
import { type DigestSet, factDigest, type TenantState } from './fact-seal.ts';
import type { ReplicaFile } from './replica-file.ts';
import { putState } from './stored-tenants.ts';

const FeedEntries = z.array(FeedEntry);

export interface Stored {
  state: TenantState;
  /** The entries after the earlier position. */
  entries: FeedEntry[];
  refused: RefusedFact[];
}

/** @returns a function that stores entries; null from it where nothing is new */
export function createEntryStore({ db, sql }: ReplicaFile, indexes: readonly FactIndex<never>[]) {
  /** @returns the fact if it was refused */
  function storeFact(tenantId: string, entry: FeedEntry, sum: DigestSet): RefusedFact | null {
    const { kind, key, value } = entry;
    const index = indexes.find((one) => one.kind === kind);
    index?.remove(tenantId, key);
    const before = sql.findFact.get(tenantId, kind, key);
    if (before) sum.toggle(before.digest);
    sql.deleteFact.run(tenantId, kind, key);
    if (value === null || value === undefined) return null;
    const checked = checkFact(kind, key, value, index);
    const conflict = checked.reason === null ? index?.put(tenantId, value as never) : null;
    const { text, reason } = conflict ? refusedFor(conflict) : checked;
    const digest = factDigest(tenantId, kind, key, text);
    sql.putFact.run(tenantId, kind, key, text, digest);
    sum.toggle(digest);
    return reason === null ? null : { tenantId, kind, key, reason };
  }

  return (
    tenantId: string,
    { place: current, sum: known }: TenantState,
    given: FeedEntry[],
    cursor: number,
    statementMs: number,
  ): Stored | null => {
    const entries = FeedEntries.parse(given).filter((entry) => entry.seq > current.cursor);
    const place = {
      cursor: Math.max(current.cursor, cursor, ...entries.map((entry) => entry.seq)),
      digest: entries.reduce(feedDigest, current.digest),
      statementMs: Math.max(current.statementMs, statementMs),
    };
    if (place.cursor === current.cursor && place.statementMs === current.statementMs) return null;
    const state = { place, sum: known.copy() };
    const refused = db
      .transaction(() => {
        const refusals = entries.flatMap((entry) => storeFact(tenantId, entry, state.sum) ?? []);
        putState(sql, tenantId, state);
        return refusals;
      })
      .immediate();
    return { state, entries, refused };
  };
}
