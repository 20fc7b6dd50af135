/**
 * The ledger's file: hash chains of records, one a stream, in SQLite. Runs in the ledger's worker
 * thread, which alone holds the file. Invariants, proven by ledger-store.test.ts and, under
 * kill -9, by ledger-crash.test.ts:
 * - what was acknowledged is stored; each (stream, epoch, seq) exists once and links to the one
 *   before it, across epochs;
 * - a record that cannot be chained is refused alone; the rest of its group commits;
 * - the heads in memory move only after the commit that moved them on disk.
 */
import type { KeyObject } from 'node:crypto';
import { signBatch } from '@governance/shared/audit-batch';
import { BATCH_LIMITS } from '@governance/shared/channel-routes';
import { type ChainPosition, GENESIS_HASH, recordHash } from '@governance/shared/hash-chain';
import { isUuid } from '@governance/shared/ids';
import {
  type ChainHead,
  chainText,
  MAX_RECORD_BYTES,
  UnchainedRecord,
} from '@governance/shared/ledger-record';
import { LedgerDamagedError } from './ledger-error.ts';
import { openLedgerFile } from './ledger-file.ts';
import type {
  Checked,
  OpenedStream,
  PackedBatch,
  Rewound,
  ShippedPosition,
} from './ledger-messages.ts';
import { epochStart, outcomeUnknown } from './ledger-opening.ts';
import { BEFORE_FIRST, createRetention } from './ledger-retention.ts';
import type { StoredRecord } from './ledger-schema.ts';
import { verifyRows, verifyTail } from './ledger-tail.ts';

/** The marks are made durable no more often than this; each commit writes them. */
const SYNC_MARKS_MS = 1_000;

const MAX_BATCH_BYTES = BATCH_LIMITS.bytes / 2;

export interface LedgerEntry {
  streamNo: number;
  record: unknown;
  /** The event whose hashes it salts, and the salt. */
  salt: { eventId: string; salt: Uint8Array } | null;
}

export type EntryResult = { ok: true; seq: number; hash: string } | { ok: false; reason: string };

export type GroupItem = LedgerEntry | { streamNo: number; shipped: ShippedPosition };

/** Where a stream stands. */
interface Standing {
  head: ChainHead;
  shipped: ShippedPosition | null;
}

interface Stream extends Standing {
  tenantId: string;
  stream: string;
  opened: OpenedStream;
}

export type LedgerStore = ReturnType<typeof createLedgerStore>;

/**
 * Opens the ledger's file, creating it when it is new.
 *
 * @param options.path the SQLite file; held exclusively until `close`
 * @param options.signingKey the writer's Ed25519 private key, for batches
 * @param options.limitBytes what the file may grow to; beyond it a commit fails with SQLITE_FULL
 * @throws LedgerDamagedError when records that were acknowledged are not there any more; nothing
 *   was changed then
 * @throws when the file is damaged, in use by another process, or cannot be made durable
 */
export function createLedgerStore(options: {
  path: string;
  signingKey: KeyObject;
  limitBytes: number | null;
}) {
  const { db, sql, marks } = openLedgerFile(options);
  const retention = createRetention(db);
  const streams = new Map<number, Stream>();
  let lastCommitMs = 0;
  let marksSyncedAt = Number.NEGATIVE_INFINITY;

  function inTransaction<T>(work: () => T): T {
    sql.begin.run();
    try {
      const result = work();
      const started = performance.now();
      sql.commit.run();
      lastCommitMs = performance.now() - started;
      return result;
    } catch (error) {
      if (db.inTransaction) sql.rollback.run();
      throw error;
    }
  }

  function streamOf(streamNo: number): Stream {
    const stream = streams.get(streamNo);
    if (!stream) throw new Error(`stream ${streamNo} is not open`);
    return stream;
  }

  function append(head: ChainHead, streamNo: number, entry: Omit<LedgerEntry, 'streamNo'>) {
    const checked = UnchainedRecord.safeParse(entry.record);
    if (!checked.success) return refused(describe(checked.error));
    const record = checked.data;
    const fault = foreignFault(record, head);
    if (fault) return refused(fault);
    let chained: ReturnType<typeof chainText>;
    try {
      chained = chainText(head, record);
    } catch (error) {
      return refused(error instanceof Error ? error.message : 'no canonical form');
    }
    const { text, hash, seq } = chained;
    if (Buffer.byteLength(text) > MAX_RECORD_BYTES)
      return refused(`larger than ${MAX_RECORD_BYTES} bytes`);
    if (entry.salt) {
      if (!isUuid(entry.salt.eventId)) return refused('the salt names no event');
      const inserted = sql.insertSalt.run(uuidBytes(entry.salt.eventId), entry.salt.salt);
      if (inserted.changes === 0) return refused('the event has a salt already');
    }
    sql.insertRecord.run(streamNo, head.epoch, seq, record.type, Buffer.from(hash, 'hex'), text);
    if (record.type === 'decision' && record.policy_result === 'allow') {
      sql.insertOpen.run(uuidBytes(record.id), streamNo);
    } else if (record.type === 'outcome') {
      sql.deleteOpen.run(uuidBytes(record.event_id));
    }
    return { ok: true as const, seq, hash, head: { ...head, seq, head: hash } };
  }

  function openStream(request: {
    tenantId: string;
    stream: string;
    writerVersion: string;
    timestamp: string;
  }): OpenedStream {
    const { tenantId, stream, timestamp } = request;
    for (const open of streams.values()) {
      if (open.tenantId === tenantId && open.stream === stream) return open.opened;
    }
    const row = sql.findStream.get(tenantId, stream);
    const shipped = row ? shippedPosition(row) : null;
    const before = row ? verifyTail(sql.readTail.all(row.stream_no), tenantId, stream) : null;
    if (row) verifyUnshipped(row.stream_no, shipped ?? BEFORE_FIRST, tenantId, stream);

    let head: ChainHead = {
      tenant_id: tenantId,
      stream,
      epoch: (before?.epoch ?? 0) + 1,
      seq: 0,
      head: before?.head ?? GENESIS_HASH,
    };
    const opened = inTransaction(() => {
      const streamNo =
        row?.stream_no ?? Number(sql.insertStream.run(tenantId, stream).lastInsertRowid);
      const write = (record: UnchainedRecord) => {
        const result = append(head, streamNo, { record, salt: null });
        // Made of stored values, it can only be wrong where those are.
        if (!result.ok) throw new LedgerDamagedError(`an open decision: ${result.reason}`);
        head = result.head;
      };
      write(epochStart(before, request));
      const open = sql.readOpen.all(streamNo).map((decision) => uuidText(decision.event_id));
      for (const eventId of open) write(outcomeUnknown(eventId, timestamp));
      const backlog = retention.backlog(streamNo, shipped ?? BEFORE_FIRST);
      return { streamNo, epoch: head.epoch, outcomesUnknown: open.length, backlog };
    });
    streams.set(opened.streamNo, { tenantId, stream, head, shipped, opened });
    mark(opened.streamNo, { head, shipped });
    marks.sync();
    return opened;
  }

  /** Nobody else has these records: a gap or an edit among them must not be built upon. */
  function verifyUnshipped(
    streamNo: number,
    shipped: ShippedPosition,
    tenantId: string,
    stream: string,
  ): void {
    const rows = sql.readAfter.iterate(streamNo, shipped.epoch, shipped.seq, -1);
    verifyRows(rows, shipped, tenantId, stream);
  }

  function mark(streamNo: number, { head, shipped }: Standing): void {
    const { tenant_id, stream, epoch, seq } = head;
    const end = { epoch, seq, head: head.head };
    marks.write({ stream_no: streamNo, tenant_id, stream, end, shipped });
  }

  /** Commits a group as one; the results are those of its records, in order. */
  function commitGroup(items: readonly GroupItem[]): EntryResult[] {
    const changed = new Map<number, Standing>();
    const results = inTransaction(() => items.flatMap((item) => apply(item, changed)));
    for (const [streamNo, standing] of changed) {
      Object.assign(streamOf(streamNo), standing);
      mark(streamNo, standing);
    }
    const isShipped = items.some((item) => 'shipped' in item);
    if (isShipped && performance.now() - marksSyncedAt > SYNC_MARKS_MS) {
      marks.sync();
      marksSyncedAt = performance.now();
    }
    return results;
  }

  function apply(item: GroupItem, changed: Map<number, Standing>): EntryResult[] {
    const { streamNo } = item;
    const standing = changed.get(streamNo) ?? streamOf(streamNo);
    const { head, shipped } = standing;
    if ('shipped' in item) {
      const { epoch, seq, head: hash } = item.shipped;
      if (shipped && compare(item.shipped, shipped) <= 0) return [];
      sql.markShipped.run(epoch, seq, hash, streamNo);
      changed.set(streamNo, { head, shipped: item.shipped });
      return [];
    }
    const result = append(head, streamNo, item);
    if (result.ok) changed.set(streamNo, { head: result.head, shipped });
    return [result];
  }

  /**
   * Goes back to ship again from `next`, which a control plane that was restored is lacking.
   *
   * @returns the records that then wait; `gone` where what it lacks was pruned, `ahead` where it
   *   asks for what was not shipped yet: both are for a person to look at
   */
  function rewindShipped(streamNo: number, next: { epoch: number; seq: number }): Rewound {
    const stream = streamOf(streamNo);
    const position = retention.findBefore(streamNo, next);
    if (!position) return { state: 'gone' };
    if (!stream.shipped || compare(position, stream.shipped) >= 0) return { state: 'ahead' };
    const shipped = position.epoch === 0 ? null : position;
    // The mark first: it is never ahead of the ledger.
    mark(streamNo, { head: stream.head, shipped });
    marks.sync();
    inTransaction(() => {
      const { epoch, seq, head } = position;
      sql.markShipped.run(epoch, seq, epoch === 0 ? '' : head, streamNo);
      retention.forgetAfter(streamNo, position);
    });
    stream.shipped = shipped;
    return { state: 'rewound', backlog: retention.backlog(streamNo, position) };
  }

  /** Removes some of what was shipped long ago. @returns how many records */
  function prune(streamNo: number, step: { now: number; keepMs: number; limit: number }): number {
    const { shipped } = streamOf(streamNo);
    return inTransaction(() => retention.prune(streamNo, shipped, step));
  }

  /**
   * The next records to ship: consecutive ones of one epoch behind the shipped position, signed.
   *
   * @returns null when there are none
   * @throws LedgerDamagedError when what is stored is not what was chained; nothing is signed then
   */
  function nextBatch(streamNo: number, limit: number): PackedBatch | null {
    const stream = streamOf(streamNo);
    const after = stream.shipped ?? BEFORE_FIRST;
    const rows: StoredRecord[] = [];
    let size = 0;
    for (const row of sql.readAfter.iterate(streamNo, after.epoch, after.seq, limit)) {
      const first = rows[0];
      if (first && (row.epoch !== first.epoch || size + row.bytes.length > MAX_BATCH_BYTES)) break;
      verifyRow(row, rows.at(-1) ?? after, stream);
      rows.push(row);
      size += row.bytes.length;
    }
    const first = rows[0];
    const last = rows.at(-1);
    if (!first || !last) return null;
    const hashes = rows.map((row) => row.hash.toString('hex'));
    const header = {
      tenant_id: stream.tenantId,
      stream: stream.stream,
      epoch: first.epoch,
      first_seq: first.seq,
      last_seq: last.seq,
      prev_head: after.head,
      head: last.hash.toString('hex'),
    };
    const bytes = new Uint8Array(size);
    let offset = 0;
    for (const row of rows) {
      bytes.set(row.bytes, offset);
      offset += row.bytes.length;
    }
    const lengths = rows.map((row) => row.bytes.length);
    return { ...signBatch(options.signingKey, header, hashes), bytes, lengths };
  }

  /**
   * Checks some of what was shipped and is kept.
   *
   * @param after the last position that was checked, null to begin at the oldest record
   * @returns how far it came; `next` is null at the end
   * @throws LedgerDamagedError naming the first record that is not what was chained
   */
  function checkShipped(streamNo: number, after: ChainPosition | null, limit: number): Checked {
    const { shipped, tenantId, stream } = streamOf(streamNo);
    if (!shipped) return { records: 0, next: null };
    // What it stood on may have been pruned since: then the oldest record is the first again.
    const isKept = after && sql.findHash.get(streamNo, after.epoch, after.seq) !== undefined;
    const from = isKept ? after : null;
    const { epoch, seq } = from ?? BEFORE_FIRST;
    const rows = sql.readUpTo.all(streamNo, epoch, seq, shipped.epoch, shipped.seq, limit);
    const position = verifyRows(rows, from, tenantId, stream);
    if (rows.length === limit) return { records: rows.length, next: position };
    if (position && (compare(position, shipped) !== 0 || position.head !== shipped.head)) {
      throw new LedgerDamagedError(
        `the records between ${position.epoch}/${position.seq} and ${shipped.epoch}/${shipped.seq} of stream ${stream} are missing`,
      );
    }
    return { records: rows.length, next: null };
  }

  return {
    openStream,
    commitGroup,
    checkShipped,
    nextBatch,
    rewindShipped,
    prune,
    freeBytes: retention.freeBytes,
    /** What the last COMMIT alone took, in milliseconds: writing, and fdatasync. */
    lastCommitMs: () => lastCommitMs,
    close: () => {
      db.close();
      marks.close();
    },
  };
}

/** What the control plane would not take from a data plane would hold up the stream for ever. */
function foreignFault(record: UnchainedRecord, head: ChainHead): string | null {
  if ((record.type === 'epoch_start') !== (head.seq === 0))
    return 'only the ledger starts an epoch';
  if (record.type === 'admin_action' && record.actor.role !== 'data_plane') {
    return 'no administrator acts on a data plane';
  }
  return record.timestamp < '1970' ? 'its time is before 1970' : null;
}

function verifyRow(
  row: StoredRecord,
  before: { epoch: number; seq: number },
  stream: Stream,
): void {
  const follows =
    row.epoch === before.epoch
      ? row.seq === before.seq + 1
      : row.epoch === before.epoch + 1 && row.seq === 1;
  if (!follows || recordHash(row.bytes) !== row.hash.toString('hex')) {
    throw new LedgerDamagedError(
      `the record after ${before.epoch}/${before.seq} of stream ${stream.stream} is not what was chained`,
    );
  }
}

function shippedPosition(row: {
  shipped_epoch: number;
  shipped_seq: number;
  shipped_head: string;
}): ShippedPosition | null {
  if (row.shipped_epoch === 0) return null;
  return { epoch: row.shipped_epoch, seq: row.shipped_seq, head: row.shipped_head };
}

function compare(a: ShippedPosition, b: ShippedPosition): number {
  return a.epoch - b.epoch || a.seq - b.seq;
}

function refused(reason: string) {
  return { ok: false as const, reason };
}

function describe(error: { issues: { path: PropertyKey[]; message: string }[] }): string {
  const [issue] = error.issues;
  return issue ? `${issue.path.map(String).join('.')}: ${issue.message}` : 'no valid record';
}

function uuidBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
