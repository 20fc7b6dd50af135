/**
 * Decides where a checked batch belongs in its stored stream: the comparison of the
 * compare-and-set, as a pure function. This, not a unique index, ensures that each (stream, epoch,
 * seq) is stored once.
 */
import type { BatchHeader } from '@governance/shared/ledger/audit-batch';
import { GENESIS_HASH } from '@governance/shared/ledger/hash-chain';
import type { CheckedBatch } from './batch-check.ts';

/** The end of a stream as stored; epoch 0 before its first record. */
export interface StreamPosition {
  epoch: number;
  nextSeq: number;
  head: string;
}

export const BEFORE_FIRST: StreamPosition = { epoch: 0, nextSeq: 1, head: GENESIS_HASH };

export type Placement =
  /** The records from this index on continue the stream; those before are to be compared. */
  | { kind: 'append'; from: number }
  /** All are already stored: the same records, or a fork. */
  | { kind: 'compare' }
  /** Earlier records are missing here. Not a fork: they may still arrive. */
  | { kind: 'gap'; expected: { epoch: number; seq: number } }
  | { kind: 'fork'; seq: number; expected: string; actual: string };

export function placeBatch(stored: StreamPosition, batch: CheckedBatch): Placement {
  const { header } = batch;
  if (header.epoch < stored.epoch) return { kind: 'compare' };
  if (header.epoch === stored.epoch) return placeInEpoch(stored, header);
  const gap: Placement = {
    kind: 'gap',
    expected: { epoch: stored.epoch || 1, seq: stored.nextSeq },
  };
  if (header.epoch !== stored.epoch + 1 || header.first_seq !== 1) return gap;
  return placeNewEpoch(stored, batch, gap);
}

function placeInEpoch(stored: StreamPosition, header: BatchHeader): Placement {
  if (header.first_seq > stored.nextSeq) {
    return { kind: 'gap', expected: { epoch: stored.epoch, seq: stored.nextSeq } };
  }
  if (header.last_seq < stored.nextSeq) return { kind: 'compare' };
  const from = stored.nextSeq - header.first_seq;
  if (from === 0 && header.prev_head !== stored.head) {
    const { first_seq: seq, prev_head: actual } = header;
    return { kind: 'fork', seq, expected: stored.head, actual };
  }
  return { kind: 'append', from };
}

function placeNewEpoch(stored: StreamPosition, batch: CheckedBatch, gap: Placement): Placement {
  const previous = batch.records[0]?.previous;
  const lastSeq = stored.nextSeq - 1;
  // The new epoch may arrive before the last records of the previous one.
  if (previous?.epoch === stored.epoch && previous.last_seq > lastSeq) return gap;
  const expected = stored.epoch === 0 ? 'none' : `${stored.epoch}/${lastSeq}/${stored.head}`;
  const actual = previous ? `${previous.epoch}/${previous.last_seq}/${previous.head}` : 'none';
  if (actual !== expected || batch.header.prev_head !== stored.head) {
    return { kind: 'fork', seq: 1, expected, actual };
  }
  return { kind: 'append', from: 0 };
}
