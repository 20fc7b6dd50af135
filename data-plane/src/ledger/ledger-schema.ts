/** The ledger's tables and its prepared statements. */
import type { Database } from 'better-sqlite3';

/** 3: the streams' ends are kept in a file beside it (ledger-marks.ts). */
export const VERSION = 3;
export const FIRST_VERSION_WITH_MARKS = 3;

// When a stream was shipped up to where, by which what is old enough is pruned.
const SHIPPED_MARKS = `
CREATE TABLE shipped_marks (
  stream_no INTEGER NOT NULL,
  at INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (stream_no, at)
) STRICT, WITHOUT ROWID;
`;

// `records` is append-only, but for its oldest, which are pruned. `open_decisions` holds the allowed calls whose outcome is not yet
// recorded, so that a start after a crash costs what was in flight, not what was ever recorded.
// Salts lie beside the chain: purging one makes the event's hashes unlinkable, and breaks nothing.
const SCHEMA = `
CREATE TABLE streams (
  stream_no INTEGER PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  stream TEXT NOT NULL,
  shipped_epoch INTEGER NOT NULL DEFAULT 0,
  shipped_seq INTEGER NOT NULL DEFAULT 0,
  shipped_head TEXT NOT NULL DEFAULT '',
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

export interface StreamRow {
  stream_no: number;
  shipped_epoch: number;
  shipped_seq: number;
  shipped_head: string;
}

export interface StoredRecord {
  epoch: number;
  seq: number;
  hash: Buffer;
  bytes: Buffer;
}

/** How many of a stream's last records are checked when it is opened, and therefore kept. */
export const TAIL = 64;

export function isNew(db: Database): boolean {
  return versionOf(db) === 0;
}

/** @throws when the file is of a newer version */
export function requireKnownVersion(db: Database): void {
  const version = versionOf(db);
  if (version > VERSION) throw new Error(`the ledger was written by a newer version (${version})`);
}

function versionOf(db: Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

/** Creates the tables in a new file. */
function migrate(db: Database): void {
  const version = versionOf(db);
  if (version === 0) db.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
  if (version === 1 || version === 2) {
    const added = version === 1 ? SHIPPED_MARKS : '';
    db.exec(`BEGIN IMMEDIATE; ${added} PRAGMA user_version = ${VERSION}; COMMIT`);
  }
}

/** Migrates the file and prepares every statement that the store runs. */
export function prepareStatements(db: Database) {
  migrate(db);
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
    findStream: db.prepare<[string, string], StreamRow>(
      'SELECT stream_no, shipped_epoch, shipped_seq, shipped_head FROM streams WHERE tenant_id = ? AND stream = ?',
    ),
    insertStream: db.prepare<[string, string]>(
      'INSERT INTO streams (tenant_id, stream) VALUES (?, ?)',
    ),
    markShipped: db.prepare<[number, number, string, number]>(
      'UPDATE streams SET shipped_epoch = ?, shipped_seq = ?, shipped_head = ? WHERE stream_no = ?',
    ),
    // The bytes are given as text: SQLite writes its UTF-8 itself.
    insertRecord: db.prepare<[number, number, number, string, Buffer, string]>(
      `INSERT INTO records (stream_no, epoch, seq, type, hash, bytes)
       VALUES (?, ?, ?, ?, ?, CAST(? AS BLOB))`,
    ),
    readTail: db.prepare<[number], StoredRecord>(
      `SELECT epoch, seq, hash, bytes FROM (
         SELECT epoch, seq, hash, bytes FROM records WHERE stream_no = ?
         ORDER BY epoch DESC, seq DESC LIMIT ${TAIL}
       ) ORDER BY epoch, seq`,
    ),
    readUpTo: db.prepare<[number, number, number, number, number, number], StoredRecord>(
      `SELECT epoch, seq, hash, bytes FROM records
       WHERE stream_no = ? AND (epoch, seq) > (?, ?) AND (epoch, seq) <= (?, ?)
       ORDER BY epoch, seq LIMIT ?`,
    ),
    findHash: db
      .prepare<[number, number, number], Buffer>(
        'SELECT hash FROM records WHERE stream_no = ? AND epoch = ? AND seq = ?',
      )
      .pluck(),
    readAfter: db.prepare<[number, number, number, number], StoredRecord>(
      `SELECT epoch, seq, hash, bytes FROM records
       WHERE stream_no = ? AND (epoch, seq) > (?, ?) ORDER BY epoch, seq LIMIT ?`,
    ),
    insertSalt: db.prepare<[Buffer, Uint8Array]>('INSERT OR IGNORE INTO event_salts VALUES (?, ?)'),
    insertOpen: db.prepare<[Buffer, number]>('INSERT OR IGNORE INTO open_decisions VALUES (?, ?)'),
    deleteOpen: db.prepare<[Buffer]>('DELETE FROM open_decisions WHERE event_id = ?'),
    readOpen: db.prepare<[number], { event_id: Buffer }>(
      'SELECT event_id FROM open_decisions WHERE stream_no = ? ORDER BY event_id',
    ),
  };
}
