/**
 * Follows a tenant's feed into the replica by long polls. What cannot be verified or applied is
 * retried and never skipped: the replica then stands still, and its facts stay in force. Where the
 * feed cannot be continued (410), or too much waits for its signature, a snapshot replaces everything
 * known, in one transaction after its signed end was verified. Proven by feed-follower.test.ts and
 * feed-follower-model.test.ts.
 */
import type { ControlPlaneLink, FeedPage } from '@governance/shared/channel/channels';
import type { FeedEntry } from '@governance/shared/channel/facts';
import type { StatementKey } from '@governance/shared/channel/signed-statement';
import type { LocalReplica } from '../../replica/replica.ts';
import { sqliteCode } from '../../storage/durable-database.ts';
import { SYNC_BACKOFF } from '../link/backoff.ts';
import { outageBackoff } from '../link/contact.ts';
import { FeedRefusedError } from '../link/feed-error.ts';
import { startPollLoop } from '../link/poll-loop.ts';
import { aboutFailure, type SyncFailure, type SyncLog } from '../link/sync-failure.ts';
import { applyProven } from './apply-proven.ts';
import { createFeedNews } from './feed-news.ts';
import { type FeedPosition, verifyPage } from './feed-page.ts';
import { FeedProgress } from './feed-progress.ts';
import { createFeedReads } from './feed-reads.ts';
import {
  type FeedStatementsDeps,
  type VerifiedStatement,
  verifyStatements,
} from './feed-statements.ts';
import type { Freshness } from './freshness.ts';
import { type SnapshotLimits, takeSnapshot } from './take-snapshot.ts';
import { createUnsignedTail, type TailLimits } from './unsigned-tail.ts';

/** Entries that are read at once. */
const PAGE = 500;
/** How long a read waits at the control plane for the next change. */
const WAIT_MS = 25_000;
/** Snapshots in a row, with no page between them, before the feed counts as refused. */
const MAX_RESETS = 2;

export type FeedFollower = ReturnType<typeof startFeedFollower>;

export interface FeedFollowerOptions extends Omit<FeedStatementsDeps, 'trust'> {
  tenantId: string;
  link: Pick<ControlPlaneLink, 'readFeed' | 'readSnapshot'>;
  replica: Pick<LocalReplica, 'apply' | 'keepStatement' | 'place' | 'beginSnapshot'>;
  freshness: Pick<Freshness, 'enter' | 'believe' | 'check' | 'verified' | 'answered'>;
  /** The public keys that may sign statements now. */
  keys: () => readonly StatementKey[];
  /** Records that wait to be shipped. */
  backlog: () => number;
  /** Called with applied entries once they are durable, or with `snapshot`. */
  onApplied: (entries: FeedEntry[] | 'snapshot') => void;
  /** Called when the control plane went back in time, as after a restore. */
  onRewound: (from: number, to: number) => void;
  /** Called for each failure; `isNews` where it differs from the one before. */
  onFailure?: (failure: SyncFailure, isNews: boolean) => void;
  log: SyncLog;
  now: () => number;
  backoffLimits?: { first: number; longest: number };
  tailLimits?: TailLimits;
  snapshotLimits?: SnapshotLimits;
}

export function startFeedFollower(options: FeedFollowerOptions) {
  const { tenantId, link, replica, freshness, log } = options;
  const tail = createUnsignedTail(options.tailLimits);
  const ending = new AbortController();
  const progress = new FeedProgress(replica.place(tenantId).cursor, options.now);
  const trust = () => ({ tenantId, keys: options.keys() });
  const reads = createFeedReads({ link, backlog: options.backlog, limit: PAGE });
  /** False until the first answer, which is asked for without waiting. */
  let isCurrent = false;
  /** Whether the disk did not take what has arrived: it may suspend somebody. */
  let isUnstored = false;
  /** Snapshots since a page was last read. */
  let resets = 0;
  const news = createFeedNews({
    // A read that does not wait is left alone: made-up keys must not abort it again and again.
    hurry: () => (reads.isWaiting() ? loop.kick() : loop.hurry()),
  });

  async function step(signal: AbortSignal): Promise<boolean> {
    progress.attempted();
    const isAsked = news.began();
    const { cursor, digest } = replica.place(tenantId);
    const applied = { cursor, digest };
    const from = tail.end() ?? applied;
    const waitMs = isCurrent && !isAsked ? WAIT_MS : 0;
    const page = tail.isFull() ? null : await reads.readOn(tail, applied, waitMs, signal);
    if (!page) {
      await replaceAll(cursor);
      return true;
    }
    try {
      return await take(page, from, cursor);
    } catch (error) {
      // What could not be verified may be in it, and what could not be applied is missing in it.
      tail.drop();
      throw error;
    }
  }

  /** @returns whether the page brought something */
  async function take(page: FeedPage, from: FeedPosition, cursor: number): Promise<boolean> {
    progress.stage = 'verify';
    const signed = verifyStatements({ ...options, trust }, page);
    const { statement, stated, counted } = signed;
    const verified = verifyPage(from, page, statement, tail.awaited());
    progress.stage = 'apply';
    progress.announced(page.head);
    const isNews = verified.end.cursor !== from.cursor;
    if (isNews) progress.received();
    const entries = tail.take(page.entries, verified, statement);
    if (verified.proven !== null) {
      await applyAll(entries, verified.proven, signed);
    } else {
      freshness.verified(stated, statement.feed_seq, cursor, counted);
      progress.applied(cursor, false);
    }
    freshness.answered();
    isCurrent = true;
    // Where a page brought nothing, asking again at once would spin.
    return isNews;
  }

  async function applyAll(
    entries: FeedEntry[],
    proven: number,
    { statement, stated, counted }: VerifiedStatement,
  ): Promise<void> {
    const feedSeq = statement.feed_seq;
    const isReached = feedSeq <= proven;
    await applyProven({ ...options, progress }, entries, proven, isReached ? counted : 0);
    const newest = freshness.verified(stated, feedSeq, proven, counted);
    if (newest !== null) replica.keepStatement(tenantId, newest);
    resets = 0;
    if (!isReached) return;
    isUnstored = false;
    progress.started();
    news.reached();
  }

  /** A kick does not abort it: a snapshot takes as long as it takes. */
  async function replaceAll(before: number): Promise<void> {
    tail.drop();
    log.info({ tenantId, cursor: before }, 'the feed is read anew from a snapshot');
    const cursor = await takeSnapshot({ ...options, progress, trust, signal: ending.signal });
    progress.replaced(cursor);
    isUnstored = false;
    if (cursor < before) options.onRewound(before, cursor);
    options.onApplied('snapshot');
    resets++;
    // Once may be a restore just now; repeatedly would be a loop without a pause.
    if (resets > MAX_RESETS) {
      const why = 'the control plane refuses to go on from its own snapshot';
      throw new FeedRefusedError('snapshot_refused_again', why);
    }
  }

  function fail(error: unknown, attempt: number): void {
    isCurrent = false;
    if (sqliteCode(error) !== undefined) isUnstored = true;
    const { failure, isNews } = progress.failed(error);
    // Registration asks for the key, and then the feed is read again.
    if (failure.code !== 'statement_unknown_key') {
      progress.started();
      news.failed();
    }
    if (isNews)
      log.warn({ tenantId, attempt, ...aboutFailure(failure) }, 'the feed could not be followed');
    options.onFailure?.(failure, isNews);
  }

  const loop = startPollLoop({
    step,
    onFailure: fail,
    limitsOf: (error) => options.backoffLimits ?? outageBackoff(error) ?? SYNC_BACKOFF,
  });
  return {
    ...loop,
    /** Reads what is new at once, unless that was just done. Never rejects. */
    askForNews: news.ask,
    isCatchingUp: () => progress.isCatchingUp(),
    /** Whether newer facts have arrived that could not be stored. */
    isUnstored: () => isUnstored,
    kick: (): void => {
      isCurrent = false;
      loop.kick();
    },
    stop: async (): Promise<void> => {
      ending.abort();
      news.stop();
      await loop.stop();
    },
    status: () => progress.status(),
  };
}
