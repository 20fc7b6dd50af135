/**
 * Places of processes. One is taken before a process starts and given back when it has exited: a
 * session makes room for the next one at once (session-room.ts), its process takes up to two
 * seconds to end. Until then the next process waits here. Proven by process-places.test.ts.
 */
import { UpstreamFailure } from '../upstream.ts';
import type { FindSessionLimits, SessionOwner } from './session-limits.ts';

/** Longer than any process takes that is being ended. */
const WAIT_MS = 5_000;

export type ProcessPlaces = ReturnType<typeof createProcessPlaces>;

export function createProcessPlaces(limitsOf: FindSessionLimits, waitMs = WAIT_MS) {
  const taken = new Set<SessionOwner>();
  const waiting = new Set<{ owner: SessionOwner; admit(): void }>();
  /** Called when no place is taken any more. */
  const closing = new Set<() => void>();

  function findFull(owner: SessionOwner) {
    return limitsOf(owner).find(({ max, isMeant }) => [...taken].filter(isMeant).length >= max);
  }

  function hold(owner: SessionOwner): () => void {
    const place = { ...owner };
    taken.add(place);
    return () => {
      if (taken.delete(place)) left();
    };
  }

  function left(): void {
    for (const { owner, admit } of waiting) if (findFull(owner) === undefined) admit();
    if (taken.size === 0) for (const closed of closing) closed();
  }

  return {
    /**
     * Takes a place.
     *
     * @returns gives it back
     * @throws UpstreamFailure `busy` where none became free in time
     */
    async take(owner: SessionOwner): Promise<() => void> {
      if (findFull(owner) === undefined) return hold(owner);
      return new Promise((resolve, reject) => {
        const admit = () => {
          clearTimeout(timer);
          waiting.delete(waiter);
          resolve(hold(owner));
        };
        const waiter = { owner, admit };
        const timer = setTimeout(() => {
          const limit = findFull(owner);
          if (limit === undefined) return admit();
          waiting.delete(waiter);
          reject(new UpstreamFailure('busy', limit.full));
        }, waitMs);
        waiting.add(waiter);
      });
    },

    /** Resolves when all processes have exited. */
    async close(): Promise<void> {
      if (taken.size > 0) await new Promise<void>((resolve) => closing.add(resolve));
    },
  };
}
