/** Milliseconds. */
export interface BackoffLimits {
  first: number;
  longest: number;
}

/**
 * How long to wait before the next attempt: doubling from `first` to `longest`, the upper half of
 * it random, so that many data planes do not come back at the same moment.
 *
 * @param attempt failed attempts so far, from 1
 * @param random a number from 0 to 1
 * @returns milliseconds
 */
export function backoff(
  attempt: number,
  limits: BackoffLimits,
  random: () => number = Math.random,
): number {
  const full = Math.min(limits.longest, limits.first * 2 ** Math.min(attempt - 1, 30));
  return full / 2 + (full / 2) * random();
}

export const SYNC_BACKOFF = { first: 250, longest: 30_000 } as const;

/**
 * For the feed and a first registration, which probe whether the control plane answers. The others
 * wait longer and are woken as soon as one of these succeeds.
 */
export const AWAY_BACKOFF = { first: 250, longest: 2_000 } as const;
/** For those that probe, where the control plane itself says that it cannot serve now. */
export const BUSY_BACKOFF = { first: 250, longest: 5_000 } as const;

/** Spreads the retries of all that learn at the same moment that the control plane is back. */
export const WAKE_SPREAD_MS = 1_000;

/** A pause that can be ended early. */
export function createPause() {
  let end: (() => void) | null = null;
  let timer: NodeJS.Timeout | undefined;
  let due = 0;

  function endIn(ms: number): void {
    clearTimeout(timer);
    due = performance.now() + ms;
    timer = setTimeout(() => end?.(), ms);
  }

  return {
    wait: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        end = () => {
          clearTimeout(timer);
          end = null;
          resolve();
        };
        endIn(ms);
      }),
    wake: () => end?.(),
    /** Shortens the current pause to `ms`, if it would last longer. */
    shorten: (ms: number): void => {
      if (end && performance.now() + ms < due) endIn(ms);
    },
  };
}
