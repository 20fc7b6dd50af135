/** What issuers and witnesses make, at once and from everything. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { COSIGNATURE_V1, noteKeyHash } from '../evidence/checkpoint.ts';
import { type LargeRecord, stepsOfLargeRecord } from '../evidence/large-record.ts';
import type { LeafRange } from '../evidence/merkle-proofs.ts';
import { merkleRoot } from '../ledger/merkle.ts';

/** The proof of a plan, from all leaves of the tree. */
export function proofOf(plan: readonly LeafRange[], leaves: readonly string[]): string[] {
  return plan.map(({ start, end }) => merkleRoot(leaves.slice(start, end)));
}

/**
 * A witness's line for a checkpoint (C2SP tlog-cosignature, Ed25519).
 *
 * @param at Unix seconds
 */
export function cosignCheckpoint(
  body: string,
  { name, key }: { name: string; key: KeyObject },
  at: number,
): string {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(at));
  const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${at}\n${body}`), key);
  const keyHash = noteKeyHash(name, createPublicKey(key), COSIGNATURE_V1);
  return `\u2014 ${name} ${Buffer.concat([keyHash, time, signature]).toString('base64')}`;
}

/** A record without its bytes, described without a pause. */
export function describeLargeRecord(bytes: Uint8Array): LargeRecord {
  const steps = stepsOfLargeRecord(bytes);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
