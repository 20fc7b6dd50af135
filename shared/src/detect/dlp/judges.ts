/** Judges shared by several patterns. */
import { type Judge, NOTHING, type Stretch } from './builtin-pattern.ts';
import { isMonotonous } from './validators/secret-value.ts';

const PLACEHOLDER =
  /x{5,}|example|your[_-]?|placeholder|redacted|insert|replace|changeme|\.\.\.|dummy/i;

/** Where an issuer's mark ends at the latest; a later sign belongs to the key. */
const MAX_MARK = 16;

/** A key without the mark in front. */
function bodyOf(key: string, sign: RegExp): string {
  const at = key.search(sign);
  return at < MAX_MARK ? key.slice(at + 1) : key;
}

/**
 * A key in an issuer's form, unless it only illustrates the form: `ghp_xxxxxxxx`, `sk-your-key`.
 */
export const realKey: Judge = (text, start, end) => {
  const key = text.slice(start, Math.min(end, start + 200));
  const body = bodyOf(key, /[_.\-/:=]/);
  if (PLACEHOLDER.test(key) || isMonotonous(body)) return NOTHING;
  return new Set(body).size < 5 ? NOTHING : [{ start, end }];
};

/** Like `realKey`; the form is common, so the rest must look random. */
export const machineMade: Judge = (text, start, end) => {
  const key = text.slice(start, Math.min(end, start + 200));
  const body = bodyOf(key, /[_\-:]/);
  if (!/\d/.test(body) || !/[A-Za-z]/.test(body)) return NOTHING;
  return new Set(body).size < 10 ? NOTHING : realKey(text, start, end);
};

/** Context around a candidate that tells what it is. */
export function around(
  text: string,
  start: number,
  end: number,
  before: number,
  after = 0,
): string {
  return `${text.slice(Math.max(0, start - before), start)} ${text.slice(end, end + after)}`;
}

/**
 * Whether a number continues beyond its candidate, as a decimal, a path or a longer number does.
 *
 * @param isComplete whether nothing can follow the number: a comma or colon then begins another
 *   value, as in CSV, unless it also separates the number's own groups
 */
export function isPartOfLonger(text: string, { start, end }: Stretch, isComplete = false): boolean {
  // A letter at an end of the candidate is not continued by a digit behind a separator.
  const before = /\d/.test(text[start] ?? '') ? text.slice(Math.max(0, start - 2), start) : '';
  const behind = /\d/.test(text[end - 1] ?? '') ? text.slice(end, end + 2) : '';
  if (isComplete && !/[,:]/.test(text.slice(start, end))) {
    return /\d[.\-_/ ]?$/.test(before) || /^[.\-_/ ]?\d/.test(behind);
  }
  return /\d[.,\-_/: ]?$/.test(before) || /^[.,\-_/: ]?\d/.test(behind);
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const UUID_LENGTH = 36;

/** Whether a stretch shares characters with a UUID, which a machine made. */
export function isInUuid(text: string, { start, end }: Stretch): boolean {
  const from = Math.max(0, start - UUID_LENGTH);
  for (const { index } of text.slice(from, end + UUID_LENGTH).matchAll(UUID)) {
    if (from + index < end && from + index + UUID_LENGTH > start) return true;
  }
  return false;
}
