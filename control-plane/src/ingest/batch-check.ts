/**
 * What can be said of a batch without looking at the database: that its writer signed it, that the
 * records are what was signed, and that each is a well-formed link of one chain. Nothing unchecked
 * reaches a transaction. Proven by batch-check.test.ts and ingest-service.pg.test.ts.
 */
import { isUtf8 } from 'node:buffer';
import type { KeyObject } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatchHeader, isBatchSignedBy, type SignedBatch } from '@governance/shared/audit-batch';
import { AppError } from '@governance/shared/errors';
import { recordHash } from '@governance/shared/hash-chain';
import { type LedgerRecord, parseRecord } from '@governance/shared/ledger-record';
import { merkleRoot } from '@governance/shared/merkle';
import { z } from 'zod';

/** A data plane ships at most 500; the rest is room for one that catches up. */
export const MAX_BATCH_RECORDS = 5_000;
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;
export const MAX_RECORD_BYTES = 1024 * 1024;

/** About 1 ms of work: in standalone mode the same thread answers agents. */
const RECORDS_A_TURN = 64;

export interface CheckedRecord {
  seq: number;
  hash: string;
  bytes: Uint8Array;
  record: LedgerRecord;
}

export interface CheckedBatch {
  header: BatchHeader;
  signature: string;
  records: CheckedRecord[];
}

/**
 * Checks a batch against its writer.
 *
 * @param writer the tenant and stream that the caller's credentials stand for, and the Ed25519 key
 *   registered for it
 * @throws AppError VALIDATION_FAILED naming the first seq that is wrong
 */
export async function checkBatch(
  writer: { tenantId: string; stream: string; key: KeyObject },
  batch: SignedBatch,
): Promise<CheckedBatch> {
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
  for (const [index, recordBytes] of batch.records.entries()) {
    const seq = header.first_seq + index;
    const record = checkRecord(header, seq, head, recordBytes);
    head = recordHash(recordBytes);
    records.push({ seq, hash: head, bytes: recordBytes, record });
    if (records.length % RECORDS_A_TURN === 0) await nextTurn();
  }
  if (head !== header.head) throw refuse('The records do not end in the head that was signed.');
  if (merkleRoot(records.map((record) => record.hash)) !== header.event_root) {
    throw refuse('The records do not have the root that was signed.');
  }
  return { header, signature: batch.signature, records };
}

function checkRecord(
  header: BatchHeader,
  seq: number,
  prevHash: string,
  bytes: Uint8Array,
): LedgerRecord {
  const wrong = (what: string) => refuse(`The record with seq ${seq} ${what}.`, seq);
  if (bytes.byteLength > MAX_RECORD_BYTES) throw wrong('is too large');
  // Decoding would replace a bad byte in silence, and the text would no longer be what was hashed.
  if (!isUtf8(bytes)) throw wrong('is not UTF-8');
  let record: LedgerRecord;
  try {
    record = parseRecord(bytes);
  } catch (error) {
    throw wrong(`is no record of version 1 (${error instanceof Error ? error.name : 'Error'})`);
  }
  if (record.tenant_id !== header.tenant_id) throw wrong('names another tenant');
  if (record.stream !== header.stream) throw wrong('names another stream');
  if (record.epoch !== header.epoch) throw wrong('names another epoch');
  if (record.seq !== seq) throw wrong(`says it is ${record.seq}`);
  if (record.prev_hash !== prevHash) throw wrong('does not follow the record before it');
  if ((record.type === 'epoch_start') !== (seq === 1)) {
    throw wrong('is an epoch_start elsewhere than at the beginning, or the beginning lacks one');
  }
  // What an administrator did is told by the control plane's own chain alone.
  if (record.type === 'admin_action' && record.actor.role !== 'data_plane') {
    throw wrong('claims the act of an administrator');
  }
  // PostgreSQL knows no year 0, and a row that it refuses would hold up the stream for ever.
  if (record.timestamp < '1970') throw wrong('has a time before 1970');
  return record;
}

function refuse(detail: string, seq?: number): AppError {
  const loc = seq === undefined ? ['header'] : ['records', seq];
  return new AppError('VALIDATION_FAILED', detail, {
    errors: [{ loc, msg: detail, type: 'batch_refused' }],
  });
}
