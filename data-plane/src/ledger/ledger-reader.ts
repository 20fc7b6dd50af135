/**
 * The operations that may take long, on a connection and thread of their own: the checks at a
 * start, batches, the check of shipped records, pruning and checkpoints. Reads stop at the given
 * position, since later records may not be on disk yet. `prune` and the second `checkpoint` run
 * only while the writer waits (ledger-committer.ts), so that the writer never meets a lock. Proven
 * by ledger-store.test.ts.
 */
import type { KeyObject } from 'node:crypto';
import { signBatch } from '@governance/shared/ledger/audit-batch';
import { type ChainPosition, recordHash } from '@governance/shared/ledger/hash-chain';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import type { Database } from 'better-sqlite3';
import { LedgerDamagedError, WHAT_TO_DO } from './ledger-error.ts';
import {
  type Checked,
  MAX_BATCH_BYTES,
  type PackedBatch,
  type ShippedPosition,
} from './ledger-messages.ts';
import { BEFORE_FIRST, createRetention, type PruneStep } from './ledger-retention.ts';
import {
  createRecordRows,
  isAfter,
  type Position,
  recordsIn,
  type StoredRecord,
} from './ledger-rows.ts';
import { TAIL } from './ledger-schema.ts';
import { verifyRows, verifyTail } from './ledger-tail.ts';
import { callMark, eventIdText } from './open-decisions.ts';

/** A stream as passed to the reader. */
export interface KnownStream {
  streamNo: number;
  tenantId: string;
  stream: string;
  shipped: ShippedPosition | null;
  /** The last record that is on disk. */
  end: ChainPosition;
}

/** What the check at a start found of a stream. */
export interface FoundStream {
  streamNo: number;
  end: ChainPosition | null;
  shipped: ShippedPosition | null;
  /** Allowed decisions without an outcome. */
  open: string[];
  /** Records that wait to be shipped. */
  backlog: number;
}

interface StreamRow {
  stream_no: number;
  shipped_epoch: number;
  shipped_seq: number;
  shipped_head: string;
  open_epoch: number;
  open_seq: number;
}

export type LedgerReader = ReturnType<typeof createLedgerReader>;

export function createLedgerReader(db: Database, signingKey: KeyObject) {
  const rows = createRecordRows(db);
  const retention = createRetention(db, rows);
  const findStream = db.prepare<[string, string], StreamRow>(
    'SELECT * FROM streams WHERE tenant_id = ? AND stream = ?',
  );
  const readOpen = db
    .prepare<[number], Buffer>('SELECT event_id FROM open_decisions WHERE stream_no = ?')
    .pluck();
  const prune = db.transaction((streamNo: number, shipped: Position | null, step: PruneStep) =>
    retention.prune(streamNo, shipped, step),
  );

  /**
   * Checks the records that a new epoch will continue.
   *
   * @returns null where there is no such stream
   * @throws LedgerDamagedError when its end, or a record that was not shipped, does not verify
   */
  function checkStream(tenantId: string, stream: string): FoundStream | null {
    try {
      return verifyStream(tenantId, stream);
    } catch (error) {
      if (!(error instanceof LedgerDamagedError)) throw error;
      throw new LedgerDamagedError(`${error.message}. ${WHAT_TO_DO}`);
    }
  }

  function verifyStream(tenantId: string, stream: string): FoundStream | null {
    const row = findStream.get(tenantId, stream);
    if (!row) return null;
    const { stream_no: streamNo, shipped_epoch: epoch, shipped_seq: seq } = row;
    const shipped = epoch === 0 ? null : { epoch, seq, head: row.shipped_head };
    const tail = rows.readTail(streamNo, TAIL).flatMap((stored) => [...recordsIn(stored)]);
    const end = verifyTail(tail, tenantId, stream);
    // Records that were not shipped exist nowhere else: an epoch must not continue a gap or an
    // edit.
    const after = shipped ?? BEFORE_FIRST;
    verifyRows(rows.readAfter(streamNo, after), after, tenantId, stream);
    const open = findOpen(streamNo, { epoch: row.open_epoch, seq: row.open_seq });
    return { streamNo, end, shipped, open, backlog: retention.backlog(streamNo, after) };
  }

  function findOpen(streamNo: number, after: Position): string[] {
    const open = new Set(readOpen.all(streamNo).map(eventIdText));
    // Damage in shipped records does not fail a start; ledger-checker.ts reports it.
    let record: StoredRecord | null = null;
    for (const next of rows.readAfter(streamNo, after, 'damaged rows')) {
      if (record) note(record, next, open);
      record = next;
    }
    if (record) note(record, null, open);
    return [...open].sort();
  }

  /**
   * The next records to ship: consecutive records of one epoch after the shipped position, signed.
   *
   * @returns null when there are none
   * @throws LedgerDamagedError when a stored record is not the one that was chained; nothing is
   *   signed then
   */
  function nextBatch(of: KnownStream, limit: number): PackedBatch | null {
    const after = of.shipped ?? BEFORE_FIRST;
    let before: ChainPosition = after;
    const records: Buffer[] = [];
    const hashes: string[] = [];
    let size = 0;
    for (const record of rows.readAfter(of.streamNo, after)) {
      if (isAfter(record, of.end)) break;
      // Also for the record after the batch: its prev_hash checks a last record in the middle of a
      // row.
      const position = verifyNext(record, before, of.stream);
      if (records.length === limit || size + record.bytes.length > MAX_BATCH_BYTES) break;
      if (records.length > 0 && record.epoch !== before.epoch) break;
      before = position;
      records.push(record.bytes);
      hashes.push(position.head);
      size += record.bytes.length;
    }
    if (records.length === 0) return null;
    const { epoch, seq, head } = before;
    const header = {
      tenant_id: of.tenantId,
      stream: of.stream,
      epoch,
      first_seq: seq - records.length + 1,
      last_seq: seq,
      prev_head: after.head,
      head,
    };
    const bytes = new Uint8Array(size);
    let offset = 0;
    for (const record of records) {
      bytes.set(record, offset);
      offset += record.length;
    }
    const lengths = records.map((record) => record.length);
    return { ...signBatch(signingKey, header, hashes), bytes, lengths };
  }

  /**
   * Checks some of the shipped records that are kept.
   *
   * @param after the last position that was checked, null to begin at the oldest record
   * @returns how far it came; `next` is null at the end
   * @throws LedgerDamagedError naming the first record that is not the one that was chained
   */
  function checkShipped(of: KnownStream, after: ChainPosition | null, limit: number): Checked {
    const { streamNo, tenantId, stream, shipped } = of;
    if (!shipped) return { records: 0, next: null };
    // If `after` was pruned meanwhile, the check begins at the oldest record again.
    const from = after && rows.find(streamNo, after) ? after : null;
    const found: StoredRecord[] = [];
    for (const record of rows.readAfter(streamNo, from ?? BEFORE_FIRST)) {
      if (isAfter(record, shipped) || found.length === limit) break;
      found.push(record);
    }
    const position = verifyRows(found, from, tenantId, stream);
    if (found.length === limit) return { records: limit, next: position };
    if (position && (isAfter(shipped, position) || position.head !== shipped.head)) {
      throw new LedgerDamagedError(
        `the records between ${position.epoch}/${position.seq} and ${shipped.epoch}/${shipped.seq} of stream ${stream} are missing`,
      );
    }
    return { records: found.length, next: null };
  }

  return {
    checkStream,
    nextBatch,
    checkShipped,
    findBefore: retention.findBefore,
    backlog: retention.backlog,
    freeBytes: retention.freeBytes,
    /** Removes some records that were shipped long ago. @returns how many */
    prune: (streamNo: number, shipped: Position | null, step: PruneStep): number =>
      prune.immediate(streamNo, shipped, step),
    /** Copies the log into the file. SQLite syncs the log before that, and the file after it. */
    checkpoint: (): void => {
      db.pragma('wal_checkpoint(PASSIVE)');
    },
    close: (): void => {
      db.close();
    },
  };
}

/** A record opens a call only if its hash verifies; a damaged outcome still closes its call. */
function note({ bytes, hash }: StoredRecord, next: StoredRecord | null, open: Set<string>): void {
  const head = recordHash(bytes);
  const isWhole = hash === null ? next?.bytes.includes(`"prev_hash":"${head}"`) : hash === head;
  if (!isWhole) {
    open.delete(/"event_id":"([^"]{36})"/.exec(bytes.toString())?.[1] ?? '');
    return;
  }
  const record = JSON.parse(bytes.toString()) as UnchainedRecord;
  const mark = callMark(record);
  if (mark && 'opens' in mark) open.add(mark.opens);
  else if (mark) open.delete(mark.closes);
}

/** Cheaper than parsing: a record that names the hash of the preceding record confirms it. */
function verifyNext(record: StoredRecord, before: ChainPosition, stream: string): ChainPosition {
  const { epoch, seq, bytes } = record;
  const follows =
    epoch === before.epoch ? seq === before.seq + 1 : epoch === before.epoch + 1 && seq === 1;
  const head = recordHash(bytes);
  const isLinked = bytes.includes(`"prev_hash":"${before.head}"`);
  if (!follows || !isLinked || (record.hash ?? head) !== head) {
    throw new LedgerDamagedError(
      `the record after ${before.epoch}/${before.seq} of stream ${stream} is not what was chained`,
    );
  }
  return { epoch, seq, head };
}
