/**
 * What was shipped is kept for the control plane's backup window, so that it can be shipped again
 * to one that was restored; then the oldest is pruned, in small steps. What is kept of a stream is
 * always its unbroken end: never less than what a start checks, nothing that was not shipped.
 * Proven by ledger-retention.test.ts.
 */
import { GENESIS_HASH } from '@governance/shared/hash-chain';
import { parseRecord } from '@governance/shared/ledger-record';
import type { Database } from 'better-sqlite3';
import type { ShippedPosition } from './ledger-messages.ts';
import { TAIL } from './ledger-schema.ts';

export const BEFORE_FIRST: ShippedPosition = { epoch: 0, seq: 0, head: GENESIS_HASH };

/** Marks in a backup window: what is pruned is at most this fraction of it too old. */
const MARKS = 168;

interface Place {
  epoch: number;
  seq: number;
}

export type Retention = ReturnType<typeof createRetention>;

export function createRetention(db: Database) {
  const sql = {
    countAfter: db
      .prepare<[number, number, number], number>(
        'SELECT count(*) FROM records WHERE stream_no = ? AND (epoch, seq) > (?, ?)',
      )
      .pluck(),
    findRecord: db.prepare<[number, number, number], { hash: Buffer; bytes: Buffer }>(
      'SELECT hash, bytes FROM records WHERE stream_no = ? AND epoch = ? AND seq = ?',
    ),
    findKeptEnd: db.prepare<[number], Place>(
      `SELECT epoch, seq FROM records WHERE stream_no = ?
       ORDER BY epoch DESC, seq DESC LIMIT 1 OFFSET ${TAIL}`,
    ),
    deleteUpTo: db.prepare<[number, number, number, number]>(
      `DELETE FROM records WHERE position IN (
         SELECT position FROM records WHERE stream_no = ? AND (epoch, seq) <= (?, ?)
         ORDER BY epoch, seq LIMIT ?)`,
    ),
    lastMark: db
      .prepare<[number], number | null>('SELECT max(at) FROM shipped_marks WHERE stream_no = ?')
      .pluck(),
    addMark: db.prepare<[number, number, number, number]>(
      'INSERT OR REPLACE INTO shipped_marks VALUES (?, ?, ?, ?)',
    ),
    findDue: db.prepare<[number, number], Place & { at: number }>(
      `SELECT at, epoch, seq FROM shipped_marks WHERE stream_no = ? AND at <= ?
       ORDER BY at DESC LIMIT 1`,
    ),
    dropMarksBefore: db.prepare<[number, number]>(
      'DELETE FROM shipped_marks WHERE stream_no = ? AND at < ?',
    ),
    dropMarksAfter: db.prepare<[number, number, number]>(
      'DELETE FROM shipped_marks WHERE stream_no = ? AND (epoch, seq) > (?, ?)',
    ),
  };

  return {
    /** Records that wait to be shipped. */
    backlog: (streamNo: number, after: Place): number =>
      sql.countAfter.get(streamNo, after.epoch, after.seq) ?? 0,

    /**
     * The position of one who wants this record next, with the head that he must have.
     *
     * @returns null where the records that he lacks are no longer kept
     */
    findBefore: (streamNo: number, next: Place): ShippedPosition | null => {
      const record = sql.findRecord.get(streamNo, next.epoch, next.seq);
      if (!record) {
        // An epoch of which he has everything: the next one follows.
        const last = sql.findRecord.get(streamNo, next.epoch, next.seq - 1);
        const { epoch, seq } = next;
        return last ? { epoch, seq: seq - 1, head: last.hash.toString('hex') } : null;
      }
      const read = parseRecord(record.bytes);
      if (read.type !== 'epoch_start') {
        return { epoch: next.epoch, seq: next.seq - 1, head: read.prev_hash };
      }
      const { previous } = read;
      return previous
        ? { epoch: previous.epoch, seq: previous.last_seq, head: previous.head }
        : BEFORE_FIRST;
    },

    /** Forgets when what lies behind a position was shipped: it is going to be shipped again. */
    forgetAfter: (streamNo: number, { epoch, seq }: Place): void => {
      sql.dropMarksAfter.run(streamNo, epoch, seq);
    },

    /**
     * One step: notes what is shipped now, and removes up to `limit` records that were shipped
     * longer than `keepMs` ago.
     *
     * @returns how many were removed
     */
    prune: (
      streamNo: number,
      shipped: Place | null,
      { now, keepMs, limit }: { now: number; keepMs: number; limit: number },
    ): number => {
      const last = sql.lastMark.get(streamNo) ?? null;
      if (shipped && (last === null || now - last >= keepMs / MARKS || now < last)) {
        sql.addMark.run(streamNo, now, shipped.epoch, shipped.seq);
      }
      const due = sql.findDue.get(streamNo, now - keepMs);
      const kept = sql.findKeptEnd.get(streamNo);
      if (!due || !kept) return 0;
      const end = isBefore(due, kept) ? due : kept;
      const removed = sql.deleteUpTo.run(streamNo, end.epoch, end.seq, limit).changes;
      if (removed < limit) sql.dropMarksBefore.run(streamNo, due.at);
      return removed;
    },

    /** Bytes of the file that hold nothing and are written again before it grows. */
    freeBytes: (): number => {
      const pages = db.pragma('freelist_count', { simple: true }) as number;
      return pages * (db.pragma('page_size', { simple: true }) as number);
    },
  };
}

function isBefore(a: Place, b: Place): boolean {
  return a.epoch < b.epoch || (a.epoch === b.epoch && a.seq < b.seq);
}
