/**
 * Follows a tenant's feed into the replica by long polls. What cannot be verified or applied is
 * retried and never skipped: the replica then stands still, and its facts stay in force. Where the
 * feed cannot be continued (410), or too much waits for its signature, a snapshot replaces everything
 * known, in one transaction after its signed end was verified. Proven by feed-follower.test.ts and
 * feed-follower-model.test.ts.
 */
import { setImmediate } from 'node:timers/promises';
import type { ControlPlaneLink, FeedPage } from '@governance/shared/channels';
import { AppError } from '@governance/shared/errors';
import type { FeedEntry } from '@governance/shared/facts';
import {
  type FreshnessStatement,
  type SignedAdminHead,
  type StatementKey,
  verifyStatement,
} from '@governance/shared/signed-statement';
import type { LocalReplica } from '../../replica/replica.ts';
import { sqliteCode } from '../../storage/durable-database.ts';
import { SYNC_BACKOFF } from '../link/backoff.ts';
import { outageBackoff } from '../link/contact.ts';
import { FeedRefusedError } from '../link/feed-error.ts';
import { startPollLoop } from '../link/poll-loop.ts';
import { aboutFailure, type SyncFailure, type SyncLog } from '../link/sync-failure.ts';
import { createFeedNews } from './feed-news.ts';
import { type FeedPosition, verifyPage } from './feed-page.ts';
import { FeedProgress } from './feed-progress.ts';
import type { Freshness } from './freshness.ts';
import type { Recognitions } from './recognitions.ts';
import { type SnapshotLimits, takeSnapshot } from './take-snapshot.ts';
import { createUnsignedTail, type TailLimits } from './unsigned-tail.ts';

/** Entries that are read, or applied, at once. */
const PAGE = 500;
/** How long a read waits at the control plane for the next change. */
const WAIT_MS = 25_000;
/** Snapshots in a row, with no page between them, before the feed counts as refused. */
const MAX_RESETS = 2;

export type FeedFollower = ReturnType<typeof startFeedFollower>;

export interface FeedFollowerOptions {
  tenantId: string;
  link: Pick<ControlPlaneLink, 'readFeed' | 'readSnapshot'>;
  replica: Pick<LocalReplica, 'apply' | 'keepStatement' | 'place' | 'beginSnapshot'>;
  freshness: Pick<Freshness, 'believe' | 'check' | 'verified' | 'answered'>;
  recognitions: Recognitions;
  /** The public keys that may sign statements now. */
  keys: () => readonly StatementKey[];
  /** Records that wait to be shipped. */
  backlog: () => number;
  /** Called with applied entries once they are durable, or with `snapshot`. */
  onApplied: (entries: FeedEntry[] | 'snapshot') => void;
  /** Called when the control plane went back in time, as after a restore. */
  onRewound: (from: number, to: number) => void;
  /** Called for each verified statement, with the time up to which it counts here. */
  onStatement?: (statement: FreshnessStatement, counted: number) => void;
  /** Called for each head of the admin chain whose signature was verified. */
  onAdminHead?: (head: SignedAdminHead) => void;
  /** Called for each failure; `isNews` where it differs from the one before. */
  onFailure?: (failure: SyncFailure, isNews: boolean) => void;
  log: SyncLog;
  now: () => number;
  backoffLimits?: { first: number; longest: number };
  tailLimits?: TailLimits;
  snapshotLimits?: SnapshotLimits;
}

export function startFeedFollower(options: FeedFollowerOptions) {
  const { tenantId, link, replica, freshness, recognitions, log } = options;
  const tail = createUnsignedTail(options.tailLimits);
  const ending = new AbortController();
  const progress = new FeedProgress(replica.place(tenantId).cursor, options.now);
  const trust = () => ({ tenantId, keys: options.keys() });
  /** False until the first answer, which is asked for without waiting. */
  let isCurrent = false;
  /** Whether the read in progress waits for the next change. */
  let isWaiting = false;
  /** Whether the disk did not take what has arrived: it may suspend somebody. */
  let isUnstored = false;
  /** Snapshots since a page was last read. */
  let resets = 0;
  const news = createFeedNews({
    // A read that does not wait is left alone: made-up keys must not abort it again and again.
    hurry: () => (isWaiting ? loop.kick() : loop.hurry()),
  });

  /** @returns null where the feed cannot be continued from here */
  async function read(
    position: FeedPosition,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<FeedPage | null> {
    isWaiting = waitMs > 0;
    try {
      const backlog = options.backlog();
      return await link.readFeed({ ...position, limit: PAGE, waitMs, signal, backlog });
    } catch (error) {
      if (error instanceof AppError && error.code === 'FEED_RESET') return null;
      throw error;
    } finally {
      isWaiting = false;
    }
  }

  /**
   * Reads on behind what waits for its signature, or behind what was applied.
   *
   * @returns null where the feed cannot be continued
   * @throws FeedRefusedError digest_mismatch where it continues from what was applied alone
   */
  async function readOn(
    applied: FeedPosition,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<FeedPage | null> {
    const unsigned = tail.end();
    const page = await read(unsigned ?? applied, waitMs, signal);
    if (page || !unsigned) return page;
    // A compaction that passed the one place has passed the other.
    const isContinued = (await read(applied, 0, signal)) !== null;
    tail.drop();
    if (!isContinued) return null;
    const why = 'the control plane does not know what pages brought that it did not sign';
    throw new FeedRefusedError('digest_mismatch', why);
  }

  async function step(signal: AbortSignal): Promise<boolean> {
    progress.attempted();
    const isAsked = news.began();
    const { cursor, digest } = replica.place(tenantId);
    const applied = { cursor, digest };
    const from = tail.end() ?? applied;
    const waitMs = isCurrent && !isAsked ? WAIT_MS : 0;
    const page = tail.isFull() ? null : await readOn(applied, waitMs, signal);
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
    const { statement, stated, counted, verified } = verify(page, from);
    progress.stage = 'apply';
    progress.announced(page.head);
    const isNews = verified.end.cursor !== from.cursor;
    if (isNews) progress.received();
    const entries = tail.take(page.entries, verified, statement);
    if (verified.proven !== null) {
      const feedStatement = { time: stated, counted, feedSeq: statement.feed_seq };
      await applyAll(entries, verified.proven, feedStatement);
    } else {
      freshness.verified(stated, statement.feed_seq, cursor, counted);
      progress.applied(cursor, false);
    }
    freshness.answered();
    isCurrent = true;
    // Where a page brought nothing, asking again at once would spin.
    return isNews;
  }

  /** Applies what is proven, page by page: what waited for its proof may be long. */
  async function applyAll(
    entries: FeedEntry[],
    proven: number,
    stated: { time: number; counted: number; feedSeq: number },
  ): Promise<void> {
    const isReached = stated.feedSeq <= proven;
    for (let at = 0; at === 0 || at < entries.length; at += PAGE) {
      if (at > 0) await setImmediate();
      const part = entries.slice(at, at + PAGE);
      const behind = replica.place(tenantId).cursor + 1;
      if ((part[0]?.seq ?? 0) > behind) throw new Error(`entry ${behind} is missing`);
      const isLast = at + PAGE >= entries.length;
      const end = isLast ? proven : (part.at(-1)?.seq ?? proven);
      replica.apply(tenantId, part, end, isLast && isReached ? stated.counted : 0);
      progress.applied(end, part.length > 0);
      if (part.length > 0) options.onApplied(part);
    }
    const newest = freshness.verified(stated.time, stated.feedSeq, proven, stated.counted);
    if (newest !== null) replica.keepStatement(tenantId, newest);
    resets = 0;
    if (!isReached) return;
    isUnstored = false;
    progress.started();
    news.reached();
  }

  /** Verifies the statements that a page carries, then its entries from `from` on. */
  function verify(page: FeedPage, from: FeedPosition) {
    progress.stage = 'verify';
    const statement = verifyStatement(page.statement, trust());
    const stated = freshness.believe(Date.parse(statement.time));
    freshness.check(stated);
    if (page.recognition) {
      const recognition = verifyStatement(page.recognition, trust());
      recognitions.saw(recognition, freshness.believe(Date.parse(recognition.time)));
    }
    const counted = recognitions.asOf(stated);
    options.onStatement?.(statement, counted);
    if (page.admin_head) {
      verifyStatement(page.admin_head, trust());
      options.onAdminHead?.(page.admin_head);
    }
    return {
      statement,
      stated,
      counted,
      verified: verifyPage(from, page, statement, tail.awaited()),
    };
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

  const loop = startPollLoop({
    step,
    onFailure: (error, attempt) => {
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
    },
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
