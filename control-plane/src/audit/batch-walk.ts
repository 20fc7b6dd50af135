/**
 * Verifies that a data plane signed what is stored of its stream. The chain alone could be written
 * anew by whoever can write all its tables; the signatures only by the holder of the key. Each
 * batch's signed head must be the stored hash of its last record, and the batches must cover the
 * stream: the links between the records do the rest.
 */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatchHeader, isBatchSignedBy } from '@governance/shared/audit-batch';
import type { ChainPosition } from '@governance/shared/hash-chain';
import type { StoredBatch } from './chain-store.ts';
import type { FoundInStream } from './chain-walk.ts';

/** About 1 ms of work. */
const BATCHES_A_TURN = 16;

/**
 * @param writer whose stream it is; `jwk` undefined where no key is registered
 * @param ends where each epoch of the stream ends: batches have to reach every one of them
 * @param pages the stream's batches in order of (epoch, last_seq)
 */
export async function* walkBatches(
  writer: { tenantId: string; stream: string; jwk: string | undefined },
  ends: readonly ChainPosition[],
  pages: AsyncIterable<StoredBatch[]>,
): AsyncGenerator<FoundInStream> {
  const uncovered = new Map(ends.map((end) => [end.epoch, end.seq]));
  const newest = ends.at(-1);
  if (!newest) return;
  const key = readKey(writer.jwk);
  if (!key) {
    yield broken({ epoch: newest.epoch, lastSeq: newest.seq }, 'the writer has no registered key');
    return;
  }
  let covered = { epoch: 0, lastSeq: 0 };
  let walked = 0;
  for await (const page of pages) {
    for (const batch of page) {
      const wrong = findWrong(writer, key, batch) ?? findGap(covered, batch);
      if (wrong) yield broken(batch, wrong);
      if (uncovered.get(batch.epoch) === batch.lastSeq) uncovered.delete(batch.epoch);
      covered = batch;
      walked += 1;
      if (walked % BATCHES_A_TURN === 0) await nextTurn();
    }
  }
  for (const [epoch, lastSeq] of uncovered) {
    yield broken({ epoch, lastSeq }, 'the last records of the epoch are in no signed batch');
  }
}

function findWrong(
  writer: { tenantId: string; stream: string },
  key: KeyObject,
  batch: StoredBatch,
): string | undefined {
  const header = readHeader(batch.header);
  if (!header || !isBatchSignedBy(key, header, batch.signature)) {
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

/** Batches may overlap, since a writer may cut them anew when it ships again. */
function findGap(
  covered: { epoch: number; lastSeq: number },
  batch: StoredBatch,
): string | undefined {
  const next = batch.epoch === covered.epoch ? covered.lastSeq + 1 : 1;
  return batch.firstSeq <= next ? undefined : `records from seq ${next} are in no signed batch`;
}

function broken(at: { epoch: number; lastSeq: number }, detail: string): FoundInStream {
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

function readKey(jwk: string | undefined): KeyObject | undefined {
  try {
    return jwk === undefined
      ? undefined
      : createPublicKey({ key: JSON.parse(jwk) as JsonWebKey, format: 'jwk' });
  } catch {
    return undefined;
  }
}
