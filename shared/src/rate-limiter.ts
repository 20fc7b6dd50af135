/**
 * Counts events by key over a sliding window. The memory is bounded: under a flood of different
 * keys the oldest are forgotten, which is why there is always a limit by address beside it.
 */

import { LRUCache } from 'lru-cache';
import { AppError } from './errors.ts';

const MAX_KEYS = 50_000;

/** Events of the previous window count by the part of it that is still in view. */
interface Window {
  start: number;
  count: number;
  before: number;
}

export function createRateLimiter(options: { limit: number; windowMs: number; now: () => Date }) {
  const { limit, windowMs, now } = options;
  const windows = new LRUCache<string, Window>({ max: MAX_KEYS });

  const current = (key: string): Window => {
    const start = Math.floor(now().getTime() / windowMs) * windowMs;
    const known = windows.get(key);
    if (known?.start === start) return known;
    const before = known && known.start === start - windowMs ? known.count : 0;
    return { start, count: 0, before };
  };

  const used = (key: string): number => {
    const { start, count, before } = current(key);
    const inView = 1 - (now().getTime() - start) / windowMs;
    return count + before * inView;
  };

  return {
    /** @throws AppError RATE_LIMITED when the key used up its window */
    check: (key: string): void => {
      if (used(key) >= limit) throw new AppError('RATE_LIMITED');
    },
    /** Events in the running window. */
    used,
    /** Counts one event. */
    count: (key: string): void => {
      const window = current(key);
      windows.set(key, { ...window, count: window.count + 1 });
    },
    /** Takes one event back that should not have counted. */
    giveBack: (key: string): void => {
      const window = current(key);
      if (window.count > 0) windows.set(key, { ...window, count: window.count - 1 });
    },
    /** Forgets a key, which has succeeded since. */
    forget: (key: string): void => void windows.delete(key),
  };
}
