/**
 * A bounded queue that serves those who wait by turns: one entry of each, in the order in which they
 * came. Who waits with many waits longer, and nobody behind them does.
 */
export interface TurnQueue<T> {
  /** @returns false where there is no room: the caller is refused */
  put(turn: string, entry: T): boolean;
  /** @param mayGo whose turn it may be: the others stay where they are */
  take(mayGo?: (turn: string) => boolean): { turn: string; entry: T } | undefined;
  /** Whose entries wait. */
  turns(): string[];
  /** Takes everything out. */
  empty(): T[];
}

/** @param limits entries in all, and of one */
export function createTurnQueue<T>(limits: { max: number; maxOfOne: number }): TurnQueue<T> {
  // A Map keeps the order in which its keys came: whoever was served goes to its end.
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
