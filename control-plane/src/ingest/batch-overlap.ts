/** Compares the records of a batch that are stored already, as a pure function. */
import type { CheckedBatch } from './batch-check.ts';
import type { StoredHash } from './ingest-store.ts';

export interface Fork {
  seq: number;
  expected: string;
  actual: string;
}

/** A record that is in the ledger but does not count as an event, and why. */
export interface QuarantinedRecord {
  epoch: number;
  seq: number;
  hash: string;
  reason: string;
}

/**
 * Compares the first `count` records with the stored ones, by hash.
 *
 * @returns the fork, if one differs, and those that are in quarantine
 */
export function compareOverlap(
  stored: ReadonlyMap<number, StoredHash>,
  { header: { epoch }, records }: CheckedBatch,
  count: number,
): { fork?: Fork; quarantined: QuarantinedRecord[] } {
  const quarantined: QuarantinedRecord[] = [];
  for (const { seq, hash, prevHash } of records.slice(0, count)) {
    const known = stored.get(seq);
    if (known?.hash !== hash) {
      return { fork: { seq, expected: known?.hash ?? 'none', actual: hash }, quarantined };
    }
    // An unreadable record may not name the record before it: then only the signed header does, and
    // may differ although the bytes are the same.
    if (known.prevHash !== prevHash) {
      return { fork: { seq, expected: known.prevHash, actual: prevHash }, quarantined };
    }
    if (known.isQuarantined) quarantined.push({ epoch, seq, hash, reason: 'stored before' });
  }
  return { quarantined };
}
