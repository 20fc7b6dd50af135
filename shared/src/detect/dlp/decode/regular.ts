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

/**
 * Takes out signs that stand at regular places, whatever stands between them. One pass over the text,
 * in which each sign is looked at a constant number of times.
 */
export function regularlySeparated(text: string): Edit[] {
  const edits: Edit[] = [];
  const groups = createGroups(text, edits);
  let covered = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (NAMED[sign] === 1) continue;
    if (sign < 128) groups.see(sign, at);
    if (at < Math.max(1, covered)) continue;
    // Signs beyond the first plane have two units; a sign may stand twice.
    const isLong = sign > 127 || text.charCodeAt(at + 1) === sign;
    const step = text.charCodeAt(at + 2) === sign ? 2 : isLong ? 3 : 0;
    if (step === 0 || text.charCodeAt(at + step) !== sign) continue;
    // Indentation.
    if (sign <= SPACE && text.charCodeAt(at + 1) === sign) continue;
    let last = at + step;
    while (text.charCodeAt(last + step) === sign) last += step;
    const isRun = (last - at) / step + 1 >= MIN_SIGNS;
    const edit = isRun ? editOf(text, at, last, step) : undefined;
    if (edit !== undefined) edits.push(edit);
    if (isRun) covered = last + 1;
  }
  groups.end();
  return withoutOverlaps(edits);
}

/** Runs of each sign with more than one character between them. */
function createGroups(text: string, edits: Edit[]) {
  const last = new Int32Array(128).fill(-MAX_GROUP - 2);
  const steps = new Int32Array(128);
  /** Where the run of a sign begins. */
  const first = new Int32Array(128);
  const end = (sign: number): void => {
    const step = steps[sign] ?? 0;
    if (step === 0) return;
    const from = first[sign] ?? 0;
    const to = last[sign] ?? 0;
    const signs = (to - from) / step + 1;
    // Words and numbers of one length are more frequent than what is encoded.
    const isRun =
      signs >= MIN_SIGNS_OF_GROUPS ||
      (signs > 1 && step >= ENCODED && isEncoded(text, from, to, step));
    const edit = isRun ? editOf(text, from, to, step) : undefined;
    if (edit !== undefined) edits.push(edit);
  };
  return {
    see(sign: number, at: number): void {
      const before = last[sign] ?? 0;
      const step = at - before;
      if (step !== steps[sign]) {
        end(sign);
        steps[sign] = step > 2 && step <= MAX_GROUP + 1 ? step : 0;
        first[sign] = before;
      }
      last[sign] = at;
    },
    end(): void {
      for (let sign = 0; sign < 128; sign++) end(sign);
    },
  };
}

/** Whether all between two signs and their like is letters of both cases, and digits. */
function isEncoded(text: string, first: number, last: number, step: number): boolean {
  let upper = false;
  let lower = false;
  let digit = false;
  for (let at = Math.max(0, first - step + 1); at < last; at++) {
    const code = text.charCodeAt(at);
    if (NAMED[code] !== 1) {
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

/** Whether a third of the groups is no word and no number: words of one length stand in all texts. */
function hasMixedGroups(text: string, first: number, last: number, step: number): boolean {
  let mixed = 0;
  for (let at = first - step; at <= last; at += step) {
    if (/[a-z][A-Z0-9]|[A-Z][0-9]|[0-9][A-Za-z]/.test(text.slice(at + 1, at + step))) mixed++;
  }
  const groups = (last - first) / step + 2;
  if (mixed * 3 >= groups) return true;
  const beginning = text.slice(Math.max(0, first - step), first + 3 * step);
  return KEY.test(beginning.replaceAll(text[first] ?? '', ''));
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

const NAMED = new Uint8Array(128);
for (const sign of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789') {
  NAMED[sign.charCodeAt(0)] = 1;
}
const isNamed = (code: number): boolean => NAMED[code] === 1;

function isInWord(text: string, at: number): boolean {
  return isNamed(text.charCodeAt(at - 1)) && isNamed(text.charCodeAt(at));
}
