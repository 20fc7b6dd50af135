/**
 * The reading side of a tenant's feed: what a data plane pulls, entry after entry by cursor, and
 * waits for when it has everything. Platform code writes the entries (tenant-scope.ts).
 */
import type { ControlPlaneLink, FeedPage } from '@governance/shared/channels';
import type { FeedEntry } from '@governance/shared/facts';
import type { ChangeBus } from '../platform/change-bus.ts';
import { systemScope, type TenantDatabase } from '../platform/tenant-scope.ts';
import { createSharedReads } from './shared-reads.ts';
import { createTenantListeners } from './tenant-listeners.ts';

/** Entries of one page at most, and long polls at once. */
export const FEED_LIMITS = { page: 1_000, listeners: 10_000 } as const;

export interface FeedReader {
  /**
   * Entries after the cursor; waits up to `waitMs` for the first one.
   *
   * A cursor beyond the head (a control plane that was restored from a backup) is answered at
   * once with no entries: the caller compares it with `head`.
   *
   * @throws AppError UNAVAILABLE when too many wait already
   */
  readFeed(
    request: { tenantId: string } & Parameters<ControlPlaneLink['readFeed']>[0],
  ): Promise<FeedPage>;
  /** Ends every wait: the readers get an empty page. */
  close(): void;
}

export interface FeedReaderDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  changes: Pick<ChangeBus, 'subscribe'>;
  maxListeners?: number;
}

export function createFeedReader({ db, changes, maxListeners }: FeedReaderDeps): FeedReader {
  // Made first, so that a change has ended the sharing before it wakes those who read again.
  const reads = createSharedReads<FeedPage>(changes);
  const listeners = createTenantListeners(changes, maxListeners ?? FEED_LIMITS.listeners);
  return {
    readFeed: async ({ tenantId, cursor, limit, waitMs, signal }) => {
      const size = Math.max(1, Math.min(limit, FEED_LIMITS.page));
      const listener = listeners.listen(tenantId, { waitMs, signal });
      try {
        for (;;) {
          const page = await reads.read(tenantId, `${cursor}/${size}`, () =>
            readPage(db, tenantId, cursor, size),
          );
          const nothingYet = page.entries.length === 0 && cursor <= page.head;
          if (!nothingYet || !(await listener.next())) return page;
        }
      } finally {
        listener.end();
      }
    },
    close: () => {
      listeners.close();
      reads.close();
    },
  };
}

interface Row {
  head: bigint;
  seq: bigint | null;
  kind: string;
  key: string;
  value: string | null;
}

/** The head and the entries in one statement, so that both are of the same moment. */
function readPage(
  db: Pick<TenantDatabase, 'inTenant'>,
  tenantId: string,
  cursor: number,
  limit: number,
): Promise<FeedPage> {
  return db.inTenant(systemScope(tenantId), async (tx) => {
    const rows = await tx.db.$queryRaw<Row[]>`
      SELECT h.feed_seq AS head, e.seq, e.kind, e.key, e.value
      FROM tenant_heads h LEFT JOIN LATERAL (
        SELECT seq, kind, key, value FROM feed_entries
        WHERE tenant_id = h.tenant_id AND seq > ${cursor} ORDER BY seq LIMIT ${limit}
      ) e ON true
      WHERE h.tenant_id = ${tenantId}::uuid ORDER BY e.seq`;
    const entries = rows.flatMap(({ seq, kind, key, value }): FeedEntry[] =>
      seq === null ? [] : [{ seq: Number(seq), kind, key, value: value && JSON.parse(value) }],
    );
    const head = Number(rows[0]?.head ?? 0);
    return { entries, cursor: entries.at(-1)?.seq ?? cursor, head };
  });
}
