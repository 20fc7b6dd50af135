/**
 * Asks for news at once, for callers who cannot be judged by what is known here: their token names a
 * key that the feed may have brought meanwhile. Each is answered by a read that began after the
 * question; one read answers all who wait. Anybody can make up a key's id, so reads, waits and
 * waiters are bounded, and a caller that names no agent of the tenant takes no place from its agents.
 * Proven by feed-news.test.ts.
 */
import type { FeedNews } from '../../contracts.ts';
import { addTo } from '../../upstream/shares/fair-shares.ts';

/** Reads that are asked for at once; one more is allowed after each NEWS_EVERY_MS. */
export const NEWS_BURST = 3;
export const NEWS_EVERY_MS = 2_000;
/**
 * The longest wait. It is longer than the time to the next read, and than the feed's pauses while
 * nothing answers.
 */
export const NEWS_WAIT_MS = 3_000;
/** Waiting requests of a tenant: in all, for each agent, and for those that name none of its agents. */
export const NEWS_WAITERS = 500;
export const NEWS_WAITERS_PER_AGENT = 20;
export const NEWS_WAITERS_UNKNOWN = 100;

interface Waiter {
  /** Null where it names no agent of the tenant. */
  agentId: string | null;
  /** Whether a read has begun since. */
  isBegun: boolean;
  end(news: FeedNews): void;
}

/**
 * @param options.hurry has the feed read without waiting
 * @param options.elapsed a monotonic clock in milliseconds
 */
export function createFeedNews({
  hurry,
  elapsed = () => performance.now(),
}: {
  hurry: () => void;
  elapsed?: () => number;
}) {
  const waiters = new Set<Waiter>();
  const taken = new Map<string | null, number>();
  let allowed = NEWS_BURST;
  let refilledAt = elapsed();
  /** Whether a read was asked for that has not begun. */
  let isOrdered = false;
  let due: NodeJS.Timeout | undefined;

  function order(): void {
    if (isOrdered) return;
    const steps = Math.floor((elapsed() - refilledAt) / NEWS_EVERY_MS);
    refilledAt += steps * NEWS_EVERY_MS;
    allowed = Math.min(NEWS_BURST, allowed + steps);
    if (allowed === NEWS_BURST) refilledAt = elapsed();
    if (allowed > 0) {
      allowed--;
      isOrdered = true;
      hurry();
      return;
    }
    due ??= setTimeout(
      () => {
        due = undefined;
        // Those who came before the last read began are answered by it.
        if ([...waiters].some(({ isBegun }) => !isBegun)) order();
      },
      Math.max(1, Math.ceil(refilledAt + NEWS_EVERY_MS - elapsed())),
    );
  }

  function wait(agentId: string | null): Promise<FeedNews> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiter.end('late'), NEWS_WAIT_MS);
      const waiter: Waiter = {
        agentId,
        isBegun: false,
        end: (news) => {
          if (!waiters.delete(waiter)) return;
          clearTimeout(timer);
          addTo(taken, agentId, -1);
          resolve(news);
        },
      };
      waiters.add(waiter);
      addTo(taken, agentId, 1);
    });
  }

  function answer(news: FeedNews): void {
    for (const waiter of [...waiters]) if (waiter.isBegun) waiter.end(news);
  }

  return {
    /**
     * Has the feed read as soon as that is allowed. If it could not be read, the question waits for
     * the next read, which the feed begins by itself.
     *
     * @param agentId of the tenant, as far as is known here; null for a caller that names none of them
     */
    ask: async (agentId: string | null): Promise<FeedNews> => {
      const most = agentId === null ? NEWS_WAITERS_UNKNOWN : NEWS_WAITERS_PER_AGENT;
      const isFull = waiters.size >= NEWS_WAITERS || (taken.get(agentId) ?? 0) >= most;
      if (isFull) return 'crowded';
      const answer = wait(agentId);
      order();
      return answer;
    },

    /**
     * A read begins.
     *
     * @returns whether it was asked for: it must not wait for the next change then
     */
    began: (): boolean => {
      const wasOrdered = isOrdered;
      isOrdered = false;
      for (const waiter of waiters) waiter.isBegun = true;
      return wasOrdered;
    },

    /** A read ended, and nothing newer is there. */
    reached: (): void => answer('current'),

    /** A read failed. */
    failed: (): void => answer('unreachable'),

    stop: (): void => {
      clearTimeout(due);
      for (const waiter of [...waiters]) waiter.end('late');
    },
  };
}
