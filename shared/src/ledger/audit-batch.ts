/**
 * What a data plane ships: consecutive records of one stream and epoch under one signature of the
 * writer. Signing batches, not events, keeps the cost of a signature off the call.
 */
import { type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { canonicalize } from '../json/canonical-json.ts';
import { Epoch, Id, Sha256Hex } from '../text.ts';
import { merkleRoot } from './merkle.ts';

/** The signed header. `event_root` is the RFC 6962 root over the records' hashes. */
export const BatchHeader = z.strictObject({
  v: z.literal(1),
  tenant_id: Id,
  stream: Id,
  epoch: Epoch,
  first_seq: z.int().positive(),
  last_seq: z.int().positive(),
  prev_head: Sha256Hex,
  head: Sha256Hex,
  event_root: Sha256Hex,
});
export type BatchHeader = z.infer<typeof BatchHeader>;

export interface SignedBatch {
  header: BatchHeader;
  /** Ed25519 over the header's canonical bytes, base64url. */
  signature: string;
  /** The records' canonical bytes, verbatim, in order of seq. */
  records: Uint8Array[];
}

/** The answer to a batch: given only once the records are durable at the control plane. */
export interface BatchReceipt {
  status: 'accepted' | 'already_stored';
  stream: string;
  epoch: number;
  last_seq: number;
  head: string;
}

/**
 * Signs a batch of consecutive records.
 *
 * @param key the writer's Ed25519 private key
 * @param hashes the records' hashes, for the root
 */
export function signBatch(
  key: KeyObject,
  header: Omit<BatchHeader, 'v' | 'event_root'>,
  hashes: readonly string[],
): { header: BatchHeader; signature: string } {
  const complete: BatchHeader = { v: 1, ...header, event_root: merkleRoot(hashes) };
  const signature = sign(null, Buffer.from(canonicalize(complete)), key).toString('base64url');
  return { header: complete, signature };
}

/**
 * Whether a batch's header was signed by the holder of this Ed25519 key. Never throws.
 *
 * @param signature base64url without padding; any other spelling is invalid
 */
export function isBatchSignedBy(key: KeyObject, header: BatchHeader, signature: string): boolean {
  try {
    const bytes = Buffer.from(canonicalize(header));
    const raw = Buffer.from(signature, 'base64url');
    return raw.toString('base64url') === signature && verify(null, bytes, key, raw);
  } catch {
    return false;
  }
}
