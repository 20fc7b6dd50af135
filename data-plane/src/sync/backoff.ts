/**
 * How long to wait before the next attempt: doubling from `first` to `longest`, the upper half of
 * it random, so that many data planes do not come back at one moment.
 *
 * @param attempt failed attempts so far, from 1
 * @param random a number from 0 to 1
 * @returns milliseconds
 */
export function backoff(
  attempt: number,
  limits: { first: number; longest: number },
  random: () => number = Math.random,
): number {
  const full = Math.min(limits.longest, limits.first * 2 ** Math.min(attempt - 1, 30));
  return full / 2 + (full / 2) * random();
}

export const SYNC_BACKOFF = { first: 250, longest: 30_000 } as const;

/** A pause that `wake` or the signal ends early. */
export function createPause() {
  let end: (() => void) | null = null;
  return {
    wait: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(() => end?.(), ms);
        end = () => {
          clearTimeout(timer);
          end = null;
          resolve();
        };
      }),
    wake: () => end?.(),
  };
}
