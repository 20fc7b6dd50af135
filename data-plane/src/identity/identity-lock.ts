/**
 * Keys are not exchanged while somebody uses them. Every process of a data plane shares this lock,
 * from before it reads a key until it ends; a command that exchanges keys holds it alone. The system
 * releases it when a process ends, however it ends. The lock lies on a file, which somebody may
 * remove and the next one makes anew: so a command also holds the lock of the ledger, which every
 * data plane holds. Proven by identity-lock.test.ts.
 */
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '@governance/shared/process/start-error';
import Database from 'better-sqlite3';
import { LEDGER_FILE } from '../ledger/ledger.ts';
import { LedgerInUseError, lockLedger } from '../ledger/ledger-lock.ts';
import { sqliteCode } from '../storage/durable-database.ts';

/** Beside `identity`, which `register-anew` moves away. */
export const IDENTITY_LOCK_FILE = 'identity-lock';

export interface IdentityLock {
  /** Whether its file is still the one that others meet: somebody may have removed it. */
  isInPlace(): boolean;
  release(): void;
}

/** How often a file that is exchanged while it is locked is tried again. */
const MAX_TRIES = 5;

/**
 * For a process that uses the keys.
 *
 * @param dataDir SERVICE_DATA_DIR, also for one of several workers
 * @param waitMs for a command that is about to end
 * @throws StartError while a command exchanges them
 */
export function shareIdentity(dataDir: string, waitMs = 2_000): IdentityLock {
  const lock = takeLock(dataDir, { isAlone: false, waitMs });
  if (lock) return lock;
  throw new StartError(
    `a command exchanges the keys in ${dataDir} (rotate-keys or register-anew): start the data plane again when it has ended`,
  );
}

/**
 * For a command that exchanges the keys. It holds the lock of the data folder's ledger, too.
 *
 * @returns null while somebody else uses them
 * @throws StartError where the lock's file cannot be used
 */
export function tryOwnIdentity(dataDir: string, waitMs = 200): IdentityLock | null {
  const lock = takeLock(dataDir, { isAlone: true, waitMs });
  if (!lock) return null;
  try {
    const ledger = lockLedger(join(dataDir, LEDGER_FILE), waitMs);
    const release = () => {
      ledger.release();
      lock.release();
    };
    return { ...lock, release };
  } catch (error) {
    lock.release();
    if (error instanceof LedgerInUseError) return null;
    throw new StartError(`the lock of the ledger in ${dataDir} cannot be used`, { cause: error });
  }
}

function takeLock(dataDir: string, how: { isAlone: boolean; waitMs: number }): IdentityLock | null {
  const path = join(dataDir, IDENTITY_LOCK_FILE);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    const before = inodeOf(path);
    const file = lockFile(path, how);
    if (!file) return null;
    const isInPlace = () => before !== null && inodeOf(path) === before;
    if (isInPlace()) return { isInPlace, release: () => file.close() };
    file.close();
  }
  throw new StartError(`the lock ${path} is removed again and again: leave it where it is`);
}

/** An open file keeps its number: no other one has it until it is closed. */
function inodeOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.dev}/${found.ino}` : null;
}

/** @returns null while somebody else holds the lock */
function lockFile(
  path: string,
  { isAlone, waitMs }: { isAlone: boolean; waitMs: number },
): Database.Database | null {
  const file = new Database(path, { timeout: waitMs });
  try {
    file.pragma('journal_mode = MEMORY');
    // Writes, since on a read-only file an exclusive transaction would exclude nobody.
    if (isAlone) file.exec('BEGIN EXCLUSIVE; PRAGMA user_version = 1');
    // A transaction that has read something holds the shared lock until it ends.
    else file.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
  } catch (error) {
    file.close();
    const code = sqliteCode(error);
    if (code === 'SQLITE_BUSY') return null;
    const what = code?.startsWith('SQLITE_READONLY') ? 'cannot be written' : 'cannot be used';
    throw new StartError(
      `the lock ${path} ${what}: let the data plane's user write it; or stop the data plane and remove it, and it is made anew`,
      { cause: error },
    );
  }
  return file;
}
