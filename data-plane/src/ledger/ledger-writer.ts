/**
 * The only writer of the hash chains, one for each stream. It commits and does not sync: after each
 * commit its caller syncs the log, calls `confirm`, and only then acknowledges. Invariants, proven
 * by ledger-store.test.ts and, under kill -9, by ledger-crash.test.ts:
 * - each (stream, epoch, seq) exists once and links to the one before it, across epochs;
 * - the heads in memory move only after the commit that moved them in the file;
 * - at most one commit is not on disk, and only records on disk are read for shipping.
 */
import { type ChainPosition, GENESIS_HASH } from '@governance/shared/ledger/hash-chain';
import type { AppendedRecord, HoldChange } from '../contracts.ts';
import type { LedgerFile } from './ledger-file.ts';
import type { OpenedStream, ShippedPosition } from './ledger-messages.ts';
import { type OpenRequest, writeOpening } from './ledger-opening.ts';
import type { FoundStream, KnownStream } from './ledger-reader.ts';
import { isAfter } from './ledger-rows.ts';
import { type CallMark, createOpenDecisions, type OpenDecisions } from './open-decisions.ts';
import { chainRecordText, type RecordText } from './record-text.ts';

export interface GroupRecord {
  id: string;
  streamNo: number;
  text: RecordText;
  mark: CallMark;
  /** A salt of the record's hashes, stored beside the chain. */
  salt: Uint8Array | null;
  /** Changes of held calls, committed with it. */
  holds?: readonly HoldChange[] | undefined;
}

export type GroupItem =
  | GroupRecord
  | { streamNo: number; shipped: ShippedPosition }
  | { holds: readonly HoldChange[] };

interface Stream {
  streamNo: number;
  tenantId: string;
  stream: string;
  /** The last record that was committed. */
  end: ChainPosition;
  /** The last record that the control plane acknowledged, as committed. */
  shipped: ShippedPosition | null;
  /** Both of these as far as they are on disk. */
  confirmed: { end: ChainPosition; shipped: ShippedPosition | null };
  open: OpenDecisions;
}

/** A group's effect on a stream. */
interface Change {
  stream: Stream;
  end: ChainPosition;
  shipped: ShippedPosition | null;
  lines: string[];
  marks: CallMark[];
  salts: (Uint8Array | null)[];
  committed?: () => void;
}

type Statements = LedgerFile['sql'];

export type LedgerWriter = ReturnType<typeof createLedgerWriter>;

export function createLedgerWriter({ db, sql, marks }: Omit<LedgerFile, 'close'>) {
  const streams = new Map<number, Stream>();
  let unconfirmed: Stream[] = [];

  function inTransaction<T>(work: () => T): T {
    sql.begin.run();
    try {
      const result = work();
      sql.commit.run();
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

  /**
   * Begins an epoch, whose first record names the end of the previous one, and records
   * `outcome_unknown` for the calls that the previous one left open.
   */
  function openStream(request: OpenRequest, found: FoundStream | null): OpenedStream {
    const { tenantId, stream: name } = request;
    const { epoch, records } = writeOpening(request, found);
    const change = inTransaction(() => {
      const streamNo =
        found?.streamNo ?? Number(sql.insertStream.run(tenantId, name).lastInsertRowid);
      const end = { epoch, seq: 0, head: found?.end?.head ?? GENESIS_HASH };
      const shipped = found?.shipped ?? null;
      const open = createOpenDecisions(sql, streamNo);
      const stream = { streamNo, tenantId, stream: name, end, shipped, open };
      const begun = beginChange({ ...stream, confirmed: { end, shipped } });
      for (const record of records) chain(begun, { ...record, streamNo, salt: null });
      writeLines(sql, begun);
      sql.moveOpen.run(epoch, begun.end.seq, streamNo);
      return begun;
    });
    streams.set(change.stream.streamNo, change.stream);
    settle([change]);
    const backlog = (found?.backlog ?? 0) + records.length;
    const { streamNo } = change.stream;
    return { streamNo, epoch, outcomesUnknown: records.length - 1, backlog };
  }

  /** Commits a group atomically. @returns one result for each of its records, in order */
  function commitGroup(items: readonly GroupItem[]): AppendedRecord[] {
    const changes = new Map<number, Change>();
    const chained = inTransaction(() => {
      const results: AppendedRecord[] = [];
      for (const item of items) {
        if ('holds' in item && item.holds) writeHolds(sql, item.holds);
        if (!('streamNo' in item)) continue;
        const change = changes.get(item.streamNo) ?? beginChange(streamOf(item.streamNo));
        changes.set(item.streamNo, change);
        if ('text' in item) results.push(chain(change, item));
        else if (change.shipped === null || isAfter(item.shipped, change.shipped)) {
          const { epoch, seq, head } = item.shipped;
          sql.markShipped.run(epoch, seq, head, item.streamNo);
          change.shipped = item.shipped;
        }
      }
      for (const change of changes.values()) writeLines(sql, change);
      return results;
    });
    settle([...changes.values()]);
    return chained;
  }

  function settle(changes: Change[]): void {
    for (const { stream, end, shipped, committed } of changes) {
      Object.assign(stream, { end, shipped });
      committed?.();
      unconfirmed.push(stream);
    }
  }

  /** To be called when everything committed is on disk. */
  function confirm(): void {
    for (const stream of unconfirmed) {
      const { streamNo, tenantId, stream: name, end, shipped } = stream;
      stream.confirmed = { end, shipped };
      marks.write({ stream_no: streamNo, tenant_id: tenantId, stream: name, end, shipped });
    }
    unconfirmed = [];
  }

  /** Whether a position lies before the shipped one. */
  function canRewind(streamNo: number, position: ShippedPosition): boolean {
    const { shipped } = streamOf(streamNo).confirmed;
    return shipped !== null && isAfter(shipped, position);
  }

  /** Moves the shipped position back, to ship again. The mark moves first: it is never ahead. */
  function rewind(streamNo: number, position: ShippedPosition): void {
    const stream = streamOf(streamNo);
    const { epoch, seq, head } = position;
    const shipped = epoch === 0 ? null : position;
    const { tenantId, stream: name, end } = stream;
    marks.write({ stream_no: streamNo, tenant_id: tenantId, stream: name, end, shipped });
    marks.sync();
    inTransaction(() => {
      sql.markShipped.run(epoch, seq, epoch === 0 ? '' : head, streamNo);
      sql.dropMarksAfter.run(streamNo, epoch, seq);
    });
    stream.shipped = shipped;
    unconfirmed.push(stream);
  }

  /** Writes open calls to their table, since pruned records no longer show them. */
  function spillOpen(streamNo: number): void {
    const stream = streamOf(streamNo);
    inTransaction(() => stream.open.spill(stream.end))();
  }

  return {
    openStream,
    spillOpen,
    commitGroup,
    confirm,
    canRewind,
    rewind,
    readHolds: (tenantId: string): string[] => sql.readHolds.all(tenantId),
    syncMarks: marks.sync,
    syncMarksSoon: marks.syncSoon,
    /** A stream as far as it is on disk. */
    known: (streamNo: number): KnownStream => {
      const { tenantId, stream, confirmed } = streamOf(streamNo);
      return { streamNo, tenantId, stream, ...confirmed };
    },
  };
}

function beginChange(stream: Stream): Change {
  const { end, shipped } = stream;
  return { stream, end, shipped, lines: [], marks: [], salts: [] };
}

function chain(change: Change, { id, text, mark, salt }: GroupRecord): AppendedRecord {
  const { epoch } = change.end;
  const { text: line, seq, head } = chainRecordText(text, change.end);
  change.end = { epoch, seq, head };
  change.lines.push(line);
  change.marks.push(mark);
  change.salts.push(salt);
  return { id, epoch, seq, hash: head };
}

function writeLines(sql: Statements, change: Change): void {
  const { stream, lines, end, marks: calls, salts } = change;
  if (lines.length === 0) return;
  const hash = Buffer.from(end.head, 'hex');
  const text = lines.join('\n');
  sql.insertRecords.run(
    stream.streamNo,
    end.epoch,
    end.seq,
    lines.length,
    hash,
    text,
    packSalts(salts),
  );
  change.committed = stream.open.write(calls, stream.end);
}

function writeHolds(sql: Statements, holds: readonly HoldChange[]): void {
  for (const { tenantId, id, value } of holds) {
    if (value === null) sql.deleteHold.run(tenantId, id);
    else sql.putHold.run(tenantId, id, value);
  }
}

/** For each record: one byte with the length of its salt, then the salt. */
function packSalts(salts: (Uint8Array | null)[]): Buffer | null {
  if (salts.every((salt) => salt === null)) return null;
  let length = salts.length;
  for (const salt of salts) length += salt?.length ?? 0;
  const packed = Buffer.alloc(length);
  let at = 0;
  for (const salt of salts) {
    packed[at++] = salt?.length ?? 0;
    if (salt === null) continue;
    packed.set(salt, at);
    at += salt.length;
  }
  return packed;
}
