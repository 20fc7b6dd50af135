/**
 * Only one process at a time uses a ledger. SQLite's exclusive mode would also lock out the
 * ledger's second thread, so a separate file is locked. The system releases the lock when the
 * process ends, however it ends. Proven by ledger-lock.test.ts.
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';
import { sqliteCode } from '../storage/durable-database.ts';

const WAIT_MS = 5_000;

/**
 * Takes the lock of a ledger, waiting up to `waitMs` for a process that is about to end.
 *
 * @throws when another process uses the ledger
 */
export function lockLedger(ledgerPath: string, waitMs = WAIT_MS): { release(): void } {
  const path = lockPath(ledgerPath);
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  const file = new Database(path, { timeout: waitMs });
  try {
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    throw error;
  }
  return { release: () => file.close() };
}

/** Whether a process uses the ledger. Changes nothing in its files. */
export function isLedgerInUse(ledgerPath: string): boolean {
  if (!existsSync(lockPath(ledgerPath))) return false;
  try {
    lockLedger(ledgerPath, 200).release();
    return false;
  } catch (error) {
    if (sqliteCode(error) === 'SQLITE_BUSY') return true;
    throw error;
  }
}

function lockPath(ledgerPath: string): string {
  return `${ledgerPath}-lock`;
}
