/**
 * The reading side of a tenant's feed: data planes pull entries by cursor, and wait when they are
 * up to date. Platform code writes the entries (tenant-scope.ts).
 *
 * A change costs one read of the database for all waiting readers. A reader that is up to date
 * costs none, except for a check every ten seconds.
 */
import type { ControlPlaneLink, FeedPage } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { LRUCache } from 'lru-cache';
import type { ChangeBus } from '../platform/database/change-bus.ts';
import { systemScope, type TenantDatabase } from '../platform/database/tenant-scope.ts';
import { createAdminHeadStatements } from './admin-head-statements.ts';
import type { ClockReading } from './dated-statements.ts';
import { createFeedSnapshots, type FeedSnapshotsDeps } from './feed-snapshots.ts';
import { type FeedHeads, feedStore, type PrepareApprovals, type StoredPage } from './feed-store.ts';
import { createFreshnessStatements, type StatementSigner } from './freshness-statements.ts';
import { createRecognitionStatements } from './recognition-statements.ts';
import { createSharedReads } from './shared-reads.ts';
import { createTenantListeners, type ListenerLimits, type Waiter } from './tenant-listeners.ts';

/** The most entries of a page, and the longest poll in milliseconds. */
export const FEED_LIMITS = { page: 1_000, waitMs: 30_000 } as const;

/** A replica may die between its commit and its notification. */
const RECHECK_AFTER_MS = 10_000;
const CACHED_TENANTS = 10_000;
/** How long a feed is known to hold what is withheld; then it is looked at again. */
const WITHHELD_MS = 10 * 60 * 1000;

export interface FeedReader {
  /**
   * Entries after the cursor; waits up to `waitMs` (30 s at most) for the first one.
   *
   * @throws AppError FEED_RESET when the feed cannot be continued there: the cursor is older than
   *   what is kept, newer than the head, or has another digest, or an approval that nobody gave
   *   follows: a snapshot leaves it out, and a page could not, since its digest covers every entry
   * @throws AppError UNAVAILABLE when too many wait already
   */
  readFeed(request: Waiter & Parameters<ControlPlaneLink['readFeed']>[0]): Promise<FeedPage>;
  /**
   * All current facts: pages by (kind, key), then the signed end.
   *
   * @throws AppError UNAVAILABLE when too many are being read, or it was read too slowly
   */
  readSnapshot(
    request: { tenantId: string } & Parameters<ControlPlaneLink['readSnapshot']>[0],
  ): ReturnType<ControlPlaneLink['readSnapshot']>;
  /**
   * The statement that this data plane is recognised, as a page carries it.
   *
   * @param at before its token was found good; now for the one in this process, which has none
   */
  recognise(tenantId: string, deploymentId: string, at?: ClockReading): Promise<RecognitionParts>;
  /** The clock that dates the statements. */
  readClock(): ClockReading;
  /** Ends every wait: the readers get an empty page. */
  close(): void;
}

export type RecognitionParts = Pick<FeedPage, 'recognition' | 'recognition_clock'>;

export interface FeedReaderDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  changes: Pick<ChangeBus, 'subscribe'>;
  /** Signs the statements about the feed. */
  signer: StatementSigner;
  /** Finds approvals that nobody gave: they are handed to no data plane. */
  prepareApprovals: PrepareApprovals;
  /** Dates the statements: it must not run back, since data planes refuse what is older. */
  now: () => Date;
  /** Which of its clocks `now` is: it rises when the operator accepts an earlier one. */
  clockGeneration?: () => number;
  listeners?: ListenerLimits;
  /** How long cached heads are used before they are read again. */
  recheckAfterMs?: number;
  snapshots?: FeedSnapshotsDeps['limits'];
}

interface KnownHeads {
  /** The tenant's version when the read began. */
  version: number;
  /** When the read began, by performance.now() and by the clock. */
  tick: number;
  read: ClockReading;
  heads: FeedHeads;
}

export function createFeedReader(deps: FeedReaderDeps): FeedReader {
  const { db, changes, signer, prepareApprovals, recheckAfterMs = RECHECK_AFTER_MS } = deps;
  const readGeneration = deps.clockGeneration ?? (() => 0);
  const readClock = () => ({ time: deps.now(), generation: readGeneration() });
  // Subscribed first, so that a change ends the sharing before it wakes the readers.
  const reads = createSharedReads<FeedPage>(changes);
  const listeners = createTenantListeners(changes, deps.listeners);
  const statements = createFreshnessStatements(signer);
  const adminHeads = createAdminHeadStatements(signer);
  const recognitions = createRecognitionStatements(signer);
  const snapshots = createFeedSnapshots({
    ...{ db, signer, prepareApprovals, readClock },
    limits: deps.snapshots,
  });
  const known = new LRUCache<string, KnownHeads>({ max: CACHED_TENANTS });
  /** The last entry that is withheld: earlier pages would not be proven without it. */
  const withheld = new LRUCache<string, number>({ max: CACHED_TENANTS, ttl: WITHHELD_MS });

  const readPage = async (
    tenantId: string,
    { cursor, digest, limit }: { cursor: number; digest: string; limit: number },
  ): Promise<FeedPage> => {
    const cached = known.get(tenantId);
    if (cached?.heads.seq === cursor && cached.heads.digest === digest && isCurrent(cached)) {
      const page = { heads: cached.heads, cursorDigest: digest, entries: [] };
      return toFeedPage(page, cursor, cached.read);
    }
    return reads.read(tenantId, `${cursor}/${digest}/${limit}`, async () => {
      const began = {
        version: reads.version(tenantId),
        tick: performance.now(),
        read: readClock(),
      };
      const findUnbacked = await prepareApprovals();
      const page = await db.inTenant(systemScope(tenantId), async (tx) => {
        const page = await feedStore(tx).readPage(cursor, limit);
        const unbacked = await findUnbacked(tx, page.entries);
        if (unbacked.size > 0) withheld.set(tenantId, Math.max(...unbacked));
        return page;
      });
      known.set(tenantId, { ...began, heads: page.heads });
      const last = withheld.get(tenantId) ?? 0;
      const isWithheld = cursor < last && last <= page.heads.seq;
      if (isWithheld || !canReadOn(page, cursor, digest)) throw new AppError('FEED_RESET');
      return toFeedPage(page, cursor, began.read);
    });

    function isCurrent({ version, tick, read }: KnownHeads): boolean {
      if (read.generation !== readGeneration()) return false;
      return version === reads.version(tenantId) && performance.now() - tick < recheckAfterMs;
    }

    async function toFeedPage(
      page: StoredPage,
      from: number,
      read: ClockReading,
    ): Promise<FeedPage> {
      const { heads, entries } = page;
      const { signed: statement, clock } = await statements.about(tenantId, heads, read);
      const { admin } = heads;
      const signed = admin && (await adminHeads.about(tenantId, admin, read.time));
      const cursor = entries.at(-1)?.seq ?? from;
      const parts = { statement, ...(clock && { clock }), ...(signed && { admin_head: signed }) };
      return { entries, cursor, head: heads.seq, ...parts };
    }
  };

  return {
    readFeed: async ({ tenantId, deploymentId, cursor, digest, limit, waitMs: asked, signal }) => {
      const waitMs = Math.min(asked, FEED_LIMITS.waitMs);
      const place = { cursor, digest, limit: Math.max(1, Math.min(limit, FEED_LIMITS.page)) };
      const listener = listeners.listen({ tenantId, deploymentId }, { waitMs, signal });
      try {
        // Reads once more when the time is up: a notification may have been lost, and the statement
        // may be old.
        for (let isLast = waitMs <= 0; ; ) {
          const page = await readPage(tenantId, place);
          if (page.entries.length > 0 || isLast || signal.aborted) return page;
          isLast = !(await listener.next());
        }
      } finally {
        listener.end();
      }
    },
    readSnapshot: (request) => snapshots.read(request),
    recognise: async (tenantId, deploymentId, at = readClock()) => {
      const { signed, clock } = await recognitions.about(tenantId, deploymentId, at);
      return { recognition: signed, ...(clock && { recognition_clock: clock }) };
    },
    readClock,
    close: () => {
      listeners.close();
      reads.close();
    },
  };
}

/** Whether the cursor is a place in this feed, and every entry after it is still stored. */
function canReadOn({ heads, cursorDigest }: StoredPage, cursor: number, digest: string): boolean {
  return cursor >= heads.compactedSeq && cursor <= heads.seq && cursorDigest === digest;
}
