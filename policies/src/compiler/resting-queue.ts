/**
 * A turn queue whose requesters rest after a stopped request. With turns only, a requester whose
 * requests are always stopped would run between any two requests of the others. So it rests for as
 * long as its request took, even while nobody waits.
 */
import { createTurnQueue } from './turn-queue.ts';

/** @param onRested called when a requester that waits has rested */
export function createRestingQueue<T>(
  limits: { max: number; maxOfOne: number },
  onRested: () => void,
) {
  const queue = createTurnQueue<T>(limits);
  /** How long, and until when, by requester. */
  const resting = new Map<string, { ms: number; until: number }>();
  let waking: NodeJS.Timeout | undefined;

  function wakeForNext(now: number): void {
    const ends = queue.turns().flatMap((turn) => resting.get(turn)?.until ?? []);
    if (ends.length > 0) waking = setTimeout(onRested, Math.max(1, Math.min(...ends) - now));
  }

  return {
    put: queue.put,

    /** @returns undefined where nobody waits who has rested */
    take: (): { turn: string; entry: T } | undefined => {
      const now = performance.now();
      for (const [turn, { until }] of resting) if (until <= now) resting.delete(turn);
      clearTimeout(waking);
      const taken = queue.take((turn) => !resting.has(turn));
      if (!taken) wakeForNext(now);
      return taken;
    },

    rest: (turn: string, ms: number): void => {
      resting.set(turn, { ms, until: performance.now() + ms });
    },

    /** Begins all rests again. */
    restAgain: (): void => {
      for (const rest of resting.values()) rest.until = performance.now() + rest.ms;
    },

    /** Removes everything, and calls `onRested` no more. */
    empty: (): T[] => {
      clearTimeout(waking);
      return queue.empty();
    },
  };
}
