/**
 * The thread that syncs the ledger's log. It does nothing else, so that a sync never waits for a
 * batch, or for password hashes and DNS look-ups on libuv's threads. An error ends the thread, and
 * with it the ledger: a later fdatasync proves nothing about earlier writes.
 */
import { fdatasyncSync, openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { ASKED, DONE, type LedgerSyncData } from './ledger-sync.ts';

const { path, turns } = workerData as LedgerSyncData;
// Opened before the first write: the kernel reports a write error only to descriptors already open.
const file = openSync(path, 'r+');
parentPort?.postMessage(null);
for (;;) {
  Atomics.wait(turns, ASKED, Atomics.load(turns, DONE));
  const asked = Atomics.load(turns, ASKED);
  fdatasyncSync(file);
  Atomics.store(turns, DONE, asked);
  Atomics.notify(turns, DONE);
}
