/**
 * The trust anchor: what a reader of evidence gets from the tenant beforehand, and keeps. Its keys
 * define who may sign; its pinned {size, root} reveals a rewritten log.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { canonicalize } from '../json/canonical-json.ts';
import { Id, Sha256Hex, Text, Timestamp } from '../text.ts';
import { EvidenceJwk, KeyEntry } from './evidence-keys.ts';
import { keyPlace } from './key-rotations.ts';

export const TRUST_ANCHOR_FORMAT = 'agent-governance-trust-anchor/v1';

/** A witness of the log: C2SP tlog-cosignature with this name and Ed25519 key. */
export const WitnessKey = z.strictObject({
  name: Text.max(200).regex(/^[\x21-\x7e]+$/),
  key: EvidenceJwk,
});

export type WitnessKey = z.infer<typeof WitnessKey>;

export const TrustAnchor = z.strictObject({
  format: z.literal(TRUST_ANCHOR_FORMAT),
  issuer: Text.max(500),
  tenant_id: Id,
  issued_at: Timestamp,
  keys: z
    .array(KeyEntry)
    .min(1)
    .max(1_000)
    // Two entries for one key could disagree about its revocation.
    .refine((keys) => new Set(keys.map(keyPlace)).size === keys.length, 'must name each key once'),
  log: z.strictObject({
    origin: Text.max(300),
    epoch: z.int().positive(),
    size: z.int().nonnegative(),
    root: Sha256Hex,
  }),
  witnesses: z.array(WitnessKey).max(50).optional(),
  spec_url: Text.max(2_000),
});
export type TrustAnchor = z.infer<typeof TrustAnchor>;

/**
 * The digest of an anchor's set of keys: it stays the same while keys and witnesses do, whenever the
 * anchor was issued and however far the log has grown.
 *
 * @returns SHA-256 of the RFC 8785 bytes without `issued_at` and `log`, lower-case hexadecimal
 */
export function anchorDigest(anchor: TrustAnchor): string {
  const { issued_at: _, log: __, ...lasting } = anchor;
  return hash('sha256', canonicalize(lasting), 'hex');
}
