/**
 * A bounded queue that serves those who wait by turns: one entry of each, in the order in which they
 * came. Who waits with many waits longer, and nobody behind them does.
 */
export interface TurnQueue<T> {
  /** @returns false where there is no room: the caller is refused */
  put(turn: string, entry: T): boolean;
  take(): T | undefined;
  /** Takes everything out. */
  empty(): T[];
}

/** @param limits entries in all, and of one */
export function createTurnQueue<T>(limits: { max: number; maxOfOne: number }): TurnQueue<T> {
  // A Map keeps the order in which its keys came: whoever was served goes to its end.
  const waiting = new Map<string, T[]>();
  let length = 0;

  function take(): T | undefined {
    const first = waiting.entries().next();
    if (first.done) return undefined;
    const [turn, entries] = first.value;
    const entry = entries.shift();
    waiting.delete(turn);
    if (entries.length > 0) waiting.set(turn, entries);
    length--;
    return entry;
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
    empty() {
      const all = [...waiting.values()].flat();
      waiting.clear();
      length = 0;
      return all;
    },
  };
}
