/**
 * Disguised texts within a text: base64, hex, escapes, invisible tags, spaced letters, reversed,
 * rot13. All of it is decoded, whatever stands before it: each reading is at most as long as the
 * text, and so the cost is linear.
 */

import { foldedCharacters } from '../dlp/decode/characters.ts';
import { escapes } from '../dlp/decode/escapes.ts';
import { codeLists } from '../dlp/decode/lists.ts';
import { createInflate } from '../dlp/decode/readable.ts';
import { encodedRuns } from '../dlp/decode/runs.ts';
import { applyEdits, type Edit } from '../dlp/decode/view.ts';
import { rot13 } from '../rot13.ts';
import { byteOfInvisible, IDEOGRAPH, KIND_OF, OTHER_LETTER } from './characters.ts';
import { readEscapedLetters, readInvisibleBits, readMorse } from './codes.ts';
import type { Reading } from './reading.ts';
import { ESCAPE, TAG } from './signs.ts';

export interface Unveiled {
  readonly text: string;
  /** Where the disguised passage stands. */
  readonly start: number;
  readonly length: number;
  readonly how:
    | 'base64'
    | 'hex'
    | 'escapes'
    | 'tags'
    | 'apart'
    | 'reversed'
    | 'rot13'
    | 'letters'
    | 'code';
  /**
   * Whether nobody writes an honest text so. Files and mails come in base64, code has hex and
   * escapes, and some languages mix alphabets.
   */
  readonly isVeiled: boolean;
}

const MIN_ENCODED = 20;
/** Shorter texts cannot contain an instruction. */
const MIN_DECODED = 8;
/** A heading is spelled with spaces, and a puzzle's word turned; a sentence is longer. */
const MIN_VEILED = 24;
/** A longer line is prose without breaks, of which a sentence backwards is the least part. */
const MAX_LINE = 4_096;

const NOTHING: readonly Unveiled[] = [];

/**
 * @param units of the text (../units.ts)
 * @param signs in the text (signs.ts)
 * @param reading of the text: its spaced letters and transformed words
 */
export function findDisguised(
  text: string,
  units: Uint16Array,
  signs: number,
  { spelled, isBackwards, isRot13, isOdd, holdsCodes }: Reading,
): readonly Unveiled[] {
  const firstRun = nextRun(units, text.length, 0);
  const isSentence = holdsBackwardsLine(text, units);
  const isTurned = isBackwards || isSentence || isRot13;
  const coded = [...readMorse(text), ...readInvisibleBits(text)];
  const isWritten = firstRun < 0 && (signs & (ESCAPE | TAG)) === 0 && spelled.length === 0;
  if (isWritten && !isTurned && !isOdd && !holdsCodes && coded.length === 0) return NOTHING;
  const found: Unveiled[] = [];
  const add: Add = (decoded, start, length, how, isVeil = false) => {
    const isVeiled = isVeil && (how === 'code' || decoded.length >= MIN_VEILED);
    if (decoded.length >= MIN_DECODED) found.push({ text: decoded, start, length, how, isVeiled });
  };
  for (const { text, start, length } of coded) {
    if (isReadable(text)) add(text, start, length, 'code', true);
  }
  if (firstRun >= 0 || holdsCodes) addEncoded(text, units, holdsCodes, add);
  if ((signs & ESCAPE) !== 0) addEscaped(text, add);
  if ((signs & TAG) !== 0) add(readTags(text), 0, text.length, 'tags', true);
  for (const { start, end } of spelled) {
    add(joinLetters(text.slice(start, end)), start, end - start, 'apart', true);
  }
  if (isOdd) add(unfolded(text, units), 0, text.length, 'letters', INTERLEAVED.test(text));
  if (isTurned) {
    const lower = text.toLowerCase();
    if (isBackwards || isSentence) {
      const isSure = isSentence || !WIDE_LETTER.test(text);
      add([...lower].reverse().join(''), 0, text.length, 'reversed', isSure);
    }
    if (isRot13) add(rot13(lower), 0, text.length, 'rot13', true);
  }
  return found;
}

type Add = (
  decoded: string,
  start: number,
  length: number,
  how: Unveiled['how'],
  isVeil?: boolean,
) => void;

/** Runs in the alphabets of base64, base32 or hex, also over several lines, and codes of characters. */
function addEncoded(text: string, units: Uint16Array, holdsCodes: boolean, add: Add): void {
  const inflate = createInflate();
  addReadable(encodedRuns(text, units, inflate), add);
  if (holdsCodes) addReadable(codeLists(text, inflate), add);
}

/** Files and programs bring text in base64 and in hex, but hardly in these. */
const OF_NO_FILE: ReadonlySet<string> = new Set(['base32', 'binary', 'char_codes']);

function addReadable(edits: readonly Edit[], add: Add): void {
  for (const { start, end, replacement, disguise } of edits) {
    if (isReadable(replacement)) {
      const isCode = disguise.some((one) => OF_NO_FILE.has(one));
      const how = disguise.includes('base64') ? 'base64' : isCode ? 'code' : 'hex';
      add(replacement, start, end - start, how, isCode);
    }
  }
}

/**
 * Where the next run begins, or -1. A run includes the last of every twenty places that it covers,
 * so that most characters of plain text are not looked at.
 */
function nextRun(units: Uint16Array, length: number, from: number): number {
  let start = from;
  while (start + MIN_ENCODED <= length) {
    let at = start + MIN_ENCODED - 1;
    while (at >= start && isBase64(units[at] as number)) at -= 1;
    if (at < start) return start;
    start = at + 1;
  }
  return -1;
}

const BASE64 = new Uint8Array(128);
for (const sign of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-') {
  BASE64[sign.charCodeAt(0)] = 1;
}

/** Whether a character is of the alphabets of base64, which include those of hex. */
export function isBase64(unit: number): boolean {
  return unit < 128 && BASE64[unit] === 1;
}

/** Whether what was decoded is a text: mostly letters and spaces. */
function isReadable(text: string): boolean {
  let letters = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const kind = KIND_OF[unit] as number;
    if (unit === 0x20 || (kind > 0 && kind <= OTHER_LETTER) || kind === IDEOGRAPH) letters += 1;
  }
  return letters >= text.length * 0.6;
}

/** A text with many `%20`, `&#105;`, `\u0069`, `\151` or `=69` is also read with these decoded. */
function addEscaped(text: string, add: Add): void {
  const isEscaped =
    countUpTo(text, '%', 6) === 6 ||
    countUpTo(text, '&#', 6) === 6 ||
    countUpTo(text, '\\u', 6) + countUpTo(text, '\\x', 6) >= 6 ||
    countUpTo(text, '\\1', 6) === 6 ||
    (text.includes('=') && /(?:=[2-7C-F][0-9A-F]){6}/.test(text));
  if (!isEscaped) return;
  const edits = escapes(text);
  add(applyEdits(text, edits).text, 0, text.length, 'escapes');
  for (const { text: run, start, length } of readEscapedLetters(text, edits)) {
    add(run, start, length, 'code', true);
  }
}

const DIGITS_FOR: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
};

/** In Latin letters, without invisible characters; `1gn0r3` in letters, too. */
function unfolded(text: string, units: Uint16Array): string {
  const folded = applyEdits(text, foldedCharacters(text, units)).text;
  return folded.replace(/[A-Za-z\d]{2,40}/g, (word) =>
    /[A-Za-z]/.test(word) ? word.replace(/\d/g, (digit) => DIGITS_FOR[digit] ?? digit) : word,
  );
}

/**
 * A line that begins with the sign that ends a sentence, and ends with a capital: a whole sentence
 * backwards, in whatever words. East Asian scripts have no capitals.
 */
const BACKWARDS_LINE =
  /^[ \t"'>*-]{0,8}(?:[。！？]\p{L}|[.!?]\p{L}[^\n]{20,4000}\p{Lu}["']?[ \t\r]{0,8}(?:\n|$))/u;
/** All that such a line begins with. */
const BEFORE_AN_END = new Set([...' \t"\'>*-.!?。！？'].map((sign) => sign.charCodeAt(0)));

/** Lines are sought by their ends, since most begin with a letter. */
function holdsBackwardsLine(text: string, units: Uint16Array): boolean {
  for (let at = 0; at >= 0 && at < text.length; ) {
    if (BEFORE_AN_END.has(units[at] as number)) {
      if (BACKWARDS_LINE.test(text.slice(at, at + MAX_LINE))) return true;
    }
    const end = text.indexOf('\n', at);
    at = end < 0 ? -1 : end + 1;
  }
  return false;
}

/** Words of scripts without spaces stand backwards by chance, where two others meet. */
const WIDE_LETTER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Letters with an invisible character after each; some languages and long links have single ones. */
const INTERLEAVED = /(?:\p{L}[\u200b-\u200d\u2060\ufeff]){5}/u;

function countUpTo(text: string, part: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0 && count < most; at = text.indexOf(part, at + 1)) {
    count += 1;
  }
  return count;
}

/** What tag characters spell, and variation selectors, by which any bytes hide behind one emoji. */
function readTags(text: string): string {
  const bytes: number[] = [];
  for (let at = text.indexOf('\udb40'); at >= 0; at = text.indexOf('\udb40', at + 1)) {
    const byte = byteOfInvisible(text.codePointAt(at) ?? 0);
    if (byte !== undefined) bytes.push(byte);
  }
  return Buffer.from(bytes).toString('utf8');
}

/**
 * `i g n o r e   a l l`: a wider gap separates words, and a space does where other signs separate the
 * letters (`i.g.n.o.r.e a.l.l`); without either, everything is one word.
 */
function joinLetters(apart: string): string {
  const isDotted = /^.[^\s\p{L}\d]/u.test(apart);
  let joined = '';
  let gap = '';
  for (const letter of apart) {
    const kind = KIND_OF[letter.charCodeAt(0)] as number;
    const isLetter = (kind > 0 && kind <= OTHER_LETTER) || letter.length > 1;
    if (!isLetter) gap += letter;
    else {
      const isNext = gap.length > 1 || (isDotted && gap === ' ');
      joined += isNext ? ` ${letter}` : letter;
      gap = '';
    }
  }
  return joined;
}
