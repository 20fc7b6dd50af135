/** Removes sensitive data from a server's message: in all places, or the message is blocked. */
import { ScanBudgetError } from '@governance/shared/detect/dlp/scan-budget';
import type { DlpScanner, Redaction } from '@governance/shared/detect/dlp/scan-contract';
import { pointerStep } from '@governance/shared/json/json-pointer';
import { isObject } from '../../upstream/message.ts';
import { coverText, type Marks, marksOfPatterns } from '../call/cover-texts.ts';
import { fitsSchema } from './fits-schema.ts';

/**
 * UTF-16 units from which a removed text is also replaced in the rest of the message. A shorter
 * text occurs in many places with other meanings.
 */
const MIN_TAKEN = 6;
/**
 * UTF-16 units from which a removed text must not remain in keys, or in texts that are never
 * rewritten. A shorter text is part of many names.
 */
const MIN_LEFT = 8;

/** Protocol members for machines, which are never rewritten. */
const NEVER_REWRITTEN: ReadonlySet<string> = new Set([
  ...['id', 'uri', 'uriTemplate', 'url', 'href', 'src', 'cursor', 'nextCursor', 'requestState'],
  ...['progressToken', 'taskId', 'type', 'role', 'mimeType', '$ref', '$id', '$schema', 'pattern'],
]);
/** Names of tools, prompts and resources in a list, by which they are requested. */
const LISTED_NAME = /^\/(?:tools|prompts|resources|resourceTemplates)\/[0-9]+\/name$/;

/** Whether a text at this place of a message must stay unchanged. */
function isKept(pointer: string, key: string): boolean {
  return NEVER_REWRITTEN.has(key) || pointer.startsWith('/_meta/') || LISTED_NAME.test(pointer);
}

/**
 * Redacts a server's message.
 *
 * @param value the message without opaque and binary members
 * @param outputSchema of a result's `structuredContent`; undefined for none
 * @returns the value with the findings removed; null where a finding cannot be removed, or the rest
 *   would no longer fit the output schema
 */
export function redact(value: unknown, scanner: DlpScanner, outputSchema: unknown): unknown {
  // An integer that a double cannot represent would be serialised differently.
  if (hasInexactNumber(value)) return null;
  const { value: redacted, failed } = takeOut(value, scanner, isKept);
  if (failed) return null;
  // `content` repeats `structuredContent` as text, so both are redacted or neither.
  if (isObject(value) && isObject(redacted) && outputSchema !== undefined) {
    const { structuredContent: before } = value;
    const { structuredContent: after } = redacted;
    if (before !== undefined && !fitsSchema(outputSchema, before, after)) return null;
  }
  return redacted;
}

/** Whether the text at this place of a value must stay unchanged. */
type Keep = (pointer: string, key: string) => boolean;

/**
 * Removes findings, and the same texts where they occur again.
 *
 * @returns the value after removal; `failed` where something could not be removed
 */
export function takeOut(
  value: unknown,
  scanner: DlpScanner,
  keep: Keep,
): { value: unknown; failed: boolean } {
  const first = tryRedact(value, scanner, keep);
  if (first === null) return { value, failed: true };
  if (first.failed) return { value: first.value, failed: true };
  const long = [...first.taken].filter(([text]) => text.length >= MIN_TAKEN);
  const taken = marksOfPatterns(new Map(long));
  const covered = coverEverywhere(first.value, taken, keep);
  const lasting = [...taken.keys()].filter((text) => text.length >= MIN_LEFT);
  return { value: covered, failed: standsSomewhere(covered, lasting) };
}

/** Whether one of the texts remains in a key, or in a text that must stay unchanged. */
function standsSomewhere(value: unknown, texts: readonly string[]): boolean {
  const stands = (text: string) => texts.some((one) => text.includes(one));
  if (texts.length === 0) return false;
  if (typeof value === 'string') return stands(withoutMarks(value));
  if (Array.isArray(value)) return value.some((item) => standsSomewhere(item, texts));
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([name, member]) => stands(name) || standsSomewhere(member, texts),
  );
}

/** Without marks, since the name of a pattern may contain a removed text. */
const withoutMarks = (text: string): string => text.replaceAll(/\[REDACTED:[^\][]*\]/g, '');

function tryRedact(value: unknown, scanner: DlpScanner, keep: Keep): Redaction | null {
  try {
    return scanner.redactValue(value, keep);
  } catch (error) {
    if (error instanceof ScanBudgetError) return null;
    throw error;
  }
}

function hasInexactNumber(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(hasInexactNumber);
}

/**
 * Replaces removed texts by marks where they occur again: there, the text beside them may not match
 * the pattern.
 *
 * @param taken the texts, each with its mark
 */
function coverEverywhere(value: unknown, taken: Marks, keep: Keep): unknown {
  if (taken.size === 0) return value;
  const visit = (part: unknown, pointer: string, key: string): unknown => {
    if (typeof part === 'string') {
      return keep(pointer, key) ? part : coverText(part, taken);
    }
    if (Array.isArray(part)) return part.map((item, i) => visit(item, `${pointer}/${i}`, key));
    if (!isObject(part)) return part;
    return Object.fromEntries(
      Object.entries(part).map(([name, member]) => [
        name,
        visit(member, pointer + pointerStep(name), name),
      ]),
    );
  };
  return visit(value, '', '');
}
