/**
 * Opens every SQLite file of the product in WAL mode with synchronous=FULL, so that a commit
 * returns only after its frames are on disk. better-sqlite3 is compiled so that a reopened WAL
 * database silently runs at NORMAL, so the setting is made and asserted at every open.
 */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { StartError } from '@governance/shared/process/start-error';
import Database from 'better-sqlite3';

const SYNCHRONOUS_FULL = 2;
const DAMAGED = /^SQLITE_(?:CORRUPT|NOTADB)/;

/**
 * Opens or creates a database file that loses nothing it acknowledged.
 *
 * @param path the file; its folder must exist
 * @param options `exclusive`: no other process or connection may open the file meanwhile, which
 *   also saves the shared-memory file and its locks on each commit; `busyTimeoutMs`: how long to
 *   wait for a lock, 5 s by default
 * @throws when the file is no database, is in use elsewhere, or does not accept the settings
 */
export function openDurableDatabase(
  path: string,
  options: { exclusive: boolean; busyTimeoutMs?: number },
): Database.Database {
  // Readable by the owner alone; SQLite gives the files beside it the same mode.
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const db = new Database(path, { timeout: options.busyTimeoutMs ?? 5_000 });
  try {
    if (options.exclusive) db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    // Without these, macOS acknowledges writes that are only in the drive's cache. No-ops
    // elsewhere.
    db.pragma('fullfsync = ON');
    db.pragma('checkpoint_fullfsync = ON');
    db.pragma('cell_size_check = ON');
    db.pragma('trusted_schema = OFF');
    assertDurable(db);
    // Takes the lock now, so that a second process fails when it starts, not at its first call.
    if (options.exclusive) db.exec('BEGIN IMMEDIATE; COMMIT');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Opens a database file like `openDurableDatabase`, and closes it again if `prepare` throws.
 *
 * @param prepare makes tables and statements
 * @throws StartError where the file is damaged: SQLite's own error does not name it
 */
export function openPrepared<T>(
  path: string,
  options: Parameters<typeof openDurableDatabase>[1],
  prepare: (db: Database.Database) => T,
): T {
  let db: Database.Database | undefined;
  try {
    db = openDurableDatabase(path, options);
    return prepare(db);
  } catch (error) {
    db?.close();
    throw DAMAGED.test(sqliteCode(error) ?? '') ? damaged(path, error) : error;
  }
}

function damaged(path: string, cause: unknown): StartError {
  return new StartError(
    `${path} is damaged (${String(cause)}): look at the disk; put back the whole data folder of one moment, or stop the data plane and remove this file with those beside it that begin with its name (docs/architecture.md, "Where state lives", says what is lost then)`,
    { cause },
  );
}

/** @throws Error when a commit on this connection would not wait for the disk */
function assertDurable(db: Database.Database): void {
  const synchronous = db.pragma('synchronous', { simple: true });
  const journal = db.pragma('journal_mode', { simple: true });
  if (synchronous !== SYNCHRONOUS_FULL || journal !== 'wal') {
    throw new Error(`not durable: journal_mode=${journal}, synchronous=${synchronous}`);
  }
}

/**
 * The code of an error that SQLite raised, such as SQLITE_FULL, or that was the cause of one;
 * undefined for any other error.
 */
export function sqliteCode(error: unknown): string | undefined {
  const raised = error instanceof StartError ? error.cause : error;
  return raised instanceof Database.SqliteError ? raised.code : undefined;
}
