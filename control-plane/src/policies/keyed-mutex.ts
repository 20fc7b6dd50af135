/** Runs work one at a time per key, first come, first served. */
export interface KeyedMutex {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return {
    run: (key, work) => {
      const turn = (last.get(key) ?? Promise.resolve()).then(work);
      // The next one runs whether this one succeeds or fails.
      const ended = turn.catch(() => undefined);
      last.set(key, ended);
      void ended.then(() => {
        if (last.get(key) === ended) last.delete(key);
      });
      return turn;
    },
  };
}
