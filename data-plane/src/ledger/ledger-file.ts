/** Opens the ledger's files: checked first, then held exclusively until they are closed. */
import type { Database } from 'better-sqlite3';
import { openDurableDatabase } from '../storage/durable-database.ts';
import { type LedgerMarks, openMarks } from './ledger-marks.ts';
import { isNew, prepareStatements, requireKnownVersion } from './ledger-schema.ts';
import { checkLedgerFiles, readStreamMarks } from './ledger-start.ts';

/** @throws as `createLedgerStore` does */
export function openLedgerFile(options: { path: string; limitBytes: number | null }) {
  checkLedgerFiles(options.path);
  const db = openDurableDatabase(options.path, { exclusive: true });
  let marks: LedgerMarks | undefined;
  try {
    if (options.limitBytes !== null) limitFile(db, options.limitBytes);
    requireKnownVersion(db);
    // Before the file says that it has marks.
    marks = openMarks(options.path, isNew(db) ? [] : readStreamMarks(db));
    return { db, sql: prepareStatements(db), marks };
  } catch (error) {
    db.close();
    marks?.close();
    throw error;
  }
}

function limitFile(db: Database, limitBytes: number): void {
  const pageSize = db.pragma('page_size', { simple: true }) as number;
  db.pragma(`max_page_count = ${Math.max(1, Math.floor(limitBytes / pageSize))}`);
}
