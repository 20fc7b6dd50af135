/** A tenant's data protection, prepared once for each bundle. */
import type { BundleSettings } from '@governance/shared/bundle-format';
import type { DataProtectionSettings } from '@governance/shared/data-protection-settings';
import { isObject } from '../../upstream/message.ts';
import { dlpOf } from '../dlp/dlp-scanners.ts';
import { takeOut } from '../dlp/redaction.ts';
import type { Identified, Protection } from '../kept-payload.ts';
import { perSettings } from '../per-settings.ts';
import { coverRemoved, sizeOf } from './cover-removed.ts';
import { hashIdentifiers } from './hash-identifiers.ts';
import { redactFields } from './redact-fields.ts';

/**
 * The largest value in which DLP matches are searched for here, in UTF-16 units: all other calls
 * wait meanwhile, and a character of a hostile text costs some microseconds.
 */
const MAX_SEARCHED = 64 * 1024;

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
    const left = redact ? redact(value, identified.said) : { value };
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
): ((value: unknown, said: Identified['said']) => { readonly value: unknown } | undefined) | null {
  const names = new Set(settings.redact_fields.map((name) => name.toLowerCase()));
  const takesOutMatches = settings.redact_dlp_matches || settings.payload_mode === 'redacted';
  if (names.size === 0 && !takesOutMatches) return null;
  return (value, said) => {
    let left = value;
    if (names.size > 0) {
      const removed = new Set<string>();
      const covered = coverRemoved(redactFields(value, names, removed), removed, said);
      if (!covered) return undefined;
      left = covered.value;
    }
    if (!takesOutMatches) return { value: left };
    if (said === 'members' && sizeOf(left) > MAX_SEARCHED) left = membersAlone(left);
    if (sizeOf(left) > MAX_SEARCHED) return undefined;
    try {
      const { failed, ...taken } = takeOut(left, dlpOf(bundle).scanner, () => false);
      return failed ? undefined : taken;
    } catch {
      // The tenant's own patterns may take too long on a text.
      return undefined;
    }
  };
}

/** Without what the call asks for. What DLP blocks or warns of there was covered before. */
function membersAlone(said: unknown): unknown {
  if (!isObject(said)) return said;
  const { arguments: _arguments, responses: _responses, ...members } = said;
  return members;
}
