/** The wire shapes of /api/v1/admin/data-protection (specification 1, sections 2 and 3). */
import {
  MAX_REDACT_FIELDS,
  PayloadMode,
} from '@governance/shared/settings/data-protection-settings';
import { Text, VisibleText } from '@governance/shared/text';
import { z } from 'zod';
import { KeyProviderName } from '../key-management/key-provider.ts';
import type { ProtectionPolicy } from '../payloads/protection-policy.ts';

/** Ten years. */
const MAX_RETENTION_DAYS = 3_650;

const FieldName = Text.min(1).max(200);

export const DataProtectionPatch = z.strictObject({
  payload_mode: PayloadMode.optional(),
  redact_dlp_matches: z.boolean().optional(),
  /** Replaces the whole list. */
  redact_fields: z.array(FieldName).max(MAX_REDACT_FIELDS).optional(),
  hash_identifiers: z.boolean().optional(),
  encryption_enabled: z.boolean().optional(),
  kms_provider: KeyProviderName.nullish(),
  kms_key_id: VisibleText.min(1).max(2_048).nullish(),
  payload_retention_days: z.int().min(1).max(MAX_RETENTION_DAYS).optional(),
  strip_payload_from_stream: z.boolean().optional(),
  /** A new key for `hash_identifiers`; all hashes differ from then on. */
  rotate_identifier_key: z.boolean().optional(),
  /** Tests the provider first; stores nothing if the test fails. */
  test_kms_connectivity: z.boolean().optional(),
});
export type DataProtectionPatch = z.infer<typeof DataProtectionPatch>;

export const DataProtectionView = z
  .object({
    payload_mode: PayloadMode,
    redact_dlp_matches: z.boolean(),
    redact_fields: z.array(z.string()),
    hash_identifiers: z.boolean(),
    encryption_enabled: z.boolean(),
    kms_provider: KeyProviderName.nullable(),
    /** The last characters of the key id, at most four. */
    kms_key_id_suffix: z.string().nullable(),
    payload_retention_days: z.int(),
    strip_payload_from_stream: z.boolean(),
  })
  .meta({ id: 'DataProtectionPolicy' });
export type DataProtectionView = z.infer<typeof DataProtectionView>;

export function toView(policy: ProtectionPolicy): DataProtectionView {
  return {
    payload_mode: policy.payloadMode,
    redact_dlp_matches: policy.redactDlpMatches,
    redact_fields: policy.redactFields,
    hash_identifiers: policy.hashIdentifiers,
    encryption_enabled: policy.encryptionEnabled,
    kms_provider: policy.kmsProvider,
    kms_key_id_suffix: suffixOf(policy.kmsKeyId),
    payload_retention_days: policy.payloadRetentionDays,
    strip_payload_from_stream: policy.stripPayloadFromStream,
  };
}

/** At most half of the id, since an id may reveal where the key is kept. */
function suffixOf(keyId: string | null): string | null {
  if (keyId === null) return null;
  return keyId.slice(-Math.min(4, Math.floor(keyId.length / 2))) || null;
}
