/**
 * Counts events by key over a sliding window. The memory is bounded: under a flood of different
 * keys the oldest are forgotten, which is why there is always a limit by address beside it.
 *
 * The count of a window is an estimate, as if the events of the one before had come evenly: in the
 * worst case a key makes twice its limit in a span of one window. `createExactLimiter` keeps times.
 *
 * Both count by a monotonic clock: where the machine's clock jumps, no window begins anew (ADR 113).
 */

import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.ts';

const MAX_KEYS = 50_000;

/** Events of the previous window count by the part of it that is still in view. */
interface Window {
  start: number;
  count: number;
  before: number;
}

export interface LimiterOptions {
  /** Events of a key in `windowMs` milliseconds, at most. */
  limit: number;
  windowMs: number;
  /** Monotonic milliseconds. */
  elapsed?: (() => number) | undefined;
}

export function createRateLimiter(options: LimiterOptions) {
  const { limit, windowMs, elapsed = () => performance.now() } = options;
  const windows = new LRUCache<string, Window>({ max: MAX_KEYS });

  const current = (key: string): Window => {
    const start = Math.floor(elapsed() / windowMs) * windowMs;
    const known = windows.get(key);
    if (known?.start === start) return known;
    const before = known && known.start === start - windowMs ? known.count : 0;
    return { start, count: 0, before };
  };

  const used = (key: string): number => {
    const { start, count, before } = current(key);
    const inView = 1 - (elapsed() - start) / windowMs;
    return count + before * inView;
  };

  /** Whether one more would be too many; what is left of the window before is a fraction. */
  const isUsedUp = (key: string): boolean => used(key) + 1 > limit;

  /** How long until one more is admitted, if nothing else is counted. */
  const waitMs = (key: string): number => {
    const { start, count, before } = current(key);
    const room = limit - 1;
    const end =
      count <= room
        ? start + windowMs * (1 - (room - count) / before)
        : start + windowMs * (2 - room / count);
    return end - elapsed();
  };

  return {
    isUsedUp,
    /** @throws AppError RATE_LIMITED when the key used up its window */
    check: (key: string): void => {
      if (isUsedUp(key)) throw tooMany(waitMs(key));
    },
    /** Events in the running window, estimated. */
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

/**
 * Never admits more than `limit` events of a key in any span of `windowMs`. For small limits: it
 * keeps the time of each.
 */
export function createExactLimiter(options: LimiterOptions) {
  const { limit, windowMs, elapsed = () => performance.now() } = options;
  /** The last events of a key, as many as the limit, oldest first. */
  const times = new LRUCache<string, number[]>({ max: MAX_KEYS });

  return {
    /** @throws AppError RATE_LIMITED when the key used up its window */
    check: (key: string): void => {
      const oldest = times.get(key)?.at(-limit);
      if (oldest === undefined) return;
      const since = elapsed() - oldest;
      if (since < windowMs) throw tooMany(windowMs - since);
    },
    /** Counts one event. */
    count: (key: string): void => {
      const all = [...(times.get(key) ?? []), elapsed()];
      times.set(key, all.slice(-limit));
    },
  };
}

/** A refusal whose Retry-After says when to come back: a minute is not enough for a limit by the hour. */
function tooMany(waitMs: number): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new AppError('RATE_LIMITED', undefined, { retryAfterSeconds });
}
