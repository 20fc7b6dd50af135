/**
 * Runs work one at a time: a caller that comes meanwhile gets the same promise.
 *
 * @param work is begun when nobody has asked for it since it ended
 */
export function shareRun<Given extends unknown[], T>(
  work: (...given: Given) => Promise<T>,
): (...given: Given) => Promise<T> {
  let running: Promise<T> | null = null;
  return (...given) => {
    running ??= work(...given).finally(() => {
      running = null;
    });
    return running;
  };
}
