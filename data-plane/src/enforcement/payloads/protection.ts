/** A tenant's data protection, prepared once for each bundle. */
import type { BundleSettings } from '@governance/shared/bundle-format';
import { isObject } from '../../upstream/message.ts';
import { dlpOf } from '../dlp/dlp-scanners.ts';
import { takeOut } from '../dlp/redaction.ts';
import type { Identified, Protected, Protection, Taken } from '../kept-payload.ts';
import { perSettings } from '../per-settings.ts';
import { LARGE } from '../scan-thread/dlp-scans.ts';
import { coverRemoved, sizeOf } from './cover-removed.ts';
import { hashIdentifiers } from './hash-identifiers.ts';
import { redactFields } from './redact-fields.ts';

export interface TenantProtection {
  /** The protection of kept payloads; null where nothing is kept beside the record. */
  keeps: Protection | null;
  /** Applies data protection to a value; null where nothing is to be removed or hashed. */
  protect: Protection['protect'] | null;
}

export const protectionOf = perSettings((settings): TenantProtection => {
  const given = settings.data_protection;
  if (!given) return { keeps: null, protect: null };
  const { hash_identifiers: hashes, payload_mode: mode, sealing_key: sealingKey } = given;
  const names = new Set(given.redact_fields.map((name) => name.toLowerCase()));
  const takesOut = given.redact_dlp_matches || mode === 'redacted';
  const isRedacted = takesOut || names.size > 0;
  const isLarge = (value: unknown): boolean => takesOut && sizeOf(value) > LARGE;
  // Redacted before hashing: a pattern may need text that a hash would replace.
  const finish = (value: unknown, left: Taken, identified: Identified): Protected => {
    if (!left) return undefined;
    const hashed = hashes ? hashIdentifiers(left.value, identified) : left.value;
    return { value: hashed, isChanged: isRedacted || hashed !== value };
  };
  const protect: Protection['protect'] = (value, identified) => {
    let left = withoutFields(value, names, identified.said);
    if (left && takesOut) {
      const isCut = identified.said === 'members' && isLarge(left.value);
      left = takeOutHere(isCut ? membersAlone(left.value) : left.value, settings);
    }
    return finish(value, left, identified);
  };
  const protectLarge: Protection['protectLarge'] = async (value, identified, takeOutLarge) => {
    const named = withoutFields(value, names, identified.said);
    const left = named && (await takeOutLarge(named.value, dlpOf(settings).settingsText()));
    return finish(value, left, identified);
  };
  const keeps = mode !== 'metadata_only' && sealingKey !== null;
  return {
    keeps: keeps ? { mode, sealingKey, protect, needsThread: isLarge, protectLarge } : null,
    protect: isRedacted || hashes ? protect : null,
  };
});

function withoutFields(
  value: unknown,
  names: ReadonlySet<string>,
  said: Identified['said'],
): Taken {
  if (names.size === 0) return { value };
  const removed = new Set<string>();
  return coverRemoved(redactFields(value, names, removed), removed, said);
}

/** On this thread, for which all other calls wait. */
function takeOutHere(value: unknown, settings: BundleSettings): Taken {
  if (sizeOf(value) > LARGE) return undefined;
  try {
    const { failed, value: left } = takeOut(value, dlpOf(settings).scanner, () => false);
    return failed ? undefined : { value: left };
  } catch {
    // The tenant's own patterns may take too long on a text.
    return undefined;
  }
}

/** Without what the call asks for. What DLP blocks or warns of there was covered before. */
function membersAlone(said: unknown): unknown {
  if (!isObject(said)) return said;
  const { arguments: _arguments, responses: _responses, ...members } = said;
  return members;
}
