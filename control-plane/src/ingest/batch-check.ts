/**
 * Checks a batch without the database: its writer signed it, the records match the signature, and
 * they form one chain. Nothing unchecked reaches a transaction. A record whose link is valid but
 * whose content cannot be read, or that no data plane may write, is marked for quarantine. Proven
 * by ingest-service.pg.test.ts and quarantine.pg.test.ts.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import type { KeyObject } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@governance/shared/errors';
import { MAX_SHOWN_BYTES } from '@governance/shared/evidence/large-record';
import { zodFault } from '@governance/shared/http/zod-fault';
import { StrictJsonError } from '@governance/shared/json/strict-json';
import {
  BatchHeader,
  isBatchSignedBy,
  type SignedBatch,
} from '@governance/shared/ledger/audit-batch';
import { findForbidden } from '@governance/shared/ledger/data-plane-records';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import {
  type LedgerRecord,
  MAX_RECORD_BYTES,
  parseRecord,
  UnknownRecordVersion,
} from '@governance/shared/ledger/ledger-record';
import { merkleRoot } from '@governance/shared/ledger/merkle';
import { z } from 'zod';
import { type LedgerColumns, ledgerColumns, quarantinedColumns } from '../chain/ledger-columns.ts';
import { type RecordEnvelope, readEnvelope } from '../chain/record-envelope.ts';
import type { NewLedgerRow } from './ledger-copy.ts';
import { readUsualRecord } from './record-pattern.ts';

/** A second bound: data planes ship at most 500, and the route accepts no more (BATCH_LIMITS). */
export const MAX_BATCH_RECORDS = 5_000;
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;

/**
 * About 1 ms of work between two turns of the event loop, a few for large records: the same thread
 * serves all other requests, in standalone mode also agents' calls.
 */
const RECORDS_A_TURN = 128;
const BYTES_A_TURN = 64 * 1024;

/** A record's row in the ledger, with what else ingest needs to know about it. */
export interface CheckedRecord extends NewLedgerRow {
  /** For projections; undefined where none reads its type, and in quarantine. */
  record: LedgerRecord | undefined;
  /** The end of the previous epoch, as an epoch_start names it; undefined for any other record. */
  previous: RecordEnvelope['previous'];
  /** Whether it names an agent that the tenant never had. */
  isAgentUnknown: boolean;
  /** Why it is kept in quarantine; null for a good record. */
  fault: RecordFault | null;
  /** What verifiers read of it in quarantine; undefined where they cannot. */
  shown?: ShownRecord | undefined;
}

export interface ShownRecord {
  timestamp: string;
  /** Kept of the types that may be disputed. */
  record: Extract<LedgerRecord, { type: 'decision' | 'hold_opened' | 'result_held' }> | undefined;
}

export interface RecordFault {
  kind: 'unreadable' | 'forbidden';
  /** Phrased to follow "the record". */
  reason: string;
}

export interface CheckedBatch {
  header: BatchHeader;
  signature: string;
  records: CheckedRecord[];
  /** Earlier records were missing when it was to be disputed (record-disputes.ts). */
  isUnjudged?: boolean | undefined;
}

let checking: Promise<unknown> = Promise.resolve();

/**
 * Checks a batch against its writer. Batches are checked one at a time, in the order of the calls:
 * one can then be stored while the next is checked.
 *
 * @param writer the tenant and stream of the caller's credentials, and the Ed25519 key
 * registered for it
 * @param projected the types of record that projections read
 * @throws AppError VALIDATION_FAILED naming the first seq that is wrong
 */
export function checkBatch(
  writer: Writer,
  batch: SignedBatch,
  projected: ReadonlySet<string>,
): Promise<CheckedBatch> {
  const checked = checking.then(() => check(writer, batch, projected));
  checking = checked.then(
    () => undefined,
    () => undefined,
  );
  return checked;
}

interface Writer {
  tenantId: string;
  stream: string;
  key: KeyObject;
}

async function check(
  writer: Writer,
  batch: SignedBatch,
  projected: ReadonlySet<string>,
): Promise<CheckedBatch> {
  const parsed = BatchHeader.safeParse(batch.header);
  if (!parsed.success) throw refuse(`The batch's header: ${zodFault(parsed.error)}`);
  const header = parsed.data;
  if (header.tenant_id !== writer.tenantId) throw refuse('The batch names another tenant.');
  if (header.stream !== writer.stream) throw refuse('The batch names another stream.');
  const count = header.last_seq - header.first_seq + 1;
  if (count < 1 || count !== batch.records.length) {
    throw refuse("The number of records differs from the header's.");
  }
  const bytes = batch.records.reduce((sum, record) => sum + record.byteLength, 0);
  if (count > MAX_BATCH_RECORDS || bytes > MAX_BATCH_BYTES) {
    throw new AppError(
      'BODY_TOO_LARGE',
      `A batch holds at most ${MAX_BATCH_RECORDS} records and ${MAX_BATCH_BYTES} bytes.`,
    );
  }
  if (!isBatchSignedBy(writer.key, header, batch.signature)) {
    throw refuse('The signature does not verify under the key registered for this stream.');
  }

  const records: CheckedRecord[] = [];
  let head = header.prev_head;
  let turn = { records: 0, bytes: 0 };
  for (const [index, recordBytes] of batch.records.entries()) {
    const record = checkRecord(header, header.first_seq + index, head, recordBytes, projected);
    head = record.hash;
    records.push(record);
    turn.records += 1;
    turn.bytes += recordBytes.byteLength;
    if (turn.records < RECORDS_A_TURN && turn.bytes < BYTES_A_TURN) continue;
    turn = { records: 0, bytes: 0 };
    await nextTurn();
  }
  if (head !== header.head) throw refuse('The records do not end in the signed head.');
  if (merkleRoot(records.map((record) => record.hash)) !== header.event_root) {
    throw refuse('The records do not have the signed root.');
  }
  return { header, signature: batch.signature, records };
}

/** A checked record as it is kept in quarantine, since PostgreSQL refuses it. */
export function quarantined(record: CheckedRecord, reason: string): CheckedRecord {
  return { ...record, ...unread(record.hash, 'unreadable', reason) };
}

/**
 * The batch is refused if a record contradicts its place in the signed header. A record whose other
 * content cannot be read is kept in quarantine.
 */
function checkRecord(
  header: BatchHeader,
  seq: number,
  prevHash: string,
  bytes: Uint8Array,
  projected: ReadonlySet<string>,
): CheckedRecord {
  const { stream, epoch } = header;
  const hash = recordHash(bytes);
  const row = { stream, epoch, seq, hash, prevHash, bytes, isAgentUnknown: false };
  const text = textOf(bytes);
  const usual = text && readUsualRecord(text);
  if (usual) {
    const { place, columns } = usual;
    checkPlace(header, seq, prevHash, place);
    const record = projected.has(place.type) ? (JSON.parse(text) as LedgerRecord) : undefined;
    return { ...row, columns, record, previous: undefined, fault: null };
  }
  const read = readContent(bytes);
  if ('record' in read) {
    const { columns } = read;
    checkPlace(header, seq, prevHash, read.record);
    const previous = read.record.type === 'epoch_start' ? read.record.previous : undefined;
    const forbidden = findForbidden(read.record);
    const record = projected.has(read.record.type) ? read.record : undefined;
    if (forbidden === undefined) return { ...row, columns, record, previous, fault: null };
    const shown = toShown(read.record);
    return { ...row, ...unread(hash, 'forbidden', forbidden), previous, shown };
  }
  // Unreadable bytes take the place that the signed header gives them. The first record of an epoch
  // must be readable: without its `previous` a new epoch cannot be told from a fork.
  if (bytes.byteLength > MAX_SHOWN_BYTES)
    throw refuseRecord(seq, 'is larger than evidence can show');
  const isReadable = bytes.byteLength <= MAX_RECORD_BYTES;
  const envelope = isReadable ? readEnvelope(bytes) : undefined;
  if (envelope) checkPlace(header, seq, prevHash, envelope);
  const previous = envelope?.previous;
  if (seq === 1 && previous === undefined) throw refuseRecord(seq, `${read.fault}`);
  const shown = read.shown && toShown(read.shown);
  return { ...row, ...unread(hash, 'unreadable', read.fault), previous, shown };
}

function toShown(record: LedgerRecord): ShownRecord {
  const { timestamp, type } = record;
  const isDisputable = type === 'decision' || type === 'hold_opened' || type === 'result_held';
  return { timestamp, record: isDisputable ? record : undefined };
}

/** The row of a record that is kept in quarantine. */
function unread(hash: string, kind: RecordFault['kind'], reason: string) {
  return { columns: quarantinedColumns(hash), record: undefined, fault: { kind, reason } };
}

/** Undefined for bytes that cannot be a record. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.byteLength > MAX_RECORD_BYTES) return undefined;
  const { buffer: memory, byteOffset, byteLength } = bytes;
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(memory, byteOffset, byteLength);
  // Gives the same text as decoding UTF-8, in half the time.
  if (isAscii(buffer)) return buffer.toString('latin1');
  return isUtf8(buffer) ? buffer.toString('utf8') : undefined;
}

function checkPlace(
  header: BatchHeader,
  seq: number,
  prevHash: string,
  place: Pick<RecordEnvelope, 'tenant_id' | 'stream' | 'epoch' | 'seq' | 'prev_hash' | 'type'>,
): void {
  if (place.tenant_id !== header.tenant_id) throw refuseRecord(seq, 'names another tenant');
  if (place.stream !== header.stream) throw refuseRecord(seq, 'names another stream');
  if (place.epoch !== header.epoch) throw refuseRecord(seq, 'names another epoch');
  if (place.seq !== seq) throw refuseRecord(seq, `says it is ${place.seq}`);
  if (place.prev_hash !== prevHash) {
    throw refuseRecord(seq, 'does not follow the record before it');
  }
  const isStart = place.type === 'epoch_start';
  if (seq === 1 && !isStart) throw refuseRecord(seq, 'begins an epoch but is no epoch_start');
  if (seq > 1 && isStart) throw refuseRecord(seq, 'is an epoch_start but does not begin an epoch');
}

type Content =
  | { record: LedgerRecord; columns: LedgerColumns }
  /** `shown`: verifiers read it all the same. */
  | { fault: string; shown?: LedgerRecord };

/** Reads a record as ingest does: its table columns, or why it must go to quarantine. */
export function readContent(bytes: Uint8Array): Content {
  if (bytes.byteLength > MAX_RECORD_BYTES) return { fault: 'is too large' };
  try {
    const record = parseRecord(bytes);
    // PostgreSQL knows no year 0.
    if (record.timestamp < '1970') return { fault: 'has a time before 1970', shown: record };
    const columns = ledgerColumns(record);
    if (hasCapitalId(record, columns)) {
      return { fault: 'has an id in capital letters', shown: record };
    }
    return { record, columns };
  } catch (error) {
    if (error instanceof UnknownRecordVersion) return { fault: error.message };
    // The text of a ZodError quotes the record, so only its name and first path are used.
    const path = error instanceof z.ZodError ? ` at ${error.issues[0]?.path.join('.')}` : '';
    const name = error instanceof Error ? error.name : 'Error';
    if (error instanceof StrictJsonError)
      return { fault: `is no valid record (${name}: ${error.reason})` };
    return { fault: `is no valid record (${name}${path})`.slice(0, 200) };
  }
}

/** PostgreSQL finds an id in either case, and verifiers compare its text: no data plane writes one. */
function hasCapitalId(record: LedgerRecord, { id, subjectId, agentId }: LedgerColumns): boolean {
  const sessionId = record.type === 'decision' ? record.workflow_session_id : null;
  return [id, subjectId, agentId, sessionId].some((one) => one !== (one?.toLowerCase() ?? null));
}

function refuseRecord(seq: number, what: string): AppError {
  return refuse(`The record with seq ${seq} ${what}.`, seq);
}

function refuse(detail: string, seq?: number): AppError {
  const loc = seq === undefined ? ['header'] : ['records', seq];
  return new AppError('VALIDATION_FAILED', detail, {
    errors: [{ loc, msg: detail, type: 'batch_refused' }],
  });
}
