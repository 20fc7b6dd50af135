/**
 * A bounded round-robin queue: one entry per requester and round, in order of arrival. A requester
 * with many entries delays only itself.
 */
export interface TurnQueue<T> {
  /** @returns false when there is no room: the caller is refused */
  put(turn: string, entry: T): boolean;
  /** @param mayGo whether a requester may have its turn: the others keep their places */
  take(mayGo?: (turn: string) => boolean): { turn: string; entry: T } | undefined;
  /** The requesters with waiting entries. */
  turns(): string[];
  /** Removes everything. */
  empty(): T[];
}

/** @param limits entries in total, and per requester */
export function createTurnQueue<T>(limits: { max: number; maxOfOne: number }): TurnQueue<T> {
  // A Map keeps insertion order: a served requester moves to the end.
  const waiting = new Map<string, T[]>();
  let length = 0;

  function take(mayGo: (turn: string) => boolean = () => true) {
    for (const [turn, entries] of waiting) {
      const [entry, ...others] = entries;
      if (entry === undefined || !mayGo(turn)) continue;
      waiting.delete(turn);
      if (others.length > 0) waiting.set(turn, others);
      length--;
      return { turn, entry };
    }
    return undefined;
  }

  return {
    put(turn, entry) {
      const own = waiting.get(turn) ?? [];
      if (length >= limits.max || own.length >= limits.maxOfOne) return false;
      own.push(entry);
      waiting.set(turn, own);
      length++;
      return true;
    },
    take,
    turns: () => [...waiting.keys()],
    empty() {
      const all = [...waiting.values()].flat();
      waiting.clear();
      length = 0;
      return all;
    },
  };
}
