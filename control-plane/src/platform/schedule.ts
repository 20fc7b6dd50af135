/** Repeats work while the service runs, one run at a time. */
export interface Schedule {
  /** Ends it; resolves when a run that has begun is done. */
  stop(): Promise<void>;
}

/**
 * Runs `work` now and then every `everyMs` after the previous run ended.
 *
 * @param onError called for a failed run; the next run follows anyway
 */
export function repeat(
  everyMs: number,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
): Schedule {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let running: Promise<void>;
  const run = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      onError(error);
    }
    if (isStopped) return;
    timer = setTimeout(() => {
      running = run();
    }, everyMs);
    timer.unref();
  };
  running = run();
  return {
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
