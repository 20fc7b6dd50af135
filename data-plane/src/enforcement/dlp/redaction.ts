/** Takes sensitive data out of what a server says, everywhere or not at all. */
import { ScanBudgetError } from '@governance/shared/detect/dlp/scan-budget';
import type { DlpScanner, Redaction } from '@governance/shared/detect/dlp/scan-contract';
import { isObject } from '../../upstream/message.ts';
import { fitsSchema } from './fits-schema.ts';
import { isKept } from './said-parts.ts';

/** Texts that are looked for in the rest of the message. */
const MAX_TAKEN = 32;
/** UTF-16 units of one: a shorter text stands in many places that mean something else. */
const MIN_TAKEN = 6;
const MARK = /\[REDACTED:[^\]]*\]/;

/**
 * @param value what is said, without opaque and binary members
 * @param outputSchema of a result's `structuredContent`; undefined for none
 * @returns the value without what was found; null where something cannot be taken out, or where the
 *   rest would not be what the tool promised
 */
export function redact(value: unknown, scanner: DlpScanner, outputSchema: unknown): unknown {
  // A number that a double does not carry would be written differently.
  if (hasInexactNumber(value)) return null;
  const { value: redacted, failed } = takeOut(value, scanner, isKept);
  if (failed) return null;
  // `content` says in words what `structuredContent` says in members: both change, or neither.
  if (isObject(value) && isObject(redacted) && outputSchema !== undefined) {
    const { structuredContent: before } = value;
    const { structuredContent: after } = redacted;
    if (before !== undefined && !fitsSchema(outputSchema, before, after)) return null;
  }
  return redacted;
}

/** Whether the text at this place of a value stays as it is. */
type Keep = (pointer: string, key: string) => boolean;

/**
 * @returns the value without what was found, wherever the same text stands in it; `failed` where
 *   something cannot be taken out
 */
export function takeOut(
  value: unknown,
  scanner: DlpScanner,
  keep: Keep,
): { value: unknown; failed: boolean } {
  const first = tryRedact(value, scanner, keep);
  if (first === null) return { value, failed: true };
  if (first.failed) return { value: first.value, failed: true };
  const taken = new Map<string, string>();
  collectTaken(value, first.value, taken);
  return { value: coverEverywhere(first.value, taken, keep), failed: false };
}

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

/** What stood where the marks are now, with its mark. */
function collectTaken(before: unknown, after: unknown, taken: Map<string, string>): void {
  if (taken.size >= MAX_TAKEN || before === after) return;
  if (typeof before === 'string' && typeof after === 'string') {
    let from = 0;
    let rest = after;
    for (let mark = MARK.exec(rest); mark !== null; mark = MARK.exec(rest)) {
      const start = from + mark.index;
      rest = rest.slice(mark.index + mark[0].length);
      const next = MARK.exec(rest);
      const follows = next === null ? rest : rest.slice(0, next.index);
      const end = follows === '' ? before.length : before.indexOf(follows, start);
      if (end < start || (follows === '' && next !== null)) return;
      const text = before.slice(start, end);
      if (text.length >= MIN_TAKEN && taken.size < MAX_TAKEN) taken.set(text, mark[0]);
      from = end;
    }
    return;
  }
  if (typeof before !== 'object' || typeof after !== 'object' || !before || !after) return;
  for (const key of Object.keys(before)) {
    collectTaken(
      (before as Record<string, unknown>)[key],
      (after as Record<string, unknown>)[key],
      taken,
    );
  }
}

/**
 * Puts marks in the place of texts: the same may stand where nothing beside it says what it is.
 *
 * @param taken the texts, each with its mark
 */
export function coverEverywhere(
  value: unknown,
  taken: ReadonlyMap<string, string>,
  keep: Keep,
): unknown {
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
        visit(member, `${pointer}/${name}`, name),
      ]),
    );
  };
  return visit(value, '', '');
}

/** Marks are not searched again: texts that stand within marks would make it grow without end. */
function coverText(text: string, taken: ReadonlyMap<string, string>): string {
  let pieces: (string | { mark: string })[] = [text];
  for (const [one, mark] of taken) {
    if (!text.includes(one)) continue;
    pieces = pieces.flatMap((piece) =>
      typeof piece === 'string'
        ? piece.split(one).flatMap((rest, index) => (index === 0 ? [rest] : [{ mark }, rest]))
        : [piece],
    );
  }
  return pieces.map((piece) => (typeof piece === 'string' ? piece : piece.mark)).join('');
}
