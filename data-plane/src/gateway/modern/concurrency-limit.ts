/** Runs work a few items at a time, in order. */
export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Builds it.
 *
 * @param max items in progress at a time
 */
export function createConcurrencyLimit(max: number): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  return async (work) => {
    if (underWay < max) underWay++;
    // Whoever finishes passes its slot on.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) underWay--;
      else next();
    }
  };
}
