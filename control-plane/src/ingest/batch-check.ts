/**
 * What can be said of a batch without looking at the database: that its writer signed it, that the
 * records are what was signed, and that each is a link of one chain. Nothing unchecked reaches a
 * transaction. A record that is a good link and cannot be read otherwise, or that no data plane may
 * write, is marked for quarantine.
 * Proven by ingest-service.pg.test.ts and quarantine.pg.test.ts.
 */
import type { KeyObject } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatchHeader, isBatchSignedBy, type SignedBatch } from '@governance/shared/audit-batch';
import { findForbidden } from '@governance/shared/data-plane-records';
import { AppError } from '@governance/shared/errors';
import { recordHash } from '@governance/shared/hash-chain';
import { type LedgerRecord, MAX_RECORD_BYTES, parseRecord } from '@governance/shared/ledger-record';
import { merkleRoot } from '@governance/shared/merkle';
import { z } from 'zod';
import {
  type LedgerColumns,
  ledgerColumns,
  type ProjectedAlert,
  projectAlert,
  quarantinedColumns,
} from '../audit/ledger-projection.ts';
import { type RecordEnvelope, readEnvelope } from '../audit/record-envelope.ts';

/** A data plane ships at most 500; the rest is room for one that catches up. */
export const MAX_BATCH_RECORDS = 5_000;
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;

/**
 * About 1 ms of work, a few for records that are large: the same thread answers all else, in
 * standalone mode agents too.
 */
const RECORDS_A_TURN = 32;
const BYTES_A_TURN = 64 * 1024;

/** What a record's place in the chain says, and what of it goes into tables. */
export interface CheckedRecord {
  seq: number;
  hash: string;
  prevHash: string;
  bytes: Uint8Array;
  columns: LedgerColumns;
  alert: ProjectedAlert | undefined;
  /** The end of the epoch before, as an epoch_start names it; undefined for any other record. */
  previous: RecordEnvelope['previous'];
  /** Why it can only be kept in quarantine; null for a record that can be read, and may be there. */
  fault: RecordFault | null;
}

export interface RecordFault {
  kind: 'unreadable' | 'forbidden';
  /** In words that follow "the record". */
  reason: string;
}

export interface CheckedBatch {
  header: BatchHeader;
  signature: string;
  records: CheckedRecord[];
}

let checking: Promise<unknown> = Promise.resolve();

/**
 * Checks a batch against its writer. One batch is checked at a time, in the order of the calls: a
 * turn of the event loop then has the work of one, and the first can be stored while the next is
 * checked.
 *
 * @param writer the tenant and stream that the caller's credentials stand for, and the Ed25519 key
 *   registered for it
 * @throws AppError VALIDATION_FAILED naming the first seq that is wrong
 */
export function checkBatch(writer: Writer, batch: SignedBatch): Promise<CheckedBatch> {
  const checked = checking.then(() => check(writer, batch));
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

async function check(writer: Writer, batch: SignedBatch): Promise<CheckedBatch> {
  const parsed = BatchHeader.safeParse(batch.header);
  if (!parsed.success) throw refuse(`The batch's header: ${z.prettifyError(parsed.error)}`);
  const header = parsed.data;
  if (header.tenant_id !== writer.tenantId) throw refuse('The batch names another tenant.');
  if (header.stream !== writer.stream) throw refuse('The batch names another stream.');
  const count = header.last_seq - header.first_seq + 1;
  if (count < 1 || count !== batch.records.length) {
    throw refuse('The number of records is not that of the header.');
  }
  const bytes = batch.records.reduce((sum, record) => sum + record.byteLength, 0);
  if (count > MAX_BATCH_RECORDS || bytes > MAX_BATCH_BYTES) {
    throw new AppError(
      'BODY_TOO_LARGE',
      `A batch holds at most ${MAX_BATCH_RECORDS} records and ${MAX_BATCH_BYTES} bytes.`,
    );
  }
  if (!isBatchSignedBy(writer.key, header, batch.signature)) {
    throw refuse('The signature is not that of the key registered for this stream.');
  }

  const records: CheckedRecord[] = [];
  let head = header.prev_head;
  let turn = { records: 0, bytes: 0 };
  for (const [index, recordBytes] of batch.records.entries()) {
    const record = checkRecord(header, header.first_seq + index, head, recordBytes);
    head = record.hash;
    records.push(record);
    turn.records += 1;
    turn.bytes += recordBytes.byteLength;
    if (turn.records < RECORDS_A_TURN && turn.bytes < BYTES_A_TURN) continue;
    turn = { records: 0, bytes: 0 };
    await nextTurn();
  }
  if (head !== header.head) throw refuse('The records do not end in the head that was signed.');
  if (merkleRoot(records.map((record) => record.hash)) !== header.event_root) {
    throw refuse('The records do not have the root that was signed.');
  }
  return { header, signature: batch.signature, records };
}

/** The same record, to be kept in quarantine. */
export function quarantined(record: CheckedRecord, reason: string): CheckedRecord {
  const fault: RecordFault = { kind: 'unreadable', reason };
  return { ...record, columns: quarantinedColumns(record.hash), alert: undefined, fault };
}

/**
 * Where a record belongs is never taken on trust: what contradicts the header refuses the batch.
 * Only what it holds beside that may be beyond us.
 */
function checkRecord(
  header: BatchHeader,
  seq: number,
  prevHash: string,
  bytes: Uint8Array,
): CheckedRecord {
  const hash = recordHash(bytes);
  const read = readContent(bytes);
  if ('record' in read) {
    const { record, columns, alert } = read;
    checkPlace(header, seq, prevHash, record);
    const previous = record.type === 'epoch_start' ? record.previous : undefined;
    const checked = { seq, hash, prevHash, bytes, columns, alert, previous, fault: null };
    const forbidden = findForbidden(record);
    if (forbidden === undefined) return checked;
    const fault: RecordFault = { kind: 'forbidden', reason: forbidden };
    return { ...checked, columns: quarantinedColumns(hash), alert: undefined, fault };
  }
  // Bytes that say nothing have the place that the signed header gives them; the beginning of an
  // epoch cannot be told apart from a fork without what it says.
  const isReadable = bytes.byteLength <= MAX_RECORD_BYTES;
  const envelope = isReadable ? readEnvelope(bytes) : undefined;
  if (envelope) checkPlace(header, seq, prevHash, envelope);
  const previous = envelope?.previous;
  if (seq === 1 && previous === undefined) throw refuseRecord(seq, `${read.fault}`);
  const columns = quarantinedColumns(hash);
  const fault: RecordFault = { kind: 'unreadable', reason: read.fault };
  return { seq, hash, prevHash, bytes, columns, alert: undefined, previous, fault };
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
  if ((place.type === 'epoch_start') !== (seq === 1)) {
    throw refuseRecord(
      seq,
      'is an epoch_start elsewhere than at the beginning, or the beginning lacks one',
    );
  }
}

type Content =
  | { record: LedgerRecord; columns: LedgerColumns; alert: ProjectedAlert | undefined }
  | { fault: string };

/** Reads a record as ingest does: its tables' columns, or why it can only lie in quarantine. */
export function readContent(bytes: Uint8Array): Content {
  if (bytes.byteLength > MAX_RECORD_BYTES) return { fault: 'is too large' };
  try {
    const record = parseRecord(bytes);
    // PostgreSQL knows no year 0.
    if (record.timestamp < '1970') return { fault: 'has a time before 1970' };
    return { record, columns: ledgerColumns(record), alert: projectAlert(record) };
  } catch (error) {
    // A ZodError's text quotes the record; its name and first path say enough.
    const path = error instanceof z.ZodError ? ` at ${error.issues[0]?.path.join('.')}` : '';
    const name = error instanceof Error ? error.name : 'Error';
    return { fault: `is no record of version 1 (${name}${path})`.slice(0, 200) };
  }
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
