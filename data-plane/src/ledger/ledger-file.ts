/**
 * Opens the ledger's file for its only writer, the main thread.
 *
 * A COMMIT on this connection writes to the log and does not wait for the disk: the ledger syncs
 * the log on a thread of its own, and acknowledges nothing before that (ledger-committer.ts).
 * Checkpoints run on the reader's thread. `synchronous` is NORMAL and not OFF, so that SQLite still
 * syncs the header of a log that it restarts, and the folder of a new log.
 */
import { syncFile } from '@governance/shared/process/durable-file';
import Database from 'better-sqlite3';
import { openDurableDatabase } from '../storage/durable-database.ts';
import { lockLedger } from './ledger-lock.ts';
import { type LedgerMarks, openMarks } from './ledger-marks.ts';
import { isNew, prepareStatements, requireLedgerVersion } from './ledger-schema.ts';
import { checkLedgerFiles, readStreamMarks } from './ledger-start.ts';

export type LedgerFile = ReturnType<typeof openLedgerFile>;

export interface LedgerFileOptions {
  path: string;
  /** Size limit of the file; beyond it a commit fails with SQLITE_FULL. Null: no limit. */
  limitBytes: number | null;
}

/**
 * Checks and opens a ledger, creating it when it is new.
 *
 * @throws LedgerDamagedError when acknowledged records are missing; nothing was changed then
 * @throws when the file is damaged, in use by another process, or cannot be made durable
 */
export function openLedgerFile(options: LedgerFileOptions) {
  const lock = lockLedger(options.path);
  let db: Database.Database | undefined;
  let marks: LedgerMarks | undefined;
  const close = () => {
    db?.close();
    marks?.close();
    lock.release();
  };
  try {
    checkLedgerFiles(options.path);
    db = openDurableDatabase(options.path, { exclusive: false });
    limitFile(db, options.limitBytes);
    requireLedgerVersion(db);
    // A killed process may have left a commit that is not on disk. It is synced before the marks or
    // new records refer to it: the marks are never ahead of the disk, and at most one commit is not
    // on it.
    syncFile(`${options.path}-wal`, 'r+');
    // Before prepareStatements writes the version that requires marks.
    marks = openMarks(options.path, isNew(db) ? [] : readStreamMarks(db));
    const sql = prepareStatements(db);
    // From here on an append must never wait for another connection's lock, nor for the disk.
    db.pragma('busy_timeout = 0');
    db.pragma('synchronous = NORMAL');
    db.pragma('wal_autocheckpoint = 0');
    return { db, sql, marks, close };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * A second connection to an open ledger, for the thread that reads, prunes and checkpoints.
 *
 * Only SQLite may open the file: closing any other descriptor of it would release all locks that
 * this process has on it.
 */
export function openSecondConnection({ path, limitBytes }: LedgerFileOptions): Database.Database {
  // Short, since the writer waits while this connection waits for another program's lock.
  const db = new Database(path, { fileMustExist: true, timeout: 100 });
  db.pragma('synchronous = FULL');
  db.pragma('wal_autocheckpoint = 0');
  db.pragma('fullfsync = ON');
  db.pragma('checkpoint_fullfsync = ON');
  db.pragma('cell_size_check = ON');
  db.pragma('trusted_schema = OFF');
  limitFile(db, limitBytes);
  return db;
}

function limitFile(db: Database.Database, limitBytes: number | null): void {
  if (limitBytes === null) return;
  const pageSize = db.pragma('page_size', { simple: true }) as number;
  db.pragma(`max_page_count = ${Math.max(1, Math.floor(limitBytes / pageSize))}`);
}
