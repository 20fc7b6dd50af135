/**
 * Snapshots of a tenant's feed: all current facts, page by page from one REPEATABLE READ
 * transaction, so that the pages and the signed end are consistent. Proven by
 * feed-snapshots.pg.test.ts.
 */
import type { ControlPlaneLink } from '@governance/shared/channel/channels';
import { createSnapshotDigest } from '@governance/shared/channel/feed-chain';
import type { SnapshotEnd } from '@governance/shared/channel/signed-statement';
import { AppError } from '@governance/shared/errors';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { createSlots, type SlotLimits } from '../platform/slots.ts';
import { type ClockReading, signDated } from './dated-statements.ts';
import { feedStore, type PrepareApprovals, type SnapshotPlace } from './feed-store.ts';
import type { StatementSigner } from './freshness-statements.ts';

export interface SnapshotLimits extends SlotLimits {
  /** Entries of one page at most. */
  page: number;
  /**
   * The time from a snapshot's first query to its end, however slowly it is read: an open
   * transaction holds back vacuum. Less than a transaction's own 60 s.
   */
  ms: number;
}

const SNAPSHOT_LIMITS: SnapshotLimits = {
  page: 1_000,
  ms: 55_000,
  busy: 'Too many snapshots are being read: try again.',
  total: 4,
  perTenant: 2,
  waiting: 1_000,
  waitMs: 10_000,
};

export interface FeedSnapshots {
  /**
   * @throws AppError UNAVAILABLE when too many are being read, or it was read too slowly
   * @throws the signal's reason when it aborts
   */
  read(
    request: { tenantId: string } & Parameters<ControlPlaneLink['readSnapshot']>[0],
  ): ReturnType<ControlPlaneLink['readSnapshot']>;
}

export interface FeedSnapshotsDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  signer: StatementSigner;
  /** Finds approvals that nobody gave: they are handed to no data plane. */
  prepareApprovals: PrepareApprovals;
  readClock: () => ClockReading;
  limits?: Partial<SnapshotLimits> | undefined;
}

export function createFeedSnapshots(deps: FeedSnapshotsDeps): FeedSnapshots {
  const { db, signer, prepareApprovals, readClock } = deps;
  const limits = { ...SNAPSHOT_LIMITS, ...deps.limits };
  const slots = createSlots(limits);

  return {
    async *read({ tenantId, signal }) {
      const findUnbacked = await prepareApprovals();
      const release = await slots.take(tenantId, signal);
      const began = readClock();
      const transaction = openTransaction(db, tenantId, { signal, ms: limits.ms, release });
      const sum = createSnapshotDigest();
      try {
        const tx = await transaction.begun;
        const store = feedStore(tx);
        const heads = await transaction.run(() => store.readHeads());
        let place: SnapshotPlace | undefined;
        do {
          const from = place;
          const page = await transaction.run(() => store.readSnapshotPage(from, limits.page));
          const unbacked = await transaction.run(() => findUnbacked(tx, page.entries));
          const entries = page.entries.filter(({ seq }) => !unbacked.has(seq));
          for (const entry of entries) sum.add(entry);
          if (entries.length > 0) yield entries;
          place = page.next;
        } while (place);
        const statement: SnapshotEnd = {
          type: 'snapshot_end',
          v: 1,
          tenant_id: tenantId,
          feed_seq: heads.seq,
          feed_digest: heads.digest,
          count: sum.count(),
          entries_digest: sum.hex(),
          time: began.time.toISOString(),
        };
        const { signed, clock } = signDated(await signer(), statement, began.generation);
        return { ...signed, ...(clock && { clock }) };
      } finally {
        transaction.end();
      }
    },
  };
}

interface OpenTransaction {
  begun: Promise<TenantTransaction>;
  /** Runs a query; throws the reason if the transaction was ended. */
  run<T>(query: () => Promise<T>): Promise<T>;
  end(): void;
}

/**
 * A transaction that stays open between its reader's pulls: until `end`, the signal, or the time
 * limit. Then it is rolled back, even if the reader never returns.
 */
function openTransaction(
  db: Pick<TenantDatabase, 'inTenant'>,
  tenantId: string,
  { signal, ms, release }: { signal: AbortSignal; ms: number; release: () => void },
): OpenTransaction {
  let why: unknown;
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const stop = (reason: unknown) => {
    why ??= reason;
    finish();
  };
  const onAbort = () => stop(signal.reason);
  const timer = setTimeout(
    () => stop(new AppError('UNAVAILABLE', 'The snapshot was not read in time: try again.')),
    ms,
  );
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);

  const begun = new Promise<TenantTransaction>((resolve, reject) => {
    const work = async (tx: TenantTransaction) => {
      await tx.db.$executeRaw`SET TRANSACTION READ ONLY`;
      resolve(tx);
      await finished;
    };
    db.inTenant(systemScope(tenantId), work, { isolationLevel: 'RepeatableRead' })
      .catch(reject)
      .finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        release();
      });
  });
  return {
    begun,
    run: async (query) => {
      if (why !== undefined) throw why;
      try {
        return await query();
      } catch (error) {
        throw why ?? error;
      }
    },
    end: finish,
  };
}
