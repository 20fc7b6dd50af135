/**
 * Replaces everything known of a tenant by a snapshot of its feed: staged as it arrives, and swapped
 * in after its signed end was verified. Until then the earlier facts stay in force. What is signed
 * is known only at the end, so what is staged before is bounded: it would fill the disk.
 */
import type { ControlPlaneLink } from '@governance/shared/channel/channels';
import type { FeedEntry } from '@governance/shared/channel/facts';
import {
  readGeneration,
  type StatementKey,
  verifyStatement,
} from '@governance/shared/channel/signed-statement';
import type { LocalReplica } from '../../replica/replica.ts';
import type { SnapshotStaging } from '../../replica/snapshot-staging.ts';
import { FeedRefusedError } from '../link/feed-error.ts';
import { failureCode } from '../link/sync-failure.ts';
import { createSnapshotCheck } from './feed-page.ts';
import type { FeedProgress } from './feed-progress.ts';
import type { Freshness } from './freshness.ts';
import type { Recognitions } from './recognitions.ts';

const MIB = 1024 * 1024;

/**
 * What one may hold. The most that a tenant needs are credentials: of 500 servers for 2,000 data
 * planes each.
 */
const LIMITS = { entries: 2_000_000, bytes: 2_048 * MIB };

export type SnapshotLimits = typeof LIMITS;

/**
 * @param from.signal aborts the request
 * @returns the position at which the feed goes on
 */
export async function takeSnapshot(from: {
  tenantId: string;
  link: Pick<ControlPlaneLink, 'readSnapshot'>;
  replica: Pick<LocalReplica, 'place' | 'beginSnapshot'>;
  freshness: Pick<Freshness, 'enter' | 'believe' | 'check' | 'verified' | 'answered'>;
  recognitions: Pick<Recognitions, 'asOf' | 'restart'>;
  progress: FeedProgress;
  trust: () => { tenantId: string; keys: readonly StatementKey[] };
  signal: AbortSignal;
  snapshotLimits?: SnapshotLimits | undefined;
}): Promise<number> {
  const { tenantId, replica, freshness, progress, snapshotLimits = LIMITS } = from;
  progress.stage = 'snapshot';
  const staging = replica.beginSnapshot(tenantId);
  const pages = from.link.readSnapshot({ signal: from.signal });
  try {
    const check = createSnapshotCheck();
    const left = { ...snapshotLimits };
    let next = await pages.next();
    for (; !next.done; next = await pages.next()) {
      progress.received();
      check.add(next.value);
      left.entries -= next.value.length;
      left.bytes -= stage(staging, next.value);
      if (left.entries < 0 || left.bytes < 0) throw tooLarge(snapshotLimits);
    }
    progress.stage = 'verify';
    const end = verifyStatement(next.value, from.trust());
    const generation = readGeneration(end, next.value.clock, from.trust());
    if (freshness.enter(generation, Date.parse(end.time))) from.recognitions.restart();
    const stated = freshness.believe(Date.parse(end.time));
    freshness.check(stated);
    check.end(end);
    progress.stage = 'apply';
    const cursor = end.feed_seq;
    const counted = from.recognitions.asOf(stated);
    const statementMs = Math.max(counted, replica.place(tenantId).statementMs);
    staging.swap({ cursor, digest: end.feed_digest, statementMs });
    freshness.verified(stated, cursor, cursor, counted);
    // A snapshot recognises no data plane: where one is expected, the next page tells how old this is.
    if (counted === stated) freshness.answered();
    return cursor;
  } catch (error) {
    staging.drop();
    // Aborts an answer that was not read to its end.
    await pages.return(undefined as never);
    throw error;
  }
}

/** A duplicate entry is the sender's fault, not the disk's. */
function stage(staging: SnapshotStaging, entries: FeedEntry[]): number {
  try {
    return staging.add(entries);
  } catch (cause) {
    if (!failureCode(cause).startsWith('SQLITE_CONSTRAINT')) throw cause;
    throw new FeedRefusedError('snapshot_malformed', 'an entry came twice', { cause });
  }
}

function tooLarge({ entries, bytes }: SnapshotLimits): FeedRefusedError {
  const limits = `more than ${entries} entries or ${bytes / MIB} MiB of them`;
  return new FeedRefusedError('snapshot_too_large', limits);
}
