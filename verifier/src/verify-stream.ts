/**
 * Verifies one stream of a ledger from its records alone: canonical form, schema, that all belong
 * to one tenant and writer, and that each follows the previous one. Streams, in bounded memory,
 * with nothing but the shared chain code. Proven by verify-stream.test.ts.
 */
import {
  type ChainBreakKind,
  type ChainPosition,
  recordHash,
  verifyLink,
} from '@governance/shared/ledger/hash-chain';
import { type LedgerRecord, parseRecord } from '@governance/shared/ledger/ledger-record';

import type { BatchWalk } from './verify-batches.ts';

export interface StreamRecord {
  /** The record's canonical JSON as UTF-8, verbatim. */
  bytes: Uint8Array;
  /** The stored hash, lower-case hexadecimal, if there is one. */
  hash?: string;
}

export interface StreamBreak {
  /**
   * The chain's name for it, or: `unreadable`, not a valid record of a known version; `binding`, of
   * another stream; `batch`, a batch that does not cover these records; `signature`, signed by none
   * of the keys.
   */
  kind: ChainBreakKind | 'unreadable' | 'binding' | 'batch' | 'signature';
  /** Counts the given records from 1. */
  index: number;
  epoch: number | null;
  seq: number | null;
  expected: string;
  actual: string;
}

export interface StreamReport {
  /** True when there was at least one record and no break. */
  verified: boolean;
  tenant_id: string | null;
  stream: string | null;
  records: number;
  epochs: number;
  /**
   * The position of the last record; null without records. A truncated tail is detectable only with
   * a later head.
   */
  last: ChainPosition | null;
  break_count: number;
  /** The first breaks, at most 100. */
  breaks: StreamBreak[];
}

/** What the records are compared with. */
export interface StreamExpectation {
  /** The position that the last record must have. */
  head?: ChainPosition | undefined;
  /** The position before the first record, for a stream whose beginning is not available. */
  start?: ChainPosition | undefined;
  /** The stream's signed batches, and the keys that may have signed them. */
  batches?: BatchWalk | undefined;
}

const MAX_REPORTED_BREAKS = 100;

/**
 * Verifies the records of one stream from its beginning, in order.
 *
 * @param records the records, as they were stored
 * @param expected what else is known about the stream; whatever is omitted is not checked
 * @returns what was found. Broken records are reported, never thrown
 */
export async function verifyStream(
  records: AsyncIterable<StreamRecord> | Iterable<StreamRecord>,
  expected: StreamExpectation = {},
): Promise<StreamReport> {
  const { head, start, batches } = expected;
  const report: StreamReport = {
    verified: false,
    tenant_id: null,
    stream: null,
    records: 0,
    epochs: 0,
    last: start ?? null,
    break_count: 0,
    breaks: [],
  };
  for await (const record of records) addRecord(report, record, batches);
  for (const found of batches?.end(report) ?? [])
    addBreak(report, found, found.expected, found.actual);
  if (head && !isAt(report.last, head)) {
    const actual = report.last ? place(report.last) : 'none';
    addBreak(report, { kind: 'head', epoch: head.epoch, seq: head.seq }, place(head), actual);
  }
  report.verified = report.records > 0 && report.break_count === 0;
  return report;
}

function addRecord(
  report: StreamReport,
  { bytes, hash }: StreamRecord,
  batches: BatchWalk | undefined,
): void {
  const before = report.last;
  report.records++;
  let record: LedgerRecord;
  try {
    record = parseRecord(bytes);
  } catch (error) {
    const actual = error instanceof Error ? error.name : 'unknown';
    addBreak(report, { kind: 'unreadable', epoch: null, seq: null }, 'a record', actual);
    // Its place is unknown; its own hash keeps the link to the next one checkable.
    if (report.last) {
      const { epoch, seq } = report.last;
      report.last = { epoch, seq: seq + 1, head: hash ?? recordHash(bytes) };
    }
    return;
  }
  const { epoch, seq, prev_hash } = record;
  report.tenant_id ??= record.tenant_id;
  report.stream ??= record.stream;
  if (record.tenant_id !== report.tenant_id || record.stream !== report.stream) {
    const expected = `${report.tenant_id}/${report.stream}`;
    const actual = `${record.tenant_id}/${record.stream}`;
    addBreak(report, { kind: 'binding', epoch, seq }, expected, actual);
    return;
  }
  const starts = record.type === 'epoch_start';
  if (starts) report.epochs++;
  const link = {
    epoch,
    seq,
    prev_hash,
    previous: record.type === 'epoch_start' ? record.previous : undefined,
    bytes,
  };
  const { after, broken } = verifyLink(report.last, link, hash);
  report.last = after;
  if (broken) addBreak(report, broken, broken.expected, broken.actual);
  else if (starts !== (seq === 1)) {
    addBreak(report, { kind: 'epoch', epoch, seq }, 'epoch_start as first record', record.type);
  }
  for (const found of batches?.add(after, before) ?? []) {
    addBreak(report, found, found.expected, found.actual);
  }
}

function addBreak(
  report: StreamReport,
  at: Pick<StreamBreak, 'kind' | 'epoch' | 'seq'>,
  expected: string,
  actual: string,
): void {
  report.break_count++;
  if (report.breaks.length >= MAX_REPORTED_BREAKS) return;
  const { kind, epoch, seq } = at;
  report.breaks.push({ kind, index: report.records, epoch, seq, expected, actual });
}

function isAt(last: ChainPosition | null, head: ChainPosition): boolean {
  return last !== null && place(last) === place(head);
}

function place({ epoch, seq, head }: ChainPosition): string {
  return `${epoch}/${seq}/${head}`;
}
