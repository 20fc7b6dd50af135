/** A tenant's data protection, prepared once for each bundle. */
import type { BundleSettings } from '@governance/shared/bundle-format';
import type { DataProtectionSettings } from '@governance/shared/data-protection-settings';
import { dlpOf } from '../dlp/dlp-scanners.ts';
import { coverEverywhere, takeOut } from '../dlp/redaction.ts';
import type { Protection } from '../kept-payload.ts';
import { perSettings } from '../per-settings.ts';
import { hashIdentifiers, MIN_COVERED } from './hash-identifiers.ts';
import { REDACTED, redactFields } from './redact-fields.ts';

export interface TenantProtection {
  /** The protection of kept payloads; null where nothing is kept beside the record. */
  keeps: Protection | null;
  /** Applies data protection to a value; null where nothing is to be removed or hashed. */
  protect: Protection['protect'] | null;
}

export const protectionOf = perSettings((settings): TenantProtection => {
  const given = settings.data_protection;
  if (!given) return { keeps: null, protect: null };
  const redact = createRedact(settings, given);
  const hashes = given.hash_identifiers;
  // Redacted before hashing: a pattern may need text that a hash would replace.
  const protect: Protection['protect'] = (value, identified) => {
    const left = redact ? redact(value) : { value };
    if (!left) return undefined;
    const hashed = hashes ? hashIdentifiers(left.value, identified) : left.value;
    return { value: hashed, isChanged: redact !== null || hashed !== value };
  };
  const isProtected = redact !== null || hashes;
  const { payload_mode: mode, sealing_key: sealingKey } = given;
  const keeps = mode !== 'metadata_only' && sealingKey !== null;
  return {
    keeps: keeps ? { mode, sealingKey, protect } : null,
    protect: isProtected ? protect : null,
  };
});

function createRedact(
  bundle: BundleSettings,
  settings: DataProtectionSettings,
): ((value: unknown) => { readonly value: unknown } | undefined) | null {
  const names = new Set(settings.redact_fields.map((name) => name.toLowerCase()));
  const takesOutMatches = settings.redact_dlp_matches || settings.payload_mode === 'redacted';
  if (names.size === 0 && !takesOutMatches) return null;
  return (value) => {
    let left = value;
    if (names.size > 0) {
      const removed = new Set<string>();
      left = redactFields(value, names, removed);
      left = coverEverywhere(left, marksOf(removed), () => false);
    }
    if (!takesOutMatches) return { value: left };
    try {
      const { failed, ...taken } = takeOut(left, dlpOf(bundle).scanner, () => false);
      return failed ? undefined : taken;
    } catch {
      // The tenant's own patterns may take too long on a text.
      return undefined;
    }
  };
}

function marksOf(texts: ReadonlySet<string>): Map<string, string> {
  const long = [...texts].filter((text) => text.length >= MIN_COVERED);
  // The longest first, since a shorter one may be part of it.
  long.sort((a, b) => b.length - a.length);
  return new Map(long.map((text) => [text, REDACTED]));
}
