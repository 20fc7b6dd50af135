/**
 * Follows a tenant's feed into the replica by long polls. What cannot be verified or applied is
 * retried and never skipped: the replica then stands still, and its facts stay in force. Where the
 * feed cannot be continued (410), a snapshot replaces everything known, in one transaction after
 * its signed end was verified. Proven by feed-follower.test.ts and feed-follower-model.test.ts.
 */
import type { ControlPlaneLink } from '@governance/shared/channels';
import { AppError } from '@governance/shared/errors';
import type { FeedEntry } from '@governance/shared/facts';
import {
  type FreshnessStatement,
  type SignedAdminHead,
  type StatementKey,
  verifyStatement,
} from '@governance/shared/signed-statement';
import type { LocalReplica } from '../../replica/replica.ts';
import { SYNC_BACKOFF } from '../link/backoff.ts';
import { outageBackoff } from '../link/contact.ts';
import { FeedRefusedError } from '../link/feed-error.ts';
import { startPollLoop } from '../link/poll-loop.ts';
import {
  failureCode,
  type SyncFailure,
  type SyncLog,
  toSyncFailure,
} from '../link/sync-failure.ts';
import { createFeedNews } from './feed-news.ts';
import { createSnapshotCheck, verifyPage } from './feed-page.ts';
import type { Freshness } from './freshness.ts';

const PAGE = 500;
const WAIT_MS = 25_000;
/** After this long without news, a start no longer waits for the control plane. */
const START_MS = 5_000;

export interface FeedStatus {
  cursor: number;
  /** The newest seq that the control plane announced. */
  head: number;
  last_attempt_at: string | null;
  last_applied_at: string | null;
  /** When a snapshot last replaced everything known. */
  last_snapshot_at: string | null;
  failure: SyncFailure | null;
}

export type FeedFollower = ReturnType<typeof startFeedFollower>;

export interface FeedFollowerOptions {
  tenantId: string;
  link: Pick<ControlPlaneLink, 'readFeed' | 'readSnapshot'>;
  replica: Pick<LocalReplica, 'apply' | 'keepStatement' | 'place' | 'beginSnapshot'>;
  freshness: Pick<Freshness, 'check' | 'verified' | 'answered'>;
  /** The public keys that may sign statements now. */
  keys: () => readonly StatementKey[];
  /** Records that wait to be shipped. */
  backlog: () => number;
  /** Called with applied entries once they are durable, or with `snapshot`. */
  onApplied: (entries: FeedEntry[] | 'snapshot') => void;
  /** Called when the control plane went back in time, as after a restore. */
  onRewound: (from: number, to: number) => void;
  /** Called for each verified statement. */
  onStatement?: (statement: FreshnessStatement) => void;
  /** Called for each head of the admin chain whose signature was verified. */
  onAdminHead?: (head: SignedAdminHead) => void;
  /** Called for each failure; `isNews` where it differs from the one before. */
  onFailure?: (failure: SyncFailure, isNews: boolean) => void;
  log: SyncLog;
  now: () => number;
  backoffLimits?: { first: number; longest: number };
}

export function startFeedFollower(options: FeedFollowerOptions) {
  const { tenantId, link, replica, freshness, log } = options;
  const time = () => new Date(options.now()).toISOString();
  const ending = new AbortController();
  const status: FeedStatus = {
    cursor: replica.place(tenantId).cursor,
    head: replica.place(tenantId).cursor,
    last_attempt_at: null,
    last_applied_at: null,
    last_snapshot_at: null,
    failure: null,
  };
  let stage = 'read';
  /** False until the first answer, which is asked for without waiting. */
  let isCurrent = false;
  /** Whether the read in progress waits for the next change. */
  let isWaiting = false;
  /** Snapshots since a page was last read. */
  let resets = 0;
  let isStarting = true;
  let progressAt = performance.now();
  const news = createFeedNews({
    // A read that does not wait is left alone: made-up keys must not abort it again and again.
    hurry: () => (isWaiting ? loop.kick() : loop.hurry()),
  });

  async function step(signal: AbortSignal): Promise<boolean> {
    stage = 'read';
    status.last_attempt_at = time();
    const isAsked = news.began();
    const { cursor, digest } = replica.place(tenantId);
    let page: Awaited<ReturnType<typeof link.readFeed>>;
    try {
      isWaiting = isCurrent && !isAsked;
      const waitMs = isWaiting ? WAIT_MS : 0;
      const backlog = options.backlog();
      page = await link.readFeed({ cursor, digest, limit: PAGE, waitMs, signal, backlog });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'FEED_RESET') throw error;
      isWaiting = false;
      await replaceAll();
      return true;
    } finally {
      isWaiting = false;
    }
    stage = 'verify';
    const statement = verifyStatement(page.statement, { tenantId, keys: options.keys() });
    const stated = Date.parse(statement.time);
    freshness.check(stated);
    options.onStatement?.(statement);
    if (page.admin_head) {
      verifyStatement(page.admin_head, { tenantId, keys: options.keys() });
      options.onAdminHead?.(page.admin_head);
    }
    const position = verifyPage({ cursor, digest }, page, statement);
    stage = 'apply';
    status.head = page.head;
    const isReached = statement.feed_seq <= position.cursor;
    replica.apply(tenantId, page.entries, position.cursor, isReached ? stated : 0);
    const newest = freshness.verified(stated, statement.feed_seq, position.cursor);
    if (newest !== null) replica.keepStatement(tenantId, newest);
    freshness.answered();
    resets = 0;
    isCurrent = true;
    status.cursor = position.cursor;
    status.failure = null;
    const isProgress = position.cursor !== cursor;
    if (isProgress) {
      status.last_applied_at = time();
      progressAt = performance.now();
      options.onApplied(page.entries);
    }
    if (isReached) {
      isStarting = false;
      news.reached();
    }
    // A page without news is no progress: asking again at once would spin.
    return isProgress;
  }

  /** A kick does not abort it: a snapshot takes as long as it takes. */
  async function replaceAll(): Promise<void> {
    stage = 'snapshot';
    const before = replica.place(tenantId);
    log.info({ tenantId, cursor: before.cursor }, 'the feed is read anew from a snapshot');
    const staging = replica.beginSnapshot(tenantId);
    const pages = link.readSnapshot({ signal: ending.signal });
    try {
      const check = createSnapshotCheck();
      let next = await pages.next();
      for (; !next.done; next = await pages.next()) {
        progressAt = performance.now();
        check.add(next.value);
        add(staging, next.value);
      }
      stage = 'verify';
      const end = verifyStatement(next.value, { tenantId, keys: options.keys() });
      const stated = Date.parse(end.time);
      freshness.check(stated);
      check.end(end);
      stage = 'apply';
      const cursor = end.feed_seq;
      const statementMs = Math.max(stated, before.statementMs);
      staging.swap({ cursor, digest: end.feed_digest, statementMs });
      freshness.verified(stated, cursor, cursor);
      freshness.answered();
      status.cursor = cursor;
      status.head = cursor;
      status.last_applied_at = time();
      status.last_snapshot_at = time();
      status.failure = null;
      if (cursor < before.cursor) options.onRewound(before.cursor, cursor);
      options.onApplied('snapshot');
    } finally {
      staging.drop();
      // Aborts an answer that was not read to its end.
      await pages.return(undefined as never);
    }
    resets++;
    // Once may be a restore just now; repeatedly would be a loop without a pause.
    if (resets > 2) {
      const why = 'the control plane refuses to go on from its own snapshot';
      throw new FeedRefusedError('snapshot_refused_again', why);
    }
  }

  const loop = startPollLoop({
    step,
    onFailure: (error, attempt) => {
      isCurrent = false;
      const failure = toSyncFailure(stage, error, options.now());
      const { code } = failure;
      const before = status.failure;
      status.failure = failure;
      const isNews = before?.code !== code || before.stage !== stage;
      // Registration asks for the key, and then the feed is read again.
      if (code !== 'statement_unknown_key') {
        isStarting = false;
        news.failed();
      }
      if (isNews) log.warn({ tenantId, attempt, ...failure }, 'the feed could not be followed');
      options.onFailure?.(failure, isNews);
    },
    limitsOf: (error) => options.backoffLimits ?? outageBackoff(error) ?? SYNC_BACKOFF,
  });
  return {
    ...loop,
    /** Reads what is new at once, unless that was just done. Never rejects. */
    askForNews: news.ask,
    /**
     * Whether it is still expected to catch up after its start: the control plane did not fail, and
     * something arrived within seconds.
     */
    isCatchingUp: () => isStarting && performance.now() - progressAt < START_MS,
    kick: (): void => {
      isCurrent = false;
      loop.kick();
    },
    stop: async (): Promise<void> => {
      ending.abort();
      news.stop();
      await loop.stop();
    },
    status: (): FeedStatus => ({ ...status }),
  };
}

/** A duplicate entry is the sender's fault, not the disk's. */
function add(staging: ReturnType<LocalReplica['beginSnapshot']>, entries: FeedEntry[]): void {
  try {
    staging.add(entries);
  } catch (cause) {
    if (!failureCode(cause).startsWith('SQLITE_CONSTRAINT')) throw cause;
    throw new FeedRefusedError('snapshot_malformed', 'an entry came twice', { cause });
  }
}
