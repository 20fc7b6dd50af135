/**
 * The thread that syncs the ledger's log. It has nothing else to do, so that a sync never waits for
 * a batch that is made, nor for passwords and look-ups that fill libuv's threads. An error ends it,
 * and with it the ledger: what a later fdatasync says about earlier writes is worth nothing.
 */
import { fdatasyncSync, openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { ASKED, DONE, type LedgerSyncData } from './ledger-sync.ts';

const { path, turns } = workerData as LedgerSyncData;
// Open before the first write: an error is reported to those who had the file open then.
const file = openSync(path, 'r+');
parentPort?.postMessage(null);
for (;;) {
  Atomics.wait(turns, ASKED, Atomics.load(turns, DONE));
  const asked = Atomics.load(turns, ASKED);
  fdatasyncSync(file);
  Atomics.store(turns, DONE, asked);
  Atomics.notify(turns, DONE);
}
