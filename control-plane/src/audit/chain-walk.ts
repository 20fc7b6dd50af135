/**
 * Verifies one stream from its stored bytes, a page at a time. Nothing is taken from the columns
 * that the bytes also say: those are compared. What no record holds, and so no chain can prove, is
 * `received_at`. Proven by chain-verification.pg.test.ts (any one-byte edit of the table is found).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type ChainBreak,
  type ChainBreakKind,
  type ChainPosition,
  GENESIS_HASH,
  verifyLink,
} from '@governance/shared/hash-chain';
import type { LedgerRecord } from '@governance/shared/ledger-record';
import { type LedgerRow, readRecord } from './audit-event.ts';
import {
  isTimeImpossible,
  type LedgerColumns,
  ledgerColumns,
  QUARANTINED,
  quarantinedColumns,
} from './ledger-projection.ts';
import { readEnvelope } from './record-envelope.ts';

export interface StoredRow extends LedgerRow {
  subjectId: string | null;
  /** Whether the record lies in quarantine too, where what cannot be read is kept. */
  isQuarantined: boolean;
}

export interface StreamVerdict {
  records: number;
  /** Of these, those in quarantine: links of the chain, but no events. */
  quarantined: number;
  /** Where the last record leaves the chain; null for a stream without records. */
  end: ChainPosition | null;
  /** Where each epoch before the last one ended. */
  epochEnds: ChainPosition[];
  breaks: FoundInStream[];
  /** All that were found; `breaks` keeps the first MAX_KEPT. */
  breakCount: number;
}

export interface FoundInStream extends Omit<ChainBreak, 'kind'> {
  /** Beside those of a chain: `signature`, that its writer did not sign what is stored. */
  kind: ChainBreakKind | 'signature';
  detail: string | null;
}

const MAX_KEPT = 100;
/** About 2 ms of work, so that verification never holds up the process's other requests. */
const ROWS_A_TURN = 64;

/**
 * @param tenantId whose stream it is
 * @param pages the stream's rows in order of (epoch, seq), in pages that fit in memory
 */
export async function walkStream(
  tenantId: string,
  stream: string,
  pages: AsyncIterable<StoredRow[]>,
): Promise<StreamVerdict> {
  const verdict: StreamVerdict = {
    records: 0,
    quarantined: 0,
    end: null,
    epochEnds: [],
    breaks: [],
    breakCount: 0,
  };
  let position = 0;
  for await (const page of pages) {
    for (const row of page) {
      const { after, broken } = checkRow(tenantId, stream, verdict.end, position, row);
      if (verdict.end && verdict.end.epoch !== after.epoch) verdict.epochEnds.push(verdict.end);
      verdict.end = after;
      position = row.position;
      verdict.records += 1;
      if (row.type === QUARANTINED) verdict.quarantined += 1;
      if (broken) addBreak(verdict, broken);
      if (verdict.records % ROWS_A_TURN === 0) await nextTurn();
    }
  }
  return verdict;
}

export function addBreak(verdict: StreamVerdict, found: FoundInStream): void {
  verdict.breakCount += 1;
  if (verdict.breaks.length < MAX_KEPT) verdict.breaks.push(found);
}

function checkRow(
  tenantId: string,
  stream: string,
  before: ChainPosition | null,
  positionBefore: number,
  row: StoredRow,
): { after: ChainPosition; broken: FoundInStream | null } {
  const isHeld = row.type === QUARANTINED;
  const record = isHeld ? undefined : readRecord(row.bytes);
  const envelope = isHeld ? readEnvelope(row.bytes) : record;
  const { after, broken } = verifyLink(
    before,
    {
      epoch: row.epoch,
      seq: row.seq,
      prev_hash: envelope?.prev_hash ?? row.prevHash,
      ...(envelope?.type === 'epoch_start' ? { previous: envelope.previous ?? null } : {}),
      bytes: row.bytes,
    },
    row.hash,
  );
  if (broken) return { after, broken: { ...broken, detail: null } };
  const wrong = isHeld
    ? findWrongHeld(row)
    : record
      ? findWrongColumn(tenantId, stream, row, record)
      : { column: 'bytes', expected: 'a record of version 1', actual: 'something else' };
  if (wrong) return { after, broken: contentBreak(row, wrong) };
  if (row.position <= positionBefore) {
    const expected = `more than ${positionBefore}`;
    const misplaced = { column: 'position', expected, actual: String(row.position) };
    return { after, broken: contentBreak(row, misplaced) };
  }
  return { after, broken: null };
}

interface WrongColumn {
  column: string;
  expected: string;
  actual: string;
}

/** A row that only claims to be in quarantine would hide an event. */
function findWrongHeld(row: StoredRow): WrongColumn | undefined {
  if (!row.isQuarantined) {
    return { column: 'type', expected: 'a record in quarantine', actual: 'none' };
  }
  const envelope = readEnvelope(row.bytes);
  return firstDifference([
    ['prev_hash', envelope?.prev_hash ?? row.prevHash, row.prevHash],
    ...columnPairs(quarantinedColumns(row.hash), row),
  ]);
}

function findWrongColumn(
  tenantId: string,
  stream: string,
  row: StoredRow,
  record: LedgerRecord,
): WrongColumn | undefined {
  return firstDifference([
    ['tenant_id', lower(record.tenant_id), tenantId],
    ['stream', lower(record.stream), stream],
    ['epoch', record.epoch, row.epoch],
    ['seq', record.seq, row.seq],
    ['prev_hash', record.prev_hash, row.prevHash],
    ...columnPairs(asListed(ledgerColumns(record), row), row),
  ]);
}

/** A record that came before its own time is listed by its receipt. */
function asListed(columns: LedgerColumns, { eventTime, receivedAt }: StoredRow): LedgerColumns {
  const isByReceipt =
    isTimeImpossible(Date.parse(columns.eventTime), receivedAt.getTime()) &&
    eventTime.getTime() === receivedAt.getTime();
  return isByReceipt ? { ...columns, eventTime: receivedAt.toISOString() } : columns;
}

type ColumnPair = [column: string, expected: unknown, actual: unknown];

function columnPairs(columns: LedgerColumns, row: StoredRow): ColumnPair[] {
  return [
    ['type', columns.type, row.type],
    ['id', lower(columns.id), row.id],
    ['subject_id', lower(columns.subjectId), row.subjectId],
    ['agent_id', lower(columns.agentId), row.agentId],
    ['policy_result', columns.policyResult, row.policyResult],
    ['event_time', columns.eventTime, row.eventTime.toISOString()],
  ];
}

function firstDifference(pairs: ColumnPair[]): WrongColumn | undefined {
  const wrong = pairs.find(([, expected, actual]) => expected !== actual);
  if (!wrong) return undefined;
  const [column, expected, actual] = wrong;
  return { column, expected: String(expected), actual: String(actual) };
}

/** PostgreSQL keeps a UUID as a number and writes it in lower case. */
function lower(id: string | null): string | null {
  return id === null ? null : id.toLowerCase();
}

function contentBreak(row: StoredRow, { column, expected, actual }: WrongColumn): FoundInStream {
  return {
    kind: 'content',
    epoch: row.epoch,
    seq: row.seq,
    expected,
    actual,
    detail: `the column ${column} is not what the record says`,
  };
}

/** A chain position as breaks show it. */
export function showPosition(position: ChainPosition | null): string {
  return position ? `${position.epoch}/${position.seq}/${position.head}` : `0/0/${GENESIS_HASH}`;
}
