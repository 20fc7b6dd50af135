/**
 * Only one process at a time uses a ledger. SQLite's exclusive mode would also lock out the
 * ledger's second thread, so a separate file is locked. The system releases the lock when the
 * process ends, however it ends. Proven by ledger-lock.test.ts.
 */
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { StartError } from '@governance/shared/process/start-error';
import Database from 'better-sqlite3';
import { sqliteCode } from '../storage/durable-database.ts';

const WAIT_MS = 5_000;

/** Another process uses the ledger: a data plane that runs, or hangs. */
export class LedgerInUseError extends StartError {
  constructor(path: string, holder: number | undefined) {
    const by = holder === undefined ? 'another process' : `process ${holder}`;
    super(
      `the ledger is in use by ${by}, which has locked ${path}: a data plane of this folder still runs; stop it, or end it by SIGKILL where it hangs, and start again`,
    );
    this.name = 'LedgerInUseError';
  }
}

/**
 * Takes the lock of a ledger, waiting up to `waitMs` for a process that is about to end.
 *
 * @throws LedgerInUseError when another process uses the ledger
 * @throws StartError when the lock's file is damaged
 */
export function lockLedger(ledgerPath: string, waitMs = WAIT_MS): { release(): void } {
  const path = lockPath(ledgerPath);
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  const file = new Database(path, { timeout: waitMs });
  try {
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    if (sqliteCode(error) === 'SQLITE_BUSY') throw new LedgerInUseError(path, findHolder(path));
    if (sqliteCode(error) !== 'SQLITE_NOTADB') throw error;
    throw new StartError(
      `the lock ${path} is damaged: look at the disk, stop the data plane and remove it; it is made anew`,
      { cause: error },
    );
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
    if (error instanceof LedgerInUseError) return true;
    throw error;
  }
}

/**
 * Which process holds the lock, as Linux lists it; undefined where that is not known. Some file
 * systems list another device: then no process is named, rather than a wrong one.
 */
function findHolder(path: string): number | undefined {
  try {
    const { dev, ino } = statSync(path);
    const major = (dev >> 8) & 0xfff;
    const minor = (dev & 0xff) | ((dev >> 12) & 0xfff00);
    const device = [major, minor].map((number) => number.toString(16).padStart(2, '0')).join(':');
    // "1: POSIX  ADVISORY  WRITE 4711 fe:00:11559493 0 EOF"
    const held = new RegExp(`WRITE (\\d+) ${device}:${ino} `).exec(
      readFileSync('/proc/locks', 'utf8'),
    );
    return held ? Number(held[1]) : undefined;
  } catch {
    return undefined;
  }
}

function lockPath(ledgerPath: string): string {
  return `${ledgerPath}-lock`;
}
