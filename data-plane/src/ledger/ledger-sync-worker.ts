/**
 * The thread that syncs the ledger's log. It does nothing else, so that a sync never waits for a
 * batch, nor for password hashes and look-ups that fill libuv's threads. An error ends it, and the
 * ledger with it: a later fdatasync proves nothing about earlier writes.
 */
import { fdatasyncSync, openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { ASKED, DONE, type LedgerSyncData } from './ledger-sync.ts';

const { path, turns } = workerData as LedgerSyncData;
// Open before the first write: an error is reported only to descriptors open at the time.
const file = openSync(path, 'r+');
parentPort?.postMessage(null);
for (;;) {
  Atomics.wait(turns, ASKED, Atomics.load(turns, DONE));
  const asked = Atomics.load(turns, ASKED);
  fdatasyncSync(file);
  Atomics.store(turns, DONE, asked);
  Atomics.notify(turns, DONE);
}
