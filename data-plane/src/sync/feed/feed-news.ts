/**
 * Asks for news at once, for callers about whom the replica cannot decide: their token names a key
 * that the feed may have brought in the meantime. One read answers all waiting callers. Anybody can
 * make up a key's id, so reads, waits and waiters are bounded. Proven by feed-news.test.ts.
 */
import type { FeedNews } from '../../contracts.ts';

/** The shortest time between two such reads. */
export const NEWS_EVERY_MS = 3_000;
/** How long a caller waits, at most: longer than the feed pauses while nothing answers. */
export const NEWS_WAIT_MS = 2_500;
/** Waiting callers of a tenant at a time. */
export const NEWS_WAITERS = 500;

interface Ask {
  heard: Promise<FeedNews>;
  end(news: FeedNews): void;
  waiters: number;
  /** Whether a read has begun since. */
  isBegun: boolean;
}

/**
 * @param options.hurry makes the feed read without waiting
 * @param options.elapsed a monotonic clock in milliseconds
 */
export function createFeedNews({
  hurry,
  elapsed = () => performance.now(),
}: {
  hurry: () => void;
  elapsed?: () => number;
}) {
  let open: Ask | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;
  let last: FeedNews = 'late';

  function begin(): Ask {
    let resolve: (news: FeedNews) => void = () => undefined;
    const heard = new Promise<FeedNews>((settle) => {
      resolve = settle;
    });
    const timer = setTimeout(() => ask.end('late'), NEWS_WAIT_MS);
    const ask: Ask = {
      heard,
      end: (news) => {
        if (open !== ask) return;
        clearTimeout(timer);
        open = null;
        last = news;
        resolve(news);
      },
      waiters: 0,
      isBegun: false,
    };
    return ask;
  }

  return {
    /** Whether a caller waits: then a read must not wait for the next change. */
    isAsked: (): boolean => open !== null,

    /**
     * Makes the feed read, unless that was just done. If it could not be read, the question waits
     * for the next read, which the feed starts by itself.
     */
    ask: async (): Promise<FeedNews> => {
      if (open === null) {
        const isDue = elapsed() - askedAt >= NEWS_EVERY_MS;
        if (!isDue && last === 'current') return last;
        open = begin();
        if (isDue) {
          askedAt = elapsed();
          hurry();
        }
      }
      if (open.waiters >= NEWS_WAITERS) return 'crowded';
      open.waiters++;
      return open.heard;
    },

    /** A read begins. */
    began: (): void => {
      if (open) open.isBegun = true;
    },

    /** A read ended, and nothing newer is there. */
    reached: (): void => {
      if (open?.isBegun) open.end('current');
    },

    /** A read failed. */
    failed: (): void => {
      if (open?.isBegun) open.end('unreachable');
    },

    stop: (): void => open?.end('late'),
  };
}
