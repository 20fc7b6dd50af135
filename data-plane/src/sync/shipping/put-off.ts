/**
 * Uploads on which the control plane failed: each is postponed on its own, longer each time, and
 * lets the others pass. Kept only in memory: a restart retries all of them.
 */
import { backoff } from '../link/backoff.ts';

export const PUT_OFF = { first: 1_000, longest: 600_000 } as const;

interface Waiting {
  failures: number;
  until: number;
}

/** @param now monotonic milliseconds */
export function createPutOff(now: () => number, limits: { first: number; longest: number }) {
  const waiting = new Map<string, Waiting>();
  return {
    /** Postponed uploads at a time. */
    look: () => {
      const at = now();
      return {
        isPutOff: (name: string): boolean => (waiting.get(name)?.until ?? 0) > at,
        /**
         * Called when nothing else is left: an upload that was due but did not come up is gone.
         *
         * @returns milliseconds until the next is due; null where none waits
         */
        next: (): number | null => {
          let next: number | null = null;
          for (const [name, { until }] of waiting) {
            if (until <= at) waiting.delete(name);
            else next = Math.min(next ?? Number.POSITIVE_INFINITY, until - at);
          }
          return next;
        },
      };
    },
    /** @returns how often it has failed now */
    putOff: (name: string): number => {
      const failures = (waiting.get(name)?.failures ?? 0) + 1;
      waiting.set(name, { failures, until: now() + backoff(failures, limits) });
      return failures;
    },
    forget: (name: string): void => void waiting.delete(name),
  };
}
