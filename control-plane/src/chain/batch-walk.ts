/**
 * Verifies that a data plane signed what is stored of its stream. Whoever can write all tables can
 * rewrite a chain, but only the key's holder can sign it. Each batch's signed head must be the
 * stored hash of its last record, and the batches must cover the stream; the links between the
 * records do the rest. The key is the one in the admin chain.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatchHeader, isBatchSignedBy } from '@governance/shared/audit-batch';
import type { StoredBatch } from './chain-store.ts';
import type { FoundInStream } from './chain-walk.ts';

export interface BatchEnd {
  epoch: number;
  lastSeq: number;
}

/** About 1 ms of work. */
const BATCHES_A_TURN = 16;

export interface StreamWriter {
  tenantId: string;
  stream: string;
  /** The public keys of which one must have signed. */
  keys: readonly KeyObject[];
}

/**
 * Walks signed batches that follow a place.
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
    const wrong = findWrong(writer, batch) ?? findGap(before, batch);
    if (wrong) onBreak(signatureBreak(batch, wrong));
    before = { epoch: batch.epoch, lastSeq: batch.lastSeq };
    if (index % BATCHES_A_TURN === BATCHES_A_TURN - 1) await nextTurn();
  }
  return before;
}

function findWrong(writer: StreamWriter, batch: StoredBatch): string | undefined {
  const header = readHeader(batch.header);
  if (!header || !writer.keys.some((key) => isBatchSignedBy(key, header, batch.signature))) {
    return 'the signature is not that of the registered key';
  }
  const fits =
    header.tenant_id.toLowerCase() === writer.tenantId &&
    header.stream.toLowerCase() === writer.stream &&
    header.epoch === batch.epoch &&
    header.first_seq === batch.firstSeq &&
    header.last_seq === batch.lastSeq;
  if (!fits) return 'the signed header is that of other records';
  return header.head === batch.hash ? undefined : 'the signed head is not the stored one';
}

/** Batches may overlap: a writer that ships again may cut them differently. */
function findGap(covered: BatchEnd, batch: StoredBatch): string | undefined {
  const next = batch.epoch === covered.epoch ? covered.lastSeq + 1 : 1;
  return batch.firstSeq <= next ? undefined : `records from seq ${next} are in no signed batch`;
}

/** Records that their writer did not sign. */
export function signatureBreak(at: BatchEnd, detail: string): FoundInStream {
  return {
    kind: 'signature',
    epoch: at.epoch,
    seq: at.lastSeq,
    expected: 'a batch signed by the writer',
    actual: 'none that verifies',
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
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch {
    return undefined;
  }
}
