/** Reads the rows of `records`, each of which holds consecutive records of one stream and epoch. */
import { recordHash } from '@governance/shared/ledger/hash-chain';
import type { Database } from 'better-sqlite3';
import { versionOf } from '../storage/file-version.ts';
import { LedgerDamagedError } from './ledger-error.ts';
import { FIRST_VERSION_WITH_GROUPS } from './ledger-schema.ts';

const LINE_FEED = 0x0a;

export interface Position {
  epoch: number;
  seq: number;
}

export interface StoredRow extends Position {
  count: number;
  /** The hash of its last record, whose number is `seq`. */
  hash: Buffer;
  bytes: Buffer;
}

export interface StoredRecord extends Position {
  /** The hash stored beside it: for the last record of a row, null for the others. */
  hash: string | null;
  bytes: Buffer;
}

export type RecordRows = ReturnType<typeof createRecordRows>;

export function createRecordRows(db: Database) {
  const count = versionOf(db) < FIRST_VERSION_WITH_GROUPS ? '1 AS count' : 'count';
  const columns = `epoch, seq, ${count}, hash, bytes`;
  const readAfter = db.prepare<[number, number, number], StoredRow>(
    `SELECT ${columns} FROM records WHERE stream_no = ? AND (epoch, seq) > (?, ?)
     ORDER BY epoch, seq`,
  );
  const readBack = db.prepare<[number], StoredRow>(
    `SELECT ${columns} FROM records WHERE stream_no = ? ORDER BY epoch DESC, seq DESC`,
  );
  const findRow = db.prepare<[number, number, number], StoredRow>(
    `SELECT ${columns} FROM records WHERE stream_no = ? AND epoch = ? AND seq >= ?
     ORDER BY seq LIMIT 1`,
  );

  return {
    /**
     * The records after a position, in order.
     *
     * @param skips whether to skip rows that do not hold as many records as they declare
     */
    *readAfter(
      streamNo: number,
      { epoch, seq }: Position,
      skips?: 'damaged rows',
    ): Generator<StoredRecord> {
      for (const row of readAfter.iterate(streamNo, epoch, seq)) {
        if (skips && !isComplete(row)) continue;
        for (const record of recordsIn(row)) {
          if (record.epoch > epoch || record.seq > seq) yield record;
        }
      }
    },

    find(
      streamNo: number,
      { epoch, seq }: Position,
    ): (StoredRecord & { hash: string }) | undefined {
      const row = findRow.get(streamNo, epoch, seq);
      if (!row) return undefined;
      for (const record of recordsIn(row)) {
        if (record.seq !== seq) continue;
        return { ...record, hash: record.hash ?? recordHash(record.bytes) };
      }
      return undefined;
    },

    findEnd(streamNo: number): (Position & { head: string }) | null {
      const row = readBack.get(streamNo);
      return row ? { epoch: row.epoch, seq: row.seq, head: row.hash.toString('hex') } : null;
    },

    /** The stream's last rows, in order, with at least `records` records where there are so many. */
    readTail(streamNo: number, records: number): StoredRow[] {
      const rows: StoredRow[] = [];
      let read = 0;
      for (const row of readBack.iterate(streamNo)) {
        rows.push(row);
        read += row.count;
        if (read >= records) break;
      }
      return rows.reverse();
    },
  };
}

function isComplete(row: StoredRow): boolean {
  try {
    return [...recordsIn(row)].length > 0;
  } catch {
    return false;
  }
}

/** @throws LedgerDamagedError when the row does not hold as many records as it declares */
export function* recordsIn(row: StoredRow): Generator<StoredRecord> {
  let start = 0;
  for (let seq = row.seq - row.count + 1; seq <= row.seq; seq++) {
    const isLast = seq === row.seq;
    const end = isLast ? row.bytes.length : row.bytes.indexOf(LINE_FEED, start);
    if (end < start) {
      throw new LedgerDamagedError(`the row of record ${row.epoch}/${row.seq} is incomplete`);
    }
    const bytes = row.bytes.subarray(start, end);
    yield { epoch: row.epoch, seq, hash: isLast ? row.hash.toString('hex') : null, bytes };
    start = end + 1;
  }
}

/** Whether position `a` of a stream comes after `b`. */
export function isAfter(a: Position, b: Position): boolean {
  return a.epoch > b.epoch || (a.epoch === b.epoch && a.seq > b.seq);
}
