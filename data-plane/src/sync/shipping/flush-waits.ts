/** Callers that wait until everything is shipped, each for a time of its own. */
export function createFlushWaits() {
  const waits = new Set<(all: boolean) => void>();
  return {
    isEmpty: (): boolean => waits.size === 0,
    /** @returns whether everything was shipped within `ms` */
    add: (ms: number): Promise<boolean> =>
      new Promise((resolve) => {
        const done = (all: boolean) => {
          clearTimeout(limit);
          waits.delete(done);
          resolve(all);
        };
        const limit = setTimeout(() => done(false), ms);
        waits.add(done);
      }),
    end: (all: boolean): void => {
      for (const done of waits) done(all);
    },
  };
}
