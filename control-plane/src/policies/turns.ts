/** One at a time for each key, in the order of asking; keys do not wait for each other. */
export interface Turns {
  take<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    take: (key, work) => {
      const turn = (last.get(key) ?? Promise.resolve()).then(work);
      // The next in line does not care how this one ends.
      const ended = turn.catch(() => undefined);
      last.set(key, ended);
      void ended.then(() => {
        if (last.get(key) === ended) last.delete(key);
      });
      return turn;
    },
  };
}
