/** A tenant's data protection, prepared once for each bundle. */
import { dlpOf } from '../dlp/dlp-scanners.ts';
import { perSettings } from '../permission/per-settings.ts';
import type { Keeping, Protection } from '../record/kept-payload.ts';
import { createProtect } from './protect-value.ts';

export interface TenantProtection {
  /** How payloads are kept; null where nothing is kept beside the record. */
  keeping: Keeping | null;
  /** Null where nothing is removed or hashed. */
  protection: Protection | null;
}

export const protectionOf = perSettings((settings): TenantProtection => {
  const given = settings.data_protection;
  if (!given) return { keeping: null, protection: null };
  const { payload_mode: mode, sealing_key: sealingKey, redact_fields: fields } = given;
  const takesOutMatches = given.redact_dlp_matches || mode === 'redacted';
  const hashes = given.hash_identifiers;
  const rules = { fields, takesOutMatches, hashes };
  const isProtected = fields.length > 0 || takesOutMatches || hashes;
  const protection = isProtected
    ? {
        rules,
        protect: createProtect(rules, () => dlpOf(settings).scanner),
        dlpSettings: () => dlpOf(settings).settingsText(),
      }
    : null;
  const keeps = mode !== 'metadata_only' && sealingKey !== null;
  return { keeping: keeps ? { mode, sealingKey, protection } : null, protection };
});
