/**
 * Ledger writes that nobody waits for (outcomes, alerts). None is lost at a stop: the service
 * waits for `flush` before it closes the ledger.
 */
import type { Logger } from 'pino';

export interface PendingWrites {
  /** Takes a write that is under way. What fails is logged: somebody has to act on it. */
  track(what: string, write: Promise<unknown>): void;
  /** Resolves when all writes that were tracked have ended. */
  flush(): Promise<void>;
}

/** Keeps track of unawaited writes. */
export function createPendingWrites(log: Pick<Logger, 'error'>): PendingWrites {
  let pending = 0;
  let waiting: (() => void)[] = [];
  const done = () => {
    if (--pending > 0) return;
    const resolves = waiting;
    waiting = [];
    for (const resolve of resolves) resolve();
  };
  return {
    track(what, write) {
      pending++;
      write.then(done, (error: unknown) => {
        log.error({ err: error, what }, 'a record could not be written to the ledger');
        done();
      });
    },
    async flush() {
      while (pending > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
