/**
 * Follows a tenant's feed into the replica by long polls. A page that cannot be applied is tried
 * again and never skipped: the replica then stands still, and what it says stays in force.
 */
import type { ControlPlaneLink } from '@governance/shared/channels';
import type { FeedEntry } from '@governance/shared/facts';
import { FEED_START } from '@governance/shared/feed-chain';
import type { LocalReplica } from '../replica/replica.ts';
import { type PollLoop, startPollLoop } from './poll-loop.ts';
import { failureCode, failureMessage, type SyncFailure, type SyncLog } from './sync-status.ts';

const PAGE = 500;
const WAIT_MS = 25_000;

export interface FeedStatus {
  cursor: number;
  /** The newest seq that the control plane told of. */
  head: number;
  last_attempt_at: string | null;
  last_applied_at: string | null;
  failure: SyncFailure | null;
}

export interface FeedFollower extends PollLoop {
  status(): FeedStatus;
}

export function startFeedFollower(options: {
  tenantId: string;
  link: Pick<ControlPlaneLink, 'readFeed'>;
  replica: Pick<LocalReplica, 'apply' | 'cursor'>;
  /** Told of what was applied, after it is durable. */
  onApplied: (entries: FeedEntry[]) => void;
  log: SyncLog;
  now: () => number;
}): FeedFollower {
  const { tenantId, link, replica, log } = options;
  const time = () => new Date(options.now()).toISOString();
  const status: FeedStatus = {
    cursor: replica.cursor(tenantId),
    head: replica.cursor(tenantId),
    last_attempt_at: null,
    last_applied_at: null,
    failure: null,
  };
  let stage = 'read';

  async function step(signal: AbortSignal): Promise<boolean> {
    stage = 'read';
    status.last_attempt_at = time();
    const cursor = replica.cursor(tenantId);
    const page = await link.readFeed({
      cursor,
      digest: FEED_START,
      limit: PAGE,
      waitMs: WAIT_MS,
      signal,
    });
    status.head = page.head;
    if (page.head < cursor) {
      // A control plane restored from an older backup. What is known here stays in force.
      throw new Error(`the feed ends at ${page.head}, and ${cursor} was applied here`);
    }
    stage = 'apply';
    replica.apply(tenantId, page.entries, page.cursor);
    status.cursor = replica.cursor(tenantId);
    status.failure = null;
    // A page of what is known already is no progress: asking again at once would only spin.
    if (status.cursor === cursor) return false;
    status.last_applied_at = time();
    options.onApplied(page.entries);
    return true;
  }

  const loop = startPollLoop({
    step,
    onFailure: (error, attempt) => {
      const failure = {
        stage,
        code: failureCode(error),
        message: failureMessage(error),
        at: time(),
      };
      if (failure.code !== status.failure?.code) {
        log.warn({ tenantId, attempt, ...failure }, 'the feed could not be followed');
      }
      status.failure = failure;
    },
  });
  return { ...loop, status: () => ({ ...status }) };
}
