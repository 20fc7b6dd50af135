/**
 * One separator at regular places of a value: `p*a*s*s`, `QUtJ-QVE3-TVoz`, one character per line.
 */
import { SIGN_ROW, SIGN_WINDOW, signFinder } from '../../engine/sign-finder.ts';
import type { Edit } from './view.ts';

/** Separators in a row that words and tables rarely have. */
const MIN_SIGNS = 6;
const MIN_SIGNS_OF_GROUPS = 4;
/** From this step on, two separators between groups of encoded text are enough. */
const ENCODED = 5;

/**
 * Takes out signs at regular places, whatever stands between them. One pass over the text, which
 * looks at each sign a constant number of times and does nearly everything in WebAssembly.
 *
 * @param units of the text (../../units.ts)
 */
export function regularlySeparated(text: string, units: Uint16Array): Edit[] {
  const edits: Edit[] = [];
  const { length } = text;
  const finder = signFinder();
  const { rows } = finder;
  finder.begin();
  let covered = 1;
  for (let from = 0; from < length; from += SIGN_WINDOW) {
    const end = finder.findRows(units, from, length);
    for (let i = 0; i < end; i += SIGN_ROW) {
      const [step, first] = [rows[i] as number, rows[i + 1] as number];
      const [last, digit] = [rows[i + 2] as number, rows[i + 3] as number];
      if (last < 0) covered = endSigns(text, units, step, first, covered, edits);
      else endGroups(text, units, step, first, last, digit, edits);
    }
  }
  const end = finder.findLastRows();
  for (let i = 0; i < end; i += SIGN_ROW) {
    const [step, first] = [rows[i] as number, rows[i + 1] as number];
    const [last, digit] = [rows[i + 2] as number, rows[i + 3] as number];
    endGroups(text, units, step, first, last, digit, edits);
  }
  return edits.length === 0 ? edits : withoutOverlaps(edits);
}

/** @returns the end of the run that begins there, if it is one; signs before it belong to it */
function endSigns(
  text: string,
  units: Uint16Array,
  step: number,
  first: number,
  covered: number,
  edits: Edit[],
): number {
  if (first < covered) return covered;
  const { length } = text;
  const sign = units[first] as number;
  let last = first + step;
  while (last + step < length && units[last + step] === sign) last += step;
  if ((last - first) / step + 1 < MIN_SIGNS) return covered;
  const edit = editOf(text, first, last, step);
  if (edit !== undefined) edits.push(edit);
  return last + 1;
}

/** @param digit place of the last digit: text before it is not encoded if it has none */
function endGroups(
  text: string,
  units: Uint16Array,
  step: number,
  first: number,
  last: number,
  digit: number,
  edits: Edit[],
): void {
  const between = last - first;
  // Words and numbers of one length are more frequent than encoded groups.
  const isRun =
    between >= (MIN_SIGNS_OF_GROUPS - 1) * step ||
    (between > 0 && step >= ENCODED && digit > first - step && isEncoded(units, first, last, step));
  const edit = isRun ? editOf(text, first, last, step) : undefined;
  if (edit !== undefined) edits.push(edit);
}

/**
 * Whether everything between the two signs, apart from such signs, is letters of both cases and
 * digits.
 */
function isEncoded(units: Uint16Array, first: number, last: number, step: number): boolean {
  let upper = false;
  let lower = false;
  let digit = false;
  for (let at = Math.max(0, first - step + 1); at < last; at++) {
    const code = units[at] as number;
    if (!isNamed(code)) {
      if (at < first || (at - first) % step !== 0) return false;
    } else if (code < 0x3a) digit = true;
    else if (code < 0x5b) upper = true;
    else lower = true;
  }
  return upper && lower && digit;
}

function withoutOverlaps(edits: readonly Edit[]): Edit[] {
  const kept: Edit[] = [];
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (edit.start < at) continue;
    kept.push(edit);
    at = edit.end;
  }
  return kept;
}

const KEY = /AKIA|ASIA|gh[pousr]_|glpat|sk[-_]|xox[abp]|AIza|npm_|eyJ/;

/** Whether a digit is next to a letter, or a capital follows a small letter. */
function isMixed(text: string, from: number, to: number): boolean {
  let before = SIGN;
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    const sort = unit < 128 ? (SORT_OF[unit] as number) : SIGN;
    const isChange = before !== SIGN && sort !== SIGN && sort !== before;
    if (isChange && (before !== CAPITAL || sort === DIGIT)) return true;
    before = sort;
  }
  return false;
}

/**
 * Whether a third of the groups are neither words nor numbers: all texts have words of one length.
 */
function hasMixedGroups(text: string, first: number, last: number, step: number): boolean {
  let mixed = 0;
  for (let at = first - step; at <= last; at += step) {
    // What precedes the first sign is a group if it is as long as the others.
    if (at >= -1 && isMixed(text, at + 1, Math.min(at + step, text.length))) mixed++;
  }
  const groups = (last - first) / step + 2;
  if (mixed * 3 >= groups) return true;
  const from = Math.max(0, first - step);
  const to = first + 3 * step;
  if (!mayHoldKey(text, from, Math.min(to, text.length), text.charCodeAt(first))) return false;
  return KEY.test(text.slice(from, to).replaceAll(text[first] ?? '', ''));
}

/** By the first letter of a key, the letters that may follow it: one bit each. */
const SECONDS_OF_KEY = new Uint8Array(128);
const IS_SECOND_OF_KEY = new Uint8Array(128);
Object.entries({ A: 'KSI', g: 'hl', s: 'k', x: 'o', n: 'p', e: 'y' }).forEach(
  ([first, seconds], i) => {
    SECONDS_OF_KEY[first.charCodeAt(0)] = 1 << i;
    for (const second of seconds) {
      const unit = second.charCodeAt(0);
      IS_SECOND_OF_KEY[unit] = (IS_SECOND_OF_KEY[unit] as number) | (1 << i);
    }
  },
);

/** Whether two neighbouring characters begin a key once the sign is taken out. */
function mayHoldKey(text: string, from: number, to: number, sign: number): boolean {
  let seconds = 0;
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    if (unit === sign) continue;
    if (unit >= 128) seconds = 0;
    else if ((seconds & (IS_SECOND_OF_KEY[unit] as number)) !== 0) return true;
    else seconds = SECONDS_OF_KEY[unit] as number;
  }
  return false;
}

function editOf(text: string, first: number, last: number, step: number): Edit | undefined {
  let length = 1;
  while (length < step - 1 && isSameEverywhere(text, first, last, step, length)) length++;
  if (step - length > 1 && !hasMixedGroups(text, first, last, step)) return undefined;
  // A longer word at either end is not a group.
  const sign = text[first] ?? '';
  let start = Math.max(0, first - step + length);
  if (isInWord(text, start)) start = first + length;
  else start += Math.max(0, text.slice(start, first).lastIndexOf(sign) + 1);
  let end = Math.min(text.length, last + step);
  if (isInWord(text, end)) end = last;
  const again = step > 2 ? text.indexOf(sign, last + length) : -1;
  if (again >= 0 && again < end) end = again;
  let replacement = text.slice(start, Math.max(start, first));
  for (let at = first; at <= last; at += step) {
    replacement += text.slice(at + length, Math.min(at + step, end));
  }
  // At a longer step, no group contains the sign: otherwise the step would be shorter.
  const within = step > 2 && length === 1 ? replacement.split(sign).length - 1 : 0;
  if (within > 1 + replacement.length / (6 * step)) return undefined;
  const named = replacement.match(/[A-Za-z0-9]/g)?.length ?? 0;
  // Rulers and tables have signs between signs; numbers in groups are tables, too.
  if (named * 3 < replacement.length) return undefined;
  return { start, end, replacement, disguise: ['separators'] };
}

/** Whether each sign is followed by the same second, or third, one. */
function isSameEverywhere(
  text: string,
  first: number,
  last: number,
  step: number,
  offset: number,
): boolean {
  const sign = text.charCodeAt(first + offset);
  if (isNamed(sign)) return false;
  for (let at = first; at < last; at += step) {
    if (text.charCodeAt(at + offset) !== sign) return false;
  }
  return true;
}

const SIGN = 0;
const SMALL = 1;
const CAPITAL = 2;
const DIGIT = 3;
const SORT_OF = new Uint8Array(128);
for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
  SORT_OF[letter.charCodeAt(0)] = SMALL;
  SORT_OF[letter.toUpperCase().charCodeAt(0)] = CAPITAL;
}
for (const digit of '0123456789') SORT_OF[digit.charCodeAt(0)] = DIGIT;
const isNamed = (code: number): boolean => code < 128 && SORT_OF[code] !== SIGN;

function isInWord(text: string, at: number): boolean {
  return isNamed(text.charCodeAt(at - 1)) && isNamed(text.charCodeAt(at));
}
