/**
 * Keys are not exchanged while somebody uses them. Every process of a data plane shares this lock,
 * from before it reads a key until it ends; a command that exchanges keys holds it alone. The system
 * releases it when a process ends, however it ends. Proven by identity-lock.test.ts.
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '@governance/shared/start-error';
import Database from 'better-sqlite3';
import { sqliteCode } from '../storage/durable-database.ts';

/** Beside `identity`, which `register-anew` moves away. */
export const IDENTITY_LOCK_FILE = 'identity-lock';

export interface IdentityLock {
  release(): void;
}

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
 * For a command that exchanges the keys.
 *
 * @returns null while somebody else uses them
 * @throws StartError where the lock's file cannot be used
 */
export function tryOwnIdentity(dataDir: string, waitMs = 200): IdentityLock | null {
  return takeLock(dataDir, { isAlone: true, waitMs });
}

function takeLock(
  dataDir: string,
  { isAlone, waitMs }: { isAlone: boolean; waitMs: number },
): IdentityLock | null {
  const path = join(dataDir, IDENTITY_LOCK_FILE);
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  const file = new Database(path, { timeout: waitMs });
  try {
    file.pragma('journal_mode = MEMORY');
    // Of a file that cannot be written, an exclusive transaction excludes nobody: writing says so.
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
  return { release: () => file.close() };
}
