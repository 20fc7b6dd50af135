/** Makes the ledger's log durable without blocking the main thread. */
import { once } from 'node:events';
import { spawnWorker } from '@governance/shared/process/spawn-worker';

export type LedgerSync = Awaited<ReturnType<typeof startLedgerSync>>;

export interface LedgerSyncData {
  path: string;
  turns: Int32Array;
}

/** Indexes in `turns`: the number of syncs requested, and of those done. */
export const ASKED = 0;
export const DONE = 1;

/**
 * Starts the thread that syncs. The threads wake each other through shared memory: messages in both
 * directions would cost more than everything else for a group of few records.
 *
 * @param path the log, which must exist
 * @param onError called when a sync failed or the thread ended; no sync resolves after that
 */
export async function startLedgerSync(path: string, onError: (error: Error) => void) {
  const turns = new Int32Array(new SharedArrayBuffer(8));
  const data: LedgerSyncData = { path, turns };
  const worker = spawnWorker(import.meta.url, 'ledger-sync-worker', { workerData: data });
  let closing = false;
  await once(worker, 'message');
  worker.on('error', onError);
  worker.on('exit', () => {
    if (!closing) onError(new Error('the thread that syncs ended'));
  });
  return {
    /** Resolves when an fdatasync that began after this call has returned. One at a time. */
    sync: async (): Promise<void> => {
      const done = Atomics.load(turns, DONE);
      Atomics.add(turns, ASKED, 1);
      Atomics.notify(turns, ASKED);
      // Resolves at once if the thread was faster.
      await Atomics.waitAsync(turns, DONE, done).value;
    },
    close: async (): Promise<void> => {
      closing = true;
      await worker.terminate();
    },
  };
}
