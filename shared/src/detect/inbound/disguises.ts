/**
 * Disguised texts within a text: base64, hex, escapes, invisible tags, spaced letters, reversed,
 * rot13. All of it is decoded, whatever stands before it: each reading is at most as long as the
 * text, and so the cost is linear.
 */

import { rot13 } from '../rot13.ts';
import { asciiOfTag, IDEOGRAPH, KIND_OF, OTHER_LETTER } from './characters.ts';
import type { Reading } from './reading.ts';
import { ESCAPE, TAG } from './signs.ts';

export interface Unveiled {
  readonly text: string;
  /** Where the disguised passage stands. */
  readonly start: number;
  readonly length: number;
  readonly how: 'base64' | 'hex' | 'escapes' | 'tags' | 'apart' | 'reversed' | 'rot13';
}

const MIN_ENCODED = 20;
/** Shorter texts cannot contain an instruction. */
const MIN_DECODED = 8;

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
  { spelled, isBackwards, isRot13 }: Reading,
): readonly Unveiled[] {
  const firstRun = nextRun(units, text.length, 0);
  const isTurned = isBackwards || isRot13;
  if (firstRun < 0 && (signs & (ESCAPE | TAG)) === 0 && spelled.length === 0 && !isTurned) {
    return NOTHING;
  }
  const found: Unveiled[] = [];
  const add = (decoded: string, start: number, length: number, how: Unveiled['how']) => {
    if (decoded.length >= MIN_DECODED) found.push({ text: decoded, start, length, how });
  };
  addEncoded(text, units, firstRun, add);
  if ((signs & ESCAPE) !== 0) addEscaped(text, add);
  if ((signs & TAG) !== 0) add(readTags(text), 0, text.length, 'tags');
  for (const { start, end } of spelled) {
    add(joinLetters(text.slice(start, end)), start, end - start, 'apart');
  }
  if (isTurned) {
    const lower = text.toLowerCase();
    if (isBackwards) add([...lower].reverse().join(''), 0, text.length, 'reversed');
    if (isRot13) add(rot13(lower), 0, text.length, 'rot13');
  }
  return found;
}

type Add = (decoded: string, start: number, length: number, how: Unveiled['how']) => void;

/** Runs in the alphabet of base64 or hex. */
function addEncoded(text: string, units: Uint16Array, firstRun: number, add: Add): void {
  const { length } = text;
  for (let start = firstRun; start >= 0; ) {
    let end = start + MIN_ENCODED;
    while (end < length && isBase64(units[end] as number)) end += 1;
    decodeRun(text.slice(start, end), start, add);
    start = nextRun(units, length, end + 1);
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

/** Bytes that rule out nearly every run that is not text. */
const SAMPLE = 48;

function decodeRun(whole: string, start: number, add: Add): void {
  const run = whole.startsWith('0x') ? whole.slice(2) : whole;
  const isHex = run.length % 2 === 0 && /^[0-9a-fA-F]+$/.test(run);
  const encoding = isHex ? 'hex' : 'base64';
  const sample = Buffer.from(run.slice(0, isHex ? SAMPLE * 2 : (SAMPLE / 3) * 4), encoding);
  if (!beginsReadable(sample)) return;
  const decoded = readable(Buffer.from(run, encoding));
  if (decoded !== undefined) add(decoded, start, whole.length, encoding);
}

/** Whether bytes may be text: printable characters and spaces. */
function beginsReadable(bytes: Buffer): boolean {
  if (bytes.length < 12) return false;
  let plain = 0;
  for (const byte of bytes) {
    if (byte >= 0x20 ? byte !== 0x7f : byte === 0x0a || byte === 0x09 || byte === 0x0d) plain += 1;
  }
  return plain >= bytes.length * 0.97;
}

/** The text in bytes, if it is one: valid UTF-8, mostly letters and spaces. */
function readable(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  let letters = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0xfffd) return undefined;
    const kind = KIND_OF[unit] as number;
    if (unit === 0x20 || (kind > 0 && kind <= OTHER_LETTER) || kind === IDEOGRAPH) letters += 1;
  }
  return letters >= text.length * 0.8 ? text : undefined;
}

/** A text with many `%20`, `&#105;` or `\u0069` is also read with these decoded. */
function addEscaped(text: string, add: Add): void {
  const percents = countUpTo(text, '%', 6);
  const entities = countUpTo(text, '&#', 6);
  const escapes = countUpTo(text, '\\u', 6) + countUpTo(text, '\\x', 6);
  if (percents < 6 && entities < 6 && escapes < 6) return;
  const decoded = text
    .replace(/(?:%[0-9a-fA-F]{2})+/g, (run) =>
      Buffer.from(run.replaceAll('%', ''), 'hex').toString(),
    )
    .replace(/&#(\d{1,7});?|&#x([0-9a-fA-F]{1,6});?/g, (_run, decimal?: string, hex?: string) =>
      character(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)),
    )
    .replace(
      /\\u\{?([0-9a-fA-F]{4,6})\}?|\\x([0-9a-fA-F]{2})/g,
      (_run, four?: string, two?: string) => character(Number.parseInt(four ?? two ?? '', 16)),
    );
  if (decoded !== text) add(decoded, 0, text.length, 'escapes');
}

function character(codePoint: number): string {
  return codePoint > 0 && codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : ' ';
}

function countUpTo(text: string, part: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0 && count < most; at = text.indexOf(part, at + 1)) {
    count += 1;
  }
  return count;
}

function readTags(text: string): string {
  let read = '';
  for (let at = text.indexOf('\udb40'); at >= 0; ) {
    read += asciiOfTag(text.codePointAt(at) ?? 0);
    at = text.indexOf('\udb40', at + 1);
  }
  return read;
}

/** `i g n o r e   a l l`: a wider gap separates words; without one, everything is one word. */
function joinLetters(apart: string): string {
  let joined = '';
  let gap = '';
  for (const letter of apart) {
    const kind = KIND_OF[letter.charCodeAt(0)] as number;
    const isLetter = (kind > 0 && kind <= OTHER_LETTER) || letter.length > 1;
    if (!isLetter) gap += letter;
    else {
      joined += gap.length > 1 ? ` ${letter}` : letter;
      gap = '';
    }
  }
  return joined;
}
