/** One sign at regular places of a value: `p*a*s*s`, `QUtJ-QVE3-TVoz`, one character a line. */
import type { Edit } from './view.ts';

/** Characters between two signs, at most. */
const MAX_GROUP = 8;
/** Signs in a row that no word or table has often. */
const MIN_SIGNS = 6;
const MIN_SIGNS_OF_GROUPS = 4;
const SPACE = 0x20;
/** From this step on two signs are enough between groups of what is encoded. */
const ENCODED = 5;

/** Of the text that is read, by sign: where it stood last, at which step, and where its run began. */
const lastOf = new Int32Array(128);
const stepOf = new Int32Array(128);
const firstOf = new Int32Array(128);

/**
 * Takes out signs that stand at regular places, whatever stands between them. One pass over the text,
 * in which each sign is looked at a constant number of times.
 *
 * @param units of the text (../../units.ts)
 */
export function regularlySeparated(text: string, units: Uint16Array): Edit[] {
  const edits: Edit[] = [];
  const { length } = text;
  const found = places;
  const sorts = SORT_OF;
  const lasts = lastOf;
  const steps = stepOf;
  const firsts = firstOf;
  lastOf.fill(-MAX_GROUP - 2);
  stepOf.fill(0);
  firstOf.fill(0);
  let lastDigit = -1;
  let covered = 1;
  for (let from = 0; from < length; from += BLOCK) {
    const count = findPlaces(units, from, Math.min(from + BLOCK, length));
    for (let i = 0; i < count; i++) {
      const at = from + (found[i] as number);
      const sign = units[at] as number;
      if (sign < 128) {
        if (sorts[sign] === DIGIT) {
          lastDigit = at;
          continue;
        }
        const before = lasts[sign] as number;
        const step = at - before;
        if (step !== steps[sign]) {
          const run = steps[sign] as number;
          const first = firsts[sign] as number;
          // Of nearly all words two spaces are at some step, and nothing else.
          const isMore = before - first > run || (lastDigit > first - run && run >= ENCODED);
          if (isMore) endGroups(text, sign, lastDigit, edits);
          steps[sign] = step;
          firsts[sign] = before;
        }
        lasts[sign] = at;
      }
      if (at < covered || at + 2 >= length) continue;
      // Signs beyond the first plane have two units; a sign may stand twice.
      const isTwice = units[at + 1] === sign;
      const step = units[at + 2] === sign ? 2 : isTwice || sign > 127 ? 3 : 0;
      if (step === 0 || at + step >= length || units[at + step] !== sign) continue;
      // Indentation.
      if (sign <= SPACE && isTwice) continue;
      let last = at + step;
      while (last + step < length && units[last + step] === sign) last += step;
      const isRun = (last - at) / step + 1 >= MIN_SIGNS;
      const edit = isRun ? editOf(text, at, last, step) : undefined;
      if (edit !== undefined) edits.push(edit);
      if (isRun) covered = last + 1;
    }
  }
  for (let sign = 0; sign < 128; sign++) {
    if (stepOf[sign] !== 0) endGroups(text, sign, lastDigit, edits);
  }
  return edits.length === 0 ? edits : withoutOverlaps(edits);
}

/** Characters whose signs are found together. */
const BLOCK = 4096;
/** Where the signs and digits of a block stand, from its beginning. */
const places = new Uint16Array(BLOCK);
/** By unit: 0 for letters of ASCII, of which nearly every text has the most. */
const IS_PLACE = new Uint8Array(0x10000).fill(1);

/** Without a branch: where a word ends is what a processor guesses worst. */
function findPlaces(units: Uint16Array, from: number, to: number): number {
  const found = places;
  const isPlace = IS_PLACE;
  let count = 0;
  for (let at = from; at < to; at++) {
    found[count] = at - from;
    count += isPlace[units[at] as number] as number;
  }
  return count;
}

/**
 * A run of one sign with more than one character between two of them.
 *
 * @param lastDigit where a digit stood last: nothing before it is encoded without one
 */
function endGroups(text: string, sign: number, lastDigit: number, edits: Edit[]): void {
  const step = stepOf[sign] as number;
  if (step <= 2 || step > MAX_GROUP + 1) return;
  const from = firstOf[sign] as number;
  const to = lastOf[sign] as number;
  const between = to - from;
  // Words and numbers of one length are more frequent than what is encoded.
  const isRun =
    between >= (MIN_SIGNS_OF_GROUPS - 1) * step ||
    (between > 0 && step >= ENCODED && lastDigit > from - step && isEncoded(text, from, to, step));
  const edit = isRun ? editOf(text, from, to, step) : undefined;
  if (edit !== undefined) edits.push(edit);
}

/** Whether all between two signs and their like is letters of both cases, and digits. */
function isEncoded(text: string, first: number, last: number, step: number): boolean {
  let upper = false;
  let lower = false;
  let digit = false;
  for (let at = Math.max(0, first - step + 1); at < last; at++) {
    const code = text.charCodeAt(at);
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

/** Whether a digit stands beside a letter, or a capital behind a small letter. */
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

/** Whether a third of the groups is no word and no number: words of one length stand in all texts. */
function hasMixedGroups(text: string, first: number, last: number, step: number): boolean {
  let mixed = 0;
  for (let at = first - step; at <= last; at += step) {
    // What stands before the first sign is a group where it is as long as the others.
    if (at >= -1 && isMixed(text, at + 1, Math.min(at + step, text.length))) mixed++;
  }
  const groups = (last - first) / step + 2;
  if (mixed * 3 >= groups) return true;
  const from = Math.max(0, first - step);
  const to = first + 3 * step;
  if (!mayHoldKey(text, from, Math.min(to, text.length), text.charCodeAt(first))) return false;
  return KEY.test(text.slice(from, to).replaceAll(text[first] ?? '', ''));
}

/** By its first letter, the letters that a key's second one may be. */
const SECOND_OF_KEY = new Map(
  Object.entries({ A: 'KSI', g: 'hl', s: 'k', x: 'o', n: 'p', e: 'y' }).map(
    ([first, seconds]) => [first.charCodeAt(0), seconds] as const,
  ),
);

/** Whether two neighbours begin a key when the sign is taken out. */
function mayHoldKey(text: string, from: number, to: number, sign: number): boolean {
  let second = '';
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    if (unit === sign) continue;
    if (second !== '' && second.includes(text[at] as string)) return true;
    second = SECOND_OF_KEY.get(unit) ?? '';
  }
  return false;
}

function editOf(text: string, first: number, last: number, step: number): Edit | undefined {
  let length = 1;
  while (length < step - 1 && isSameEverywhere(text, first, last, step, length)) length++;
  if (step - length > 1 && !hasMixedGroups(text, first, last, step)) return undefined;
  // A longer word at either side is no group.
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
  // Of a longer step the sign stands in no group, or it would be a shorter one.
  const within = step > 2 && length === 1 ? replacement.split(sign).length - 1 : 0;
  if (within > 1 + replacement.length / (6 * step)) return undefined;
  const named = replacement.match(/[A-Za-z0-9]/g)?.length ?? 0;
  // Rulers and tables have signs between signs; numbers in groups are tables too.
  if (named * 3 < replacement.length) return undefined;
  return { start, end, replacement, disguise: ['separators'] };
}

/** Whether behind each sign the same second, or third, one stands. */
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
  for (const one of [letter, letter.toUpperCase()]) IS_PLACE[one.charCodeAt(0)] = 0;
}
for (const digit of '0123456789') SORT_OF[digit.charCodeAt(0)] = DIGIT;
const isNamed = (code: number): boolean => code < 128 && SORT_OF[code] !== SIGN;

function isInWord(text: string, at: number): boolean {
  return isNamed(text.charCodeAt(at - 1)) && isNamed(text.charCodeAt(at));
}
