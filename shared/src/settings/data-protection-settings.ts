/**
 * The tenant's data protection as data planes enforce it, under `data_protection` of the bundle's
 * settings. Absent: nothing of a call is kept beside its record, and nothing in the record is changed.
 */
import { z } from 'zod';
import { Text } from '../text.ts';

/** What is kept of calls beside the chain (specification 1, section 2). */
export const PayloadMode = z.enum(['full', 'metadata_only', 'redacted', 'encrypted']);
export type PayloadMode = z.infer<typeof PayloadMode>;

/** Names of fields whose values are removed, for one tenant. */
export const MAX_REDACT_FIELDS = 200;

/** The public X25519 key that payloads are sealed to. */
export const PayloadSealingKey = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('X25519'),
  x: z.string().regex(/^[\w-]{43}$/),
  kid: Text.min(1).max(100),
});
export type PayloadSealingKey = z.infer<typeof PayloadSealingKey>;

export const DataProtectionSettings = z.object({
  payload_mode: PayloadMode,
  /** DLP matches in payloads are replaced. */
  redact_dlp_matches: z.boolean(),
  /** Members with these names, at any depth and in any case, are removed from payloads. */
  redact_fields: z.array(Text.min(1).max(200)).max(MAX_REDACT_FIELDS),
  /** Identifiers are recorded and stored as keyed hashes; the key travels by the feed, sealed. */
  hash_identifiers: z.boolean(),
  /** The control plane's; null while nothing is kept. */
  sealing_key: PayloadSealingKey.nullable(),
});
export type DataProtectionSettings = z.infer<typeof DataProtectionSettings>;
