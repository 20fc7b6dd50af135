/**
 * Removes or hashes what may not be kept of a value. How long it takes grows with texts times
 * characters: on the main thread for small values alone. Pure: any thread may run it.
 */
import type { DlpScanner } from '@governance/shared/detect/dlp/scan-contract';
import { isObject } from '../../upstream/message.ts';
import { CONTENT_MEMBERS } from '../call/content-members.ts';
import { takeOut } from '../dlp/redaction.ts';
import type { Identified, Protect, ProtectionRules } from '../record/kept-payload.ts';
import { coverRemoved } from './cover-removed.ts';
import { hashIdentifiers } from './hash-identifiers.ts';
import { redactFields } from './redact-fields.ts';

/** The members of a decision that repeat content of its call, without what the call asks for. */
export function membersAlone(content: unknown): Record<string, unknown> {
  const given = isObject(content) ? content : {};
  return Object.fromEntries(CONTENT_MEMBERS.map((name) => [name, given[name]]));
}

/** @param scannerOf gives the scanner of all of the tenant's patterns */
export function createProtect(rules: ProtectionRules, scannerOf: () => DlpScanner): Protect {
  const redact = createRedact(rules, scannerOf);
  // Redacted before hashing: a pattern may need text that a hash would replace.
  return (value, identified) => {
    const left = redact ? redact(value, identified.part) : { value };
    if (!left) return undefined;
    const hashed = rules.hashes ? hashIdentifiers(left.value, identified) : left.value;
    return { value: hashed, isChanged: redact !== null || hashed !== value };
  };
}

function createRedact(
  { fields, takesOutMatches }: ProtectionRules,
  scannerOf: () => DlpScanner,
): ((value: unknown, part: Identified['part']) => { readonly value: unknown } | undefined) | null {
  const names = new Set(fields.map((name) => name.toLowerCase()));
  if (names.size === 0 && !takesOutMatches) return null;
  return (value, part) => {
    let left = value;
    if (names.size > 0) {
      const removed = new Set<string>();
      const covered = coverRemoved(redactFields(value, names, removed), removed, part);
      if (!covered) return undefined;
      left = covered.value;
    }
    if (!takesOutMatches) return { value: left };
    try {
      const { failed, ...taken } = takeOut(left, scannerOf(), () => false);
      return failed ? undefined : taken;
    } catch {
      // The tenant's own patterns may take too long on a text.
      return undefined;
    }
  };
}
