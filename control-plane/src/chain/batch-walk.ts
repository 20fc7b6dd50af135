/**
 * Verifies that a writer signed its stored stream. Whoever can write all tables can rewrite a
 * chain, but only the key's holder can sign it. Each batch's signed head must equal the stored hash
 * of its last record, its signed root must equal the root of its stored records, and the batches
 * must cover the stream. A data plane's key is taken from the admin chain. Proven by
 * chain-verification.pg.test.ts and chain-attacks.pg.test.ts.
 */
import type { KeyObject } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBatchRecords, recordsOf } from '@governance/shared/evidence/checks/batch-records';
import type { CheckName } from '@governance/shared/evidence/checks/check';
import { readEd25519Key } from '@governance/shared/evidence/ed25519';
import { BatchHeader, isBatchSignedBy } from '@governance/shared/ledger/audit-batch';
import type { StoredBatch } from './chain-store.ts';
import type { FoundInStream } from './chain-walk.ts';
import type { LinkHashes, RecordRange } from './recent-records.ts';

export interface BatchEnd {
  epoch: number;
  lastSeq: number;
}

/** About 1 ms of work. */
const BATCHES_A_TURN = 16;

export interface StreamWriter {
  tenantId: string;
  stream: string;
  /** Public keys; one of them must have signed. */
  keys: readonly KeyObject[];
  /** The stored records of a range, in order; missing ones are left out. */
  readRecords(range: RecordRange): Promise<LinkHashes[]>;
}

/** The limit that ingest applies; no writer signs a larger batch. */
export const MAX_BATCH_RECORDS = 5_000;

/**
 * Walks the signed batches that follow a position.
 *
 * @param covered the end of the last batch before them, 0/0 at the beginning of the stream
 * @param batches in order of (epoch, last_seq)
 * @returns the end of the last one
 */
export async function walkBatches(
  writer: StreamWriter,
  covered: BatchEnd,
  batches: readonly StoredBatch[],
  onBreak: (found: FoundInStream) => void,
): Promise<BatchEnd> {
  let before = covered;
  for (const [index, batch] of batches.entries()) {
    const wrong = (await findWrong(writer, batch)) ?? findGap(before, batch);
    if (wrong) onBreak(signatureBreak(batch, wrong.detail, wrong.check));
    before = { epoch: batch.epoch, lastSeq: batch.lastSeq };
    if (index % BATCHES_A_TURN === BATCHES_A_TURN - 1) await nextTurn();
  }
  return before;
}

interface WrongBatch {
  check: CheckName;
  detail: string;
}

async function findWrong(
  writer: StreamWriter,
  batch: StoredBatch,
): Promise<WrongBatch | undefined> {
  const header = readHeader(batch.header);
  const isSigned =
    header && writer.keys.some((key) => isBatchSignedBy(key, header, batch.signature));
  if (!isSigned) {
    const detail = 'the signature does not verify under the registered key';
    return { check: 'batch.signature', detail };
  }
  const fits =
    header.tenant_id.toLowerCase() === writer.tenantId &&
    header.stream.toLowerCase() === writer.stream &&
    header.epoch === batch.epoch &&
    header.first_seq === batch.firstSeq &&
    header.last_seq === batch.lastSeq;
  if (!fits) {
    return { check: 'proof.binding', detail: 'the signed header belongs to other records' };
  }
  if (header.head !== batch.hash) {
    return { check: 'chain.head', detail: 'the signed head differs from the stored one' };
  }
  return findWrongRoot(writer, header);
}

const HASH = /^[0-9a-f]{64}$/;

async function findWrongRoot(
  { readRecords }: StreamWriter,
  { epoch, first_seq: firstSeq, last_seq: lastSeq, prev_head, event_root }: BatchHeader,
): Promise<WrongBatch | undefined> {
  const check = 'batch.root';
  const count = recordsOf({ firstSeq, lastSeq });
  if (count < 1 || count > MAX_BATCH_RECORDS) {
    return { check, detail: 'the batch is empty or has too many records' };
  }
  const stored = await readRecords({ epoch, firstSeq, lastSeq });
  // A missing record already breaks the chain itself.
  if (stored.length !== count) return undefined;
  const signed = { firstSeq, lastSeq, prevHead: prev_head, eventRoot: event_root };
  const records = createBatchRecords(signed);
  let detail: string | undefined;
  for (const { hash, prevHash } of stored) {
    detail ??= HASH.test(hash) ? records.add(hash, prevHash) : 'the hash of a record is none';
  }
  detail ??= records.findRootFault();
  return detail === undefined ? undefined : { check, detail };
}

/** Batches may overlap: a writer that ships records again may batch them differently. */
function findGap(covered: BatchEnd, batch: StoredBatch): WrongBatch | undefined {
  const next = batch.epoch === covered.epoch ? covered.lastSeq + 1 : 1;
  if (batch.firstSeq <= next) return undefined;
  return { check: 'scope.complete', detail: `records from seq ${next} are in no signed batch` };
}

/** The break of records that no valid batch of their writer contains. */
export function signatureBreak(
  at: BatchEnd,
  detail: string,
  check: CheckName = 'scope.complete',
): FoundInStream {
  return {
    kind: 'signature',
    check,
    epoch: at.epoch,
    seq: at.lastSeq,
    expected: 'a batch signed by the writer',
    actual: 'no batch that verifies',
    detail,
  };
}

function readHeader(text: string): BatchHeader | undefined {
  try {
    return BatchHeader.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * @param x the key's coordinate in the admin chain
 * @returns undefined for an invalid key
 */
export function readSigningKey(x: string | null): KeyObject | undefined {
  try {
    if (x === null) return undefined;
    return readEd25519Key({ kty: 'OKP', crv: 'Ed25519', x });
  } catch {
    return undefined;
  }
}
