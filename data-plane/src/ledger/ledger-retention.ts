/**
 * Shipped records are kept for the control plane's backup window, so that they can be shipped again
 * to a restored control plane; then the oldest are pruned, in small steps. The records kept of a
 * stream always reach to its end without a gap: at least those that a start checks, and all that
 * are not shipped yet. Proven by ledger-retention.test.ts.
 */
import { GENESIS_HASH } from '@governance/shared/ledger/hash-chain';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import type { Database } from 'better-sqlite3';
import type { ShippedPosition } from './ledger-messages.ts';
import {
  isAfter,
  type Position,
  type RecordRows,
  recordsIn,
  type StoredRow,
} from './ledger-rows.ts';
import { TAIL } from './ledger-schema.ts';
import { eventIdBytes } from './open-decisions.ts';

export const BEFORE_FIRST: ShippedPosition = { epoch: 0, seq: 0, head: GENESIS_HASH };

/** Marks in a backup window: records are pruned late by at most 1/168 of it. */
const MARKS = 168;

export function createRetention(db: Database, rows: RecordRows) {
  const sql = prepareRetention(db);

  /** The last row before those that a start checks. */
  function findKeptEnd(streamNo: number): Position | undefined {
    const [first] = rows.readTail(streamNo, TAIL);
    return first && sql.findKeptEnd.get(streamNo, first.epoch, first.seq);
  }

  /** Keeps the salts of a row: with them, hashes at the control plane can be proven later. */
  function keepSalts(row: StoredRow, salts: Buffer): void {
    let at = 0;
    for (const { bytes } of recordsIn(row)) {
      const salt = salts.subarray(at + 1, at + 1 + (salts[at] ?? 0));
      at += 1 + salt.length;
      const id = salt.some((byte) => byte !== 0) && findId(bytes);
      if (id) sql.insertSalt.run(eventIdBytes(id), salt);
    }
  }

  /** Deletes whole rows up to a position, until `limit` records or a few more are removed. */
  function deleteUpTo(streamNo: number, end: Position, limit: number): number {
    let removed = 0;
    // One row at a time, since a row may have a megabyte.
    while (removed < limit) {
      const row = sql.readOldest.get(streamNo, end.epoch, end.seq);
      if (!row) break;
      if (row.salts) keepSalts(row, row.salts);
      sql.deleteRow.run(row.position);
      removed += row.count;
    }
    return removed;
  }

  return {
    /** Records that wait to be shipped. */
    backlog: (streamNo: number, { epoch, seq }: Position): number =>
      sql.countAfter.get(epoch, seq, streamNo, epoch, seq) ?? 0,

    /**
     * The position of a control plane that expects this record next, with the head that it must
     * have.
     *
     * @returns null where the records that it lacks are no longer kept
     */
    findBefore: (streamNo: number, next: Position): ShippedPosition | null => {
      const { epoch, seq } = next;
      const record = rows.find(streamNo, next);
      if (!record) {
        // It has the whole epoch, and expects a record beyond its end.
        const last = rows.find(streamNo, { epoch, seq: seq - 1 });
        return last ? { epoch, seq: seq - 1, head: last.hash } : null;
      }
      const read = parseRecord(record.bytes);
      if (read.type !== 'epoch_start') return { epoch, seq: seq - 1, head: read.prev_hash };
      const { previous } = read;
      return previous
        ? { epoch: previous.epoch, seq: previous.last_seq, head: previous.head }
        : BEFORE_FIRST;
    },

    /**
     * One step: marks the position shipped now, and removes records that were shipped longer than
     * `keepMs` ago, until `limit` or a few more are removed.
     *
     * @returns how many were removed
     */
    prune: (
      streamNo: number,
      shipped: Position | null,
      { now, keepMs, limit }: PruneStep,
    ): number => {
      const last = sql.lastMark.get(streamNo) ?? null;
      if (shipped && (last === null || now - last >= keepMs / MARKS || now < last)) {
        sql.addMark.run(streamNo, now, shipped.epoch, shipped.seq);
      }
      const due = sql.findDue.get(streamNo, now - keepMs);
      const kept = findKeptEnd(streamNo);
      // After this position, open calls are found only in the records, which must be kept.
      const spilled = sql.findOpenFrom.get(streamNo);
      if (!due || !kept || !spilled) return 0;
      const [end = due] = [due, kept, spilled].sort((a, b) => (isAfter(b, a) ? -1 : 1));
      const removed = deleteUpTo(streamNo, end, limit);
      if (removed < limit) sql.dropMarksBefore.run(streamNo, due.at);
      return removed;
    },

    /** Free bytes within the file, reused before it grows. */
    freeBytes: (): number => {
      const pages = db.pragma('freelist_count', { simple: true }) as number;
      return pages * (db.pragma('page_size', { simple: true }) as number);
    },
  };
}

/** Null where the record is damaged: shipped records are not verified before they are pruned. */
function findId(bytes: Buffer): string | null {
  try {
    return (JSON.parse(bytes.toString()) as { id: string }).id;
  } catch {
    return null;
  }
}

export interface PruneStep {
  now: number;
  keepMs: number;
  limit: number;
}

function prepareRetention(db: Database) {
  return {
    countAfter: db
      .prepare<[number, number, number, number, number], number>(
        `SELECT coalesce(sum(CASE WHEN epoch = ? THEN min(count, seq - ?) ELSE count END), 0)
         FROM records WHERE stream_no = ? AND (epoch, seq) > (?, ?)`,
      )
      .pluck(),
    readOldest: db.prepare<
      [number, number, number],
      StoredRow & { position: number; salts: Buffer | null }
    >(
      `SELECT * FROM records WHERE stream_no = ? AND (epoch, seq) <= (?, ?)
       ORDER BY epoch, seq LIMIT 1`,
    ),
    findKeptEnd: db.prepare<[number, number, number], Position>(
      `SELECT epoch, seq FROM records WHERE stream_no = ? AND (epoch, seq) < (?, ?)
       ORDER BY epoch DESC, seq DESC LIMIT 1`,
    ),
    findOpenFrom: db.prepare<[number], Position>(
      'SELECT open_epoch AS epoch, open_seq AS seq FROM streams WHERE stream_no = ?',
    ),
    insertSalt: db.prepare<[Buffer, Buffer]>('INSERT OR IGNORE INTO event_salts VALUES (?, ?)'),
    deleteRow: db.prepare<[number]>('DELETE FROM records WHERE position = ?'),
    lastMark: db
      .prepare<[number], number | null>('SELECT max(at) FROM shipped_marks WHERE stream_no = ?')
      .pluck(),
    addMark: db.prepare<[number, number, number, number]>(
      'INSERT OR REPLACE INTO shipped_marks VALUES (?, ?, ?, ?)',
    ),
    findDue: db.prepare<[number, number], Position & { at: number }>(
      `SELECT at, epoch, seq FROM shipped_marks WHERE stream_no = ? AND at <= ?
       ORDER BY at DESC LIMIT 1`,
    ),
    dropMarksBefore: db.prepare<[number, number]>(
      'DELETE FROM shipped_marks WHERE stream_no = ? AND at < ?',
    ),
  };
}
