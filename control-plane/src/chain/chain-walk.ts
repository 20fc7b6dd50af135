/**
 * Verifies rows of one stream from their stored bytes, and compares the columns with the bytes.
 * `received_at` is in no record, so no chain can prove it. Proven by chain-verification.pg.test.ts
 * (any one-byte edit of the table is found).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CheckName } from '@governance/shared/evidence/checks/check';
import { type RecordRead, readRecord } from '@governance/shared/evidence/checks/read-record';
import { findForbidden } from '@governance/shared/ledger/data-plane-records';
import {
  type ChainBreak,
  type ChainBreakKind,
  type ChainPosition,
  verifyLink,
} from '@governance/shared/ledger/hash-chain';
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { isTimeImpossible } from '../platform/database/record-time.ts';
import {
  type LedgerColumns,
  ledgerColumns,
  QUARANTINED,
  quarantinedColumns,
} from './ledger-columns.ts';
import { type LedgerRow, readAsEarlier } from './ledger-row.ts';
import { readEnvelope } from './record-envelope.ts';
import type { StreamMark } from './stream-mark.ts';
import { textOfTime } from './text-of-time.ts';

export interface StoredRow extends LedgerRow {
  subjectId: string | null;
  /** Whether ledger_quarantine also holds the record. */
  isQuarantined: boolean;
}

/** The kinds of break that one stream can have. */
export type StreamBreakKind =
  | ChainBreakKind
  /** The stored records are not signed by their writer. */
  | 'signature'
  /** The admin chain registered another writer, or none. */
  | 'registration'
  /** Acknowledged records are not stored. */
  | 'missing'
  | 'fork';

export interface FoundInStream extends Omit<ChainBreak, 'kind'> {
  kind: StreamBreakKind;
  /** Tells apart faults of one kind that can have the same place. */
  fault?: string;
  /** The named check of evidence; undefined: the default of the kind. */
  check?: CheckName | null;
  detail: string | null;
}

export interface RowWalk {
  tenantId: string;
  stream: string;
  /** Records up to this position in the order of receipt are counted. */
  upTo: number;
  /** Whether a quarantined record belongs in quarantine. */
  belongsInQuarantine(row: StoredRow): Promise<boolean>;
  /** Called with each intact record, in the order of the chain. */
  onRecord(record: LedgerRecord): void;
  onBreak(found: FoundInStream): void;
}

/** About 2 ms of work per step, so that verification does not block other requests. */
const ROWS_A_TURN = 64;
const BYTES_A_TURN = 256 * 1024;

/**
 * Verifies the rows after a mark, and moves the mark behind them.
 *
 * @param rows in order of (epoch, seq)
 * @returns the end of each epoch that is followed by another in these rows
 */
export async function walkRows(
  walk: RowWalk,
  mark: StreamMark,
  rows: readonly StoredRow[],
): Promise<ChainPosition[]> {
  const epochEnds: ChainPosition[] = [];
  let rowsOfTurn = 0;
  let bytesOfTurn = 0;
  for (const row of rows) {
    const { after, broken, record, isUnread } = checkRow(walk, mark, row);
    if (mark.end && mark.end.epoch !== after.epoch) epochEnds.push(mark.end);
    mark.end = after;
    mark.position = row.position;
    mark.records += 1;
    if (row.position <= walk.upTo) mark.counted += 1;
    if (row.type === QUARANTINED) mark.quarantined += 1;
    if (isUnread) mark.unread += 1;
    const found = broken ?? (record ? null : await checkHeld(walk, mark, row));
    if (found) walk.onBreak(found);
    else if (record) walk.onRecord(record);
    rowsOfTurn += 1;
    bytesOfTurn += row.bytes.byteLength;
    if (rowsOfTurn >= ROWS_A_TURN || bytesOfTurn >= BYTES_A_TURN) {
      await nextTurn();
      rowsOfTurn = 0;
      bytesOfTurn = 0;
    }
  }
  return epochEnds;
}

/**
 * Checks a row in quarantine. Only a data plane's record may be there. The service writes the admin
 * chain itself, and `belongsInQuarantine` accepts every record that data planes may not write, so
 * it would accept a hidden admin record.
 */
async function checkHeld(
  walk: RowWalk,
  { kind }: StreamMark,
  row: StoredRow,
): Promise<FoundInStream | null> {
  if (kind !== 'admin' && (await walk.belongsInQuarantine(row))) return null;
  return {
    kind: 'content',
    check: 'events.schema',
    epoch: row.epoch,
    seq: row.seq,
    expected: 'a record that cannot be read or stored',
    actual: 'a readable record',
    detail: 'the record is in quarantine although it can be read and stored',
  };
}

interface CheckedRow {
  after: ChainPosition;
  broken: FoundInStream | null;
  /** Undefined in quarantine, and where the row is broken. */
  record: LedgerRecord | undefined;
  /**
   * Whether earlier versions stored the record as readable although no verifier reads it: it is too
   * large, nests too deeply or has too long a key. This is not tampering; a package shows it as
   * unread.
   */
  isUnread: boolean;
}

function checkRow(
  { tenantId, stream }: RowWalk,
  { kind, end: before, position: positionBefore }: StreamMark,
  row: StoredRow,
): CheckedRow {
  const isHeld = row.type === QUARANTINED;
  const read = isHeld ? undefined : readRecord(row.bytes);
  const earlier = read?.faults.strict === undefined ? undefined : readAsEarlier(row.bytes);
  const record = read?.record ?? earlier;
  const isUnread = earlier !== undefined;
  const place = isHeld ? readEnvelope(row.bytes) : (record ?? read?.place);
  const previous = place && 'previous' in place ? (place.previous ?? null) : undefined;
  const { after, broken } = verifyLink(
    before,
    {
      epoch: row.epoch,
      seq: row.seq,
      prev_hash: place?.prev_hash ?? row.prevHash,
      ...(previous === undefined ? {} : { previous }),
      bytes: row.bytes,
    },
    row.hash,
  );
  const asBroken = (found: FoundInStream) => ({
    ...{ after, broken: found, record: undefined, isUnread },
  });
  const unread = read && !isUnread ? findUnread(read.faults) : undefined;
  if (broken) {
    const check = broken.kind === 'content' ? (unread?.check ?? 'chain.links') : undefined;
    return asBroken({ ...broken, ...(check && { check }), detail: null });
  }
  const wrong = isHeld
    ? findWrongHeld(row)
    : (unread ??
      (record &&
        (findWrongColumn(tenantId, stream, row, record) ??
          (kind === 'admin' ? undefined : findReleased(record)))));
  if (wrong) return asBroken(contentBreak(row, wrong));
  if (row.position <= positionBefore) {
    const expected = `more than ${positionBefore}`;
    const misplaced = { column: 'position', expected, actual: String(row.position) };
    return asBroken(contentBreak(row, misplaced));
  }
  return { after, broken: null, record, isUnread };
}

interface WrongColumn {
  column: string;
  check?: CheckName;
  expected: string;
  actual: string;
}

/** A record that no package could contain: not in canonical form, or of no known schema. */
function findUnread(faults: RecordRead['faults']): WrongColumn | undefined {
  const unreadable = faults.strict ?? faults.canonical;
  const actual = unreadable ?? faults.schema;
  if (actual === undefined) return undefined;
  const check = unreadable === undefined ? 'events.schema' : 'events.canonical';
  return { column: 'bytes', check, expected: 'a valid record', actual };
}

/** A row that claims to be in quarantine, but is not in ledger_quarantine, would hide an event. */
function findWrongHeld(row: StoredRow): WrongColumn | undefined {
  if (!row.isQuarantined) {
    const check = 'events.schema';
    return { column: 'type', check, expected: 'a record in quarantine', actual: 'none' };
  }
  const envelope = readEnvelope(row.bytes);
  return firstDifference([
    ['prev_hash', envelope?.prev_hash ?? row.prevHash, row.prevHash],
    ...columnPairs(quarantinedColumns(row.hash), row),
  ]);
}

/**
 * A forbidden record outside quarantine: it would be listed as an act of the actor that it names.
 */
function findReleased(record: LedgerRecord): WrongColumn | undefined {
  if (findForbidden(record) === undefined) return undefined;
  return { column: 'type', expected: QUARANTINED, actual: record.type };
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

/** A record received before its own timestamp is listed by its time of receipt. */
function asListed(columns: LedgerColumns, { eventTime, receivedAt }: StoredRow): LedgerColumns {
  const isByReceipt =
    isTimeImpossible(Date.parse(columns.eventTime), receivedAt.getTime()) &&
    eventTime.getTime() === receivedAt.getTime();
  return isByReceipt ? { ...columns, eventTime: receivedAt.toISOString() } : columns;
}

const CHECKS_OF_COLUMNS: Record<string, CheckName> = {
  tenant_id: 'tenant.binding',
  stream: 'proof.binding',
  epoch: 'proof.binding',
  seq: 'proof.binding',
  prev_hash: 'chain.links',
};

type ColumnPair = [column: string, expected: unknown, actual: unknown];

function columnPairs(columns: LedgerColumns, row: StoredRow): ColumnPair[] {
  return [
    ['type', columns.type, row.type],
    ['id', lower(columns.id), row.id],
    ['subject_id', lower(columns.subjectId), row.subjectId],
    ['agent_id', lower(columns.agentId), row.agentId],
    ['policy_result', columns.policyResult, row.policyResult],
    ['event_time', columns.eventTime, textOfTime(row.eventTime)],
  ];
}

function firstDifference(pairs: ColumnPair[]): WrongColumn | undefined {
  const wrong = pairs.find(([, expected, actual]) => expected !== actual);
  if (!wrong) return undefined;
  const [column, expected, actual] = wrong;
  const check = CHECKS_OF_COLUMNS[column];
  return { column, ...(check && { check }), expected: String(expected), actual: String(actual) };
}

/** PostgreSQL keeps a UUID as a number and writes it in lower case. */
function lower(id: string | null): string | null {
  return id === null ? null : id.toLowerCase();
}

function contentBreak(row: StoredRow, wrong: WrongColumn): FoundInStream {
  const { column, check = null, expected, actual } = wrong;
  return {
    kind: 'content',
    check,
    epoch: row.epoch,
    seq: row.seq,
    expected,
    actual,
    detail: `the column ${column} differs from the record`,
  };
}
