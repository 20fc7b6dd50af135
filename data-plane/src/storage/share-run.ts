/**
 * Runs `work` once at a time: calls made while it runs share its promise, and the arguments of the
 * call that started it.
 *
 * @param work started by the first call after the previous run has ended
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
