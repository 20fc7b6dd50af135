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
/** Of that text: where a digit stood last. */
let lastDigit = -1;

/**
 * Takes out signs that stand at regular places, whatever stands between them. One pass over the text,
 * in which each sign is looked at a constant number of times.
 *
 * @param units of the text (../../units.ts)
 */
export function regularlySeparated(text: string, units: Uint16Array): Edit[] {
  const edits: Edit[] = [];
  const { length } = text;
  lastOf.fill(-MAX_GROUP - 2);
  stepOf.fill(0);
  firstOf.fill(0);
  lastDigit = -1;
  let covered = 1;
  for (let from = 0; from < length; from += BLOCK) {
    const count = findPlaces(units, from, Math.min(from + BLOCK, length));
    const end = findRows(units, length, count);
    for (let i = 0; i < end; i += ROW) {
      const [step, first] = [rows[i] as number, rows[i + 1] as number];
      const [last, digit] = [rows[i + 2] as number, rows[i + 3] as number];
      if (last < 0) covered = endSigns(text, units, step, first, covered, edits);
      else endGroups(text, units, step, first, last, digit, edits);
    }
  }
  for (let sign = 0; sign < 128; sign++) {
    const step = stepOf[sign] as number;
    if (!isStepOfGroups(step)) continue;
    const [first, last] = [firstOf[sign] as number, lastOf[sign] as number];
    endGroups(text, units, step, first, last, lastDigit, edits);
  }
  return edits.length === 0 ? edits : withoutOverlaps(edits);
}

/**
 * Numbers of a row, which is one sign at one step: the step, where the sign stood first and last (-1
 * where that is still to be seen), and where a digit stood last.
 */
const ROW = 4;

/**
 * What is worth a closer look among the signs of a block. Nothing else is done in this loop: it is
 * what the whole pass costs.
 *
 * @returns how many numbers of `rows` say so
 */
function findRows(units: Uint16Array, length: number, count: number): number {
  const found = places;
  const sorts = SORT_OF;
  const lasts = lastOf;
  const steps = stepOf;
  const firsts = firstOf;
  const out = rows;
  let digit = lastDigit;
  let end = 0;
  for (let i = 0; i < count; i++) {
    const at = found[i] as number;
    const sign = units[at] as number;
    if (sign < 128) {
      if (sorts[sign] === DIGIT) {
        digit = at;
        continue;
      }
      const before = lasts[sign] as number;
      const step = at - before;
      const run = steps[sign] as number;
      lasts[sign] = at;
      if (step !== run) {
        const first = firsts[sign] as number;
        steps[sign] = step;
        firsts[sign] = before;
        // Of nearly all words two spaces are at some step, and nothing else.
        const isMore = before - first > 2 * run || (run >= ENCODED && digit > first - run);
        if (isMore && isStepOfGroups(run)) {
          out[end] = run;
          out[end + 1] = first;
          out[end + 2] = before;
          out[end + 3] = digit;
          end += ROW;
        }
      }
    }
    // Signs beyond the first plane have two units; a sign may stand twice.
    const isSecond = units[at + 2] === sign;
    if (!isSecond && sign < 128 && units[at + 1] !== sign) continue;
    // Indentation.
    if (sign <= SPACE && units[at + 1] === sign) continue;
    const step = isSecond ? 2 : 3;
    if (at + step >= length || units[at + step] !== sign) continue;
    // Most are two or three dots or brackets: where a run has enough signs, the last of them stands there.
    const enough = at + (MIN_SIGNS - 1) * step;
    if (enough >= length || units[enough] !== sign) continue;
    out[end] = step;
    out[end + 1] = at;
    out[end + 2] = -1;
    end += ROW;
  }
  lastDigit = digit;
  return end;
}

/** @returns where the run ends that begins there, if it is one; signs before that are in it */
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

/** Characters whose signs are found together. */
const BLOCK = 512;
/** Where the signs and digits of a block stand. */
const places = new Uint32Array(BLOCK);
/** What is worth a closer look, two rows for each of its places at most. */
const rows = new Int32Array(2 * ROW * BLOCK);
/** By unit: 0 for letters of ASCII, of which nearly every text has the most. */
const IS_PLACE = new Uint8Array(0x10000).fill(1);

/** Without a branch: where a word ends is what a processor guesses worst. Four at once, for the same reason. */
function findPlaces(units: Uint16Array, from: number, to: number): number {
  const found = places;
  const isPlace = IS_PLACE;
  let count = 0;
  let at = from;
  for (const last = to - 3; at < last; at += 4) {
    found[count] = at;
    count += isPlace[units[at] as number] as number;
    found[count] = at + 1;
    count += isPlace[units[at + 1] as number] as number;
    found[count] = at + 2;
    count += isPlace[units[at + 2] as number] as number;
    found[count] = at + 3;
    count += isPlace[units[at + 3] as number] as number;
  }
  for (; at < to; at++) {
    found[count] = at;
    count += isPlace[units[at] as number] as number;
  }
  return count;
}

/** Shorter steps are looked at where they stand. */
const isStepOfGroups = (step: number): boolean => step > 2 && step <= MAX_GROUP + 1;

/** @param digit where one stood last: nothing before it is encoded without one */
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
  // Words and numbers of one length are more frequent than what is encoded.
  const isRun =
    between >= (MIN_SIGNS_OF_GROUPS - 1) * step ||
    (between > 0 && step >= ENCODED && digit > first - step && isEncoded(units, first, last, step));
  const edit = isRun ? editOf(text, first, last, step) : undefined;
  if (edit !== undefined) edits.push(edit);
}

/** Whether all between two signs and their like is letters of both cases, and digits. */
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

/** By the first letter of a key, the letters that its second one may be: a bit each. */
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

/** Whether two neighbours begin a key when the sign is taken out. */
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
