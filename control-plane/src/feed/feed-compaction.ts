/**
 * Removes superseded entries and tombstones from the feeds once nobody should need them. A data
 * plane behind the compaction reads a snapshot instead. The newest entry of a key stays unless it
 * is a tombstone, so that snapshots lose nothing. Entries after the compaction are complete. Proven
 * by feed-compaction.pg.test.ts.
 */
import { CLOCK_JUMP_MS } from '@governance/shared/time/clock-jumps';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import { boundHeldLocks } from '../platform/database/tenant-lock.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';

export interface CompactionLimits {
  /** The least age of a removed entry. */
  keepMs: number;
  /** The newest entries of a tenant are kept, however old. */
  keepEntries: number;
  /** Entries of one transaction, and of one run for a tenant. */
  step: number;
  run: number;
}

/**
 * After a day and 10,000 changes, a snapshot is no larger than the entries; a data plane that was
 * away for less continues at its cursor.
 */
const COMPACTION_LIMITS: CompactionLimits = {
  keepMs: 24 * 60 * 60 * 1000,
  keepEntries: 10_000,
  step: 5_000,
  run: 200_000,
};

const EVERY_MS = 60 * 60 * 1000;

export interface CompactionDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  now: () => Date;
  limits?: Partial<CompactionLimits>;
}

export function createFeedCompaction(deps: CompactionDeps): LeaderTask {
  return {
    name: 'feed_compaction',
    everyMs: EVERY_MS,
    run: (signal) =>
      forEachTenant(deps.db, signal, async (tenantId) => {
        await compactFeed(deps, tenantId, signal);
      }),
  };
}

/**
 * Compacts one tenant's feed as far as its limits allow.
 *
 * @returns how many entries it looked at
 */
export async function compactFeed(
  { db, now, limits: given }: Omit<CompactionDeps, 'db'> & { db: Pick<TenantDatabase, 'inTenant'> },
  tenantId: string,
  signal: AbortSignal,
): Promise<number> {
  const limits = { ...COMPACTION_LIMITS, ...given };
  let looked = 0;
  while (!signal.aborted && looked < limits.run) {
    const seen = await db.inTenant(systemScope(tenantId), (tx) => compactStep(tx, limits, now()));
    looked += seen;
    if (seen === 0) break;
  }
  return looked;
}

/**
 * @returns how many entries it looked at; 0 when there is nothing to do
 * @throws Error when another replica compacted the feed at the same time
 */
async function compactStep(
  { db, scope: { tenantId } }: TenantTransaction,
  { keepMs, keepEntries, step }: CompactionLimits,
  now: Date,
): Promise<number> {
  const keepFrom = new Date(now.getTime() - keepMs);
  // An entry further ahead was made before the clock was put back: it would stop at it until then.
  const keepTo = new Date(now.getTime() + CLOCK_JUMP_MS);
  // Contiguous, from the last compaction to the first entry to keep.
  const [end] = await db.$queryRaw<{ from: bigint; seq: bigint | null; digest: string | null }[]>`
    SELECT h.compacted_seq AS from, e.seq, e.digest FROM tenant_heads h
    LEFT JOIN LATERAL (
      SELECT seq, digest FROM feed_entries
      WHERE tenant_id = h.tenant_id AND seq > h.compacted_seq
        AND seq <= LEAST(h.compacted_seq + ${step}, h.feed_seq - ${keepEntries})
        AND seq < COALESCE((
          SELECT seq FROM feed_entries
          WHERE tenant_id = h.tenant_id AND seq > h.compacted_seq
            AND seq <= h.compacted_seq + ${step}
            AND created_at > ${keepFrom} AND created_at <= ${keepTo}
          ORDER BY seq LIMIT 1), h.feed_seq + 1)
      ORDER BY seq DESC LIMIT 1
    ) e ON true
    WHERE h.tenant_id = ${tenantId}::uuid`;
  if (!end || end.seq === null) return 0;
  const { from, seq: to, digest } = end;

  // For each key in the range: its older entries, and its last one too if that is a tombstone.
  // Entries after `to` stay.
  await db.$executeRaw`
    DELETE FROM feed_entries e USING (
      SELECT kind, key, max(seq) AS seq FROM feed_entries
      WHERE tenant_id = ${tenantId}::uuid AND seq > ${from} AND seq <= ${to} GROUP BY kind, key
    ) last
    WHERE e.tenant_id = ${tenantId}::uuid AND e.kind = last.kind AND e.key = last.key
      AND (e.seq < last.seq OR (e.seq = last.seq AND e.value IS NULL))`;
  // Locked last, as by every writer of the feed. Another replica may have been first.
  await boundHeldLocks(db);
  const moved = await db.$executeRaw`
    UPDATE tenant_heads SET compacted_seq = ${to}, compacted_digest = ${digest}
    WHERE tenant_id = ${tenantId}::uuid AND compacted_seq = ${from}`;
  if (moved === 0) throw new Error('the feed was compacted by another replica at the same time');
  return Number(to - from);
}
