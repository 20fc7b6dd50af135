/** The ledger's tables and the statements that write them. */
import type { Database } from 'better-sqlite3';
import { requireKnownVersion, versionOf } from '../storage/file-version.ts';

/** From 3: the marks are in a file of their own (ledger-marks.ts). From 4: a row holds a group. */
export const VERSION = 4;
export const FIRST_VERSION_WITH_MARKS = 3;
export const FIRST_VERSION_WITH_GROUPS = 4;

// When (Unix milliseconds) a stream was shipped up to which position; pruning uses it.
const SHIPPED_MARKS = `
CREATE TABLE shipped_marks (
  stream_no INTEGER NOT NULL,
  at INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (stream_no, at)
) STRICT, WITHOUT ROWID;
`;

// A row of `records` holds the records of one group and stream, one in each line. `seq` and `hash`
// are those of the last record; `type` is 'group' (rows of older versions hold one record, and its
// type). Only the oldest rows are ever removed, and only salts are ever changed: purging a salt
// makes hashes unlinkable and breaks no chain. Salts are kept longer than their rows, in
// `event_salts`.
//
// `open_decisions` holds the allowed calls without an outcome up to `open_epoch`/`open_seq` of
// their stream; later ones are found in the records. So a start after a crash reads a bounded
// number of records, and most calls need no row here.
const SCHEMA = `
CREATE TABLE streams (
  stream_no INTEGER PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  stream TEXT NOT NULL,
  shipped_epoch INTEGER NOT NULL DEFAULT 0,
  shipped_seq INTEGER NOT NULL DEFAULT 0,
  shipped_head TEXT NOT NULL DEFAULT '',
  open_epoch INTEGER NOT NULL DEFAULT 0,
  open_seq INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant_id, stream)
) STRICT;
CREATE TABLE records (
  position INTEGER PRIMARY KEY,
  stream_no INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  type TEXT NOT NULL,
  hash BLOB NOT NULL,
  bytes BLOB NOT NULL,
  count INTEGER NOT NULL DEFAULT 1,
  salts BLOB,
  UNIQUE (stream_no, epoch, seq)
) STRICT;
CREATE TABLE event_salts (
  event_id BLOB PRIMARY KEY,
  salt BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE open_decisions (
  event_id BLOB PRIMARY KEY,
  stream_no INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
${SHIPPED_MARKS}PRAGMA user_version = ${VERSION};
`;

// Each old row becomes a group of one; its salts are already in `event_salts`.
const ADD_GROUPS = `
ALTER TABLE records ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
ALTER TABLE records ADD COLUMN salts BLOB;
ALTER TABLE streams ADD COLUMN open_epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE streams ADD COLUMN open_seq INTEGER NOT NULL DEFAULT 0;
UPDATE streams SET (open_epoch, open_seq) = (
  SELECT epoch, seq FROM records WHERE records.stream_no = streams.stream_no
  ORDER BY epoch DESC, seq DESC LIMIT 1)
  WHERE stream_no IN (SELECT stream_no FROM records);
`;

/** How many of a stream's last records are checked when it is opened, and therefore kept. */
export const TAIL = 64;

// Calls that wait for a person. The use of an approval is recorded in the commit that removes the
// row. The table is not part of the version: an older service holds no calls and ignores it.
const HOLDS = `
CREATE TABLE IF NOT EXISTS holds (
  tenant_id TEXT NOT NULL,
  id TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
`;

export function isNew(db: Database): boolean {
  return versionOf(db) === 0;
}

/** @throws StartError when the file is of a newer version */
export function requireLedgerVersion(db: Database): void {
  requireKnownVersion(db, { version: VERSION, what: 'the ledger' });
}

/** Creates the tables in a new file, and migrates a file of an older version. */
function migrate(db: Database): void {
  const version = versionOf(db);
  if (version === VERSION) return;
  const added = `${version === 1 ? SHIPPED_MARKS : ''}${ADD_GROUPS}PRAGMA user_version = ${VERSION};`;
  db.exec(`BEGIN IMMEDIATE; ${version === 0 ? SCHEMA : added} COMMIT`);
}

/** Migrates the file and prepares every statement that the writer runs. */
export function prepareStatements(db: Database) {
  migrate(db);
  db.exec(HOLDS);
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
    insertStream: db.prepare<[string, string]>(
      'INSERT INTO streams (tenant_id, stream) VALUES (?, ?)',
    ),
    markShipped: db.prepare<[number, number, string, number]>(
      'UPDATE streams SET shipped_epoch = ?, shipped_seq = ?, shipped_head = ? WHERE stream_no = ?',
    ),
    // The bytes are passed as text: SQLite writes UTF-8 itself.
    insertRecords: db.prepare<[number, number, number, number, Buffer, string, Buffer | null]>(
      `INSERT INTO records (stream_no, epoch, seq, type, count, hash, bytes, salts)
       VALUES (?, ?, ?, 'group', ?, ?, CAST(? AS BLOB), ?)`,
    ),
    insertOpen: db.prepare<[Buffer, number]>('INSERT OR IGNORE INTO open_decisions VALUES (?, ?)'),
    deleteOpen: db.prepare<[Buffer]>('DELETE FROM open_decisions WHERE event_id = ?'),
    moveOpen: db.prepare<[number, number, number]>(
      'UPDATE streams SET open_epoch = ?, open_seq = ? WHERE stream_no = ?',
    ),
    putHold: db.prepare<[string, string, string]>('INSERT OR REPLACE INTO holds VALUES (?, ?, ?)'),
    deleteHold: db.prepare<[string, string]>('DELETE FROM holds WHERE tenant_id = ? AND id = ?'),
    readHolds: db
      .prepare<[string], string>('SELECT value FROM holds WHERE tenant_id = ? ORDER BY id')
      .pluck(),
    dropMarksAfter: db.prepare<[number, number, number]>(
      'DELETE FROM shipped_marks WHERE stream_no = ? AND (epoch, seq) > (?, ?)',
    ),
  };
}
