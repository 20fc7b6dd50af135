/**
 * A tenant's facts on disk as a whole: its position in the feed with the seal over all its facts,
 * its start, and its end.
 */
import { FEED_START } from '@governance/shared/channel/feed-chain';
import type { RefusedFact } from './fact-check.ts';
import type { FactIndex } from './fact-kind.ts';
import {
  clockDigest,
  DigestSet,
  type FeedPlace,
  factDigest,
  type TenantState,
} from './fact-seal.ts';
import type { ReplicaFile } from './replica-file.ts';

/** Stores a tenant's position; belongs in the transaction that changes the facts. */
export function putState(
  sql: ReplicaFile['sql'],
  tenantId: string,
  { place, sum }: TenantState,
): void {
  const { cursor, digest, statementMs } = place;
  sql.putTenant.run(tenantId, cursor, digest, statementMs, sum.seal(tenantId, place));
}

export function createStoredTenants(
  { db, sql }: ReplicaFile,
  indexes: readonly FactIndex<never>[],
  onRefused: (fact: RefusedFact) => void,
) {
  /** Undefined where there is no such tenant, or its facts are damaged. */
  function read(tenantId: string): TenantState | undefined {
    const row = sql.findTenant.get(tenantId);
    if (!row) return undefined;
    const sum = new DigestSet();
    for (const { kind, key } of sql.readFacts.iterate(tenantId)) {
      // Looked up as enforcement will: a damaged tree may list a row that no look-up finds.
      const found = sql.findFact.get(tenantId, kind, key);
      if (found) sum.toggle(factDigest(tenantId, kind, key, found.value));
    }
    const { cursor, digest, statement_ms: statementMs } = row;
    const place: FeedPlace = { cursor, digest, statementMs };
    const clock = sql.findClock.get(tenantId);
    const isOfClock = !clock || clockDigest(tenantId, clock.generation).equals(clock.digest);
    if (isOfClock && sum.seal(tenantId, place).equals(row.seal)) return { place, sum };
    onRefused({ tenantId, kind: '*', key: '*', reason: 'the stored facts are damaged' });
    return undefined;
  }

  /** Starts empty: until the feed is read again, all agents of the tenant are unknown. */
  function begin(tenantId: string): TenantState {
    const place = { cursor: 0, digest: FEED_START, statementMs: 0 };
    const state = { place, sum: new DigestSet() };
    db.transaction(() => {
      deleteRows(tenantId);
      putState(sql, tenantId, state);
    }).immediate();
    return state;
  }

  function deleteRows(tenantId: string): void {
    sql.deleteTenantFacts.run(tenantId);
    for (const index of indexes) index.clear(tenantId);
    sql.clearStaged.run(tenantId);
    sql.deleteClock.run(tenantId);
    sql.deleteTenant.run(tenantId);
  }

  return {
    /** What is stored of a tenant, or an empty start. */
    open: (tenantId: string): TenantState => read(tenantId) ?? begin(tenantId),
    clockGeneration: (tenantId: string): number => sql.findClock.get(tenantId)?.generation ?? 0,
    /** Replaces the newest time with that of a later generation of the clock. */
    beginClock: (
      tenantId: string,
      { place, sum }: TenantState,
      generation: number,
      statementMs: number,
    ): TenantState => {
      const state = { place: { ...place, statementMs }, sum };
      db.transaction(() => {
        putState(sql, tenantId, state);
        sql.putClock.run(tenantId, generation, clockDigest(tenantId, generation));
      }).immediate();
      return state;
    },
    erase: (tenantId: string): void => db.transaction(() => deleteRows(tenantId)).immediate(),
  };
}
