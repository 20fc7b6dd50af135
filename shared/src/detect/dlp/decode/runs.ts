/** Runs of an encoding's alphabet that decode to readable text. */

import { rot13 } from '../../rot13.ts';
import { type Decoded, hexRun, hexText } from './hex.ts';
import { mayBeBase64, mayBeText, PROBE } from './probe.ts';
import {
  createInflate,
  type Inflate,
  mayBeCompressed,
  textOfBytes,
  textsAmongBytes,
} from './readable.ts';
import { type Edit, PART_END, reversed } from './view.ts';

/** Minimum length of a run. */
const SHORTEST = 12;
/** Minimum length of a line that continues in the next. */
const SHORTEST_LINE = 40;
/** Maximum number of blanks at the beginning of a line. */
const MAX_BLANKS = 8;
const EQUALS = 0x3d;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const BACKSLASH = 0x5c;
const SMALL_N = 0x6e;
const ZERO = 0x30;
const SMALL_X = 0x78;

/**
 * Encoded runs in a text; only those that decode to readable text.
 *
 * @param units of the text (../../units.ts)
 */
export function encodedRuns(
  text: string,
  units: Uint16Array,
  inflate: Inflate = createInflate(),
): Edit[] {
  const edits: Edit[] = [];
  const { length } = text;
  let from = 0;
  // Up to here, short lines were not one run.
  let apartUntil = 0;
  for (let at = nextRun(units, length, 0); at >= 0; at = nextRun(units, length, from)) {
    // The padding of a reversed run.
    let start = at;
    while (start > from && at - start < 2 && units[start - 1] === EQUALS) start--;
    // After a name the sign is an assignment: `key=QUtJ…`.
    if (start < at && /[A-Za-z0-9)\]]/.test(text[start - 1] ?? '')) start = at;
    const run = readRun(text, units, at, at < apartUntil ? SHORTEST_LINE : SHORTEST);
    from = run.end;
    const sorts = start < at ? OTHER : run.sorts;
    const mayBe = run.hasShortLines || mayDecode(units, start, from, sorts);
    if ((mayBe && mayBeEncoded(sorts)) || isMarkedHex(units, at)) {
      const decoded = decodeAgain(decodeRun(text.slice(start, from), inflate), inflate);
      if (decoded) edits.push({ start, end: from, ...decoded });
      else if (run.hasShortLines) [from, apartUntil] = [at, run.end];
    } else if (run.hasShortLines) [from, apartUntil] = [at, run.end];
  }
  return edits;
}

/** Kinds of characters in a run. */
const DIGIT = 1;
const SMALL_HEX = 2;
const LARGE_HEX = 4;
const SMALL = 8;
const LARGE = 16;
const SIGN = 32;
/** A character of the URL-safe alphabet. */
const URL_SIGN = 64;
const SORTS: readonly [string, number][] = [
  ['0123456789', DIGIT],
  ['abcdef', SMALL_HEX],
  ['ABCDEF', LARGE_HEX],
  ['ghijklmnopqrstuvwxyz', SMALL],
  ['GHIJKLMNOPQRSTUVWXYZ', LARGE],
  ['+/', SIGN],
  ['_-', URL_SIGN],
];
/** Not part of a run, but allowed between its lines and after it. */
const OTHER = 128;
const SORT_OF = new Uint8Array(128).fill(OTHER);
for (const [signs, sort] of SORTS) {
  for (const sign of signs) SORT_OF[sign.charCodeAt(0)] = sort;
}

function sortOf(unit: number): number {
  return unit < 128 ? (SORT_OF[unit] as number) : OTHER;
}

/** The kinds of the characters of a text. */
export function sortsIn(text: string): number {
  let sorts = 0;
  for (let at = 0; at < text.length; at++) sorts |= sortOf(text.charCodeAt(at));
  return sorts;
}

/** Whether a character may be part of an encoded run. */
export function isInRun(text: string, at: number): boolean {
  return sortOf(text.charCodeAt(at)) !== OTHER;
}

interface Run {
  readonly end: number;
  readonly sorts: number;
  readonly hasShortLines: boolean;
}

/**
 * The end of the run that begins there, padding included, and the kinds of its characters. The run
 * may be wrapped over lines, as in mails; lines of fewer than `SHORTEST_LINE` are of one length.
 * Read by loops, since an expression remembers each character of a run of megabytes.
 *
 * @param shortest minimum length of a line that may continue
 */
function readRun(text: string, units: Uint16Array, from: number, shortest: number): Run {
  let line = from;
  let lastEnd = from;
  let sorts = 0;
  let fullSorts = 0;
  let columns = 0;
  let lines = 0;
  while (true) {
    let end = line;
    let sort = sortOf(units[end] as number);
    while (sort < URL_SIGN) {
      sorts |= sort;
      end++;
      sort = sortOf(units[end] as number);
    }
    if (line === from) columns = end - line;
    const isFull = columns >= SHORTEST_LINE ? end - line >= SHORTEST_LINE : end - line === columns;
    const next = isFull && columns >= shortest ? nextLine(text, end) : -1;
    if (next >= 0) {
      [lastEnd, fullSorts] = [end, sorts];
      line = next;
      lines++;
      continue;
    }
    while (sort < OTHER) {
      sorts |= sort;
      end++;
      sort = sortOf(units[end] as number);
    }
    const hasShortLines = lines > 0 && columns < SHORTEST_LINE;
    const padded = paddingEnd(text, end);
    // What follows the last full line may not be part of the run.
    // In `DEBUG=0` on the next line the sign is no padding.
    const isPadded = padded > end && !isInRun(text, padded);
    const isRest = lines > 0 && (isPadded || (lines > 1 && mayBeRest(text.slice(line, end))));
    const isLast = hasShortLines
      ? end - line === columns || (end - line < columns && isRest)
      : end - line >= SHORTEST || isRest;
    const last = isLast ? padded : lastEnd;
    if (!isLast) sorts = fullSorts;
    const isOther = (lines > 0 && !hasShortLines) || (isLast && padded > end);
    return {
      end: last,
      sorts: isOther ? sorts | OTHER : sorts,
      hasShortLines: hasShortLines && last > from + columns,
    };
  }
}

/** Whether the end of a run may be a short last line, and not the word that follows. */
const mayBeRest = (line: string): boolean => /^.{0,99}(?:[\d+/]|[a-z][A-Z])/.test(line);

/** What stands before the lines of quoted mails and in tables. */
const isBeforeLine = (sign: string | undefined): boolean =>
  sign === ' ' || sign === '\t' || sign === '>' || sign === '|';

/** Where the next line begins if one ends here, or -1. The line end may be an escape. */
function nextLine(text: string, lineEnd: number): number {
  const end = text.startsWith(' |', lineEnd) ? lineEnd + 2 : lineEnd;
  const first = text.charCodeAt(end);
  let at = end + 1;
  if (first === RETURN || first === BACKSLASH) {
    if (text.charCodeAt(at) !== (first === RETURN ? LINE_FEED : SMALL_N)) return -1;
    at++;
  } else if (first !== LINE_FEED) return -1;
  const last = at + MAX_BLANKS;
  while (at < last && isBeforeLine(text[at])) at++;
  return at;
}

function paddingEnd(text: string, end: number): number {
  for (const sign of ['=', '%3D']) {
    if (!text.startsWith(sign, end)) continue;
    const second = end + sign.length;
    return text.startsWith(sign, second) ? second + sign.length : second;
  }
  return end;
}

/** Whether a run is hex, or mixes cases or digits like text in base64: a word does not. */
function mayBeEncoded(sorts: number): boolean {
  if ((sorts & OTHER) !== 0) return true;
  // Hex in rot13.
  if (sorts === (SMALL | DIGIT)) return true;
  const hasLarge = (sorts & (LARGE | LARGE_HEX)) !== 0;
  const hasOthers = (sorts & (SMALL | SMALL_HEX | DIGIT)) !== 0;
  // Base32 without a digit.
  if (sorts === (LARGE | LARGE_HEX)) return true;
  return (hasLarge && hasOthers) || (sorts & (SMALL | LARGE | SIGN | URL_SIGN)) === 0;
}

/** `0x414b49`. */
function isMarkedHex(units: Uint16Array, at: number): boolean {
  return units[at] === ZERO && ((units[at + 1] as number) | 0x20) === SMALL_X;
}

/** Digits after a run's last sign that are read on their own, and how much may precede it. */
const SHORTEST_TAIL = 16;
const MAX_GROWN = 60;
/** Shorter runs are not read from their second, third or fourth digit. */
const SHORTEST_SHIFTED = 19;

/**
 * Whether `decodeRun` may find anything. If not, the run is not even copied; most runs in plain
 * text and code are names and dates.
 */
export function mayDecode(units: Uint16Array, start: number, end: number, sorts: number): boolean {
  const length = end - start;
  const hasDigits = (sorts & DIGIT) !== 0;
  if ((sorts & OTHER) !== 0 || (hasDigits && length >= MIN_BYTES)) return true;
  const hasSigns = (sorts & (SIGN | URL_SIGN)) !== 0;
  const hasHex = (sorts & (SMALL_HEX | LARGE_HEX)) !== 0;
  const hasSmall = (sorts & (SMALL | SMALL_HEX)) !== 0;
  const hasLarge = (sorts & (LARGE | LARGE_HEX)) !== 0;
  // Hex, hex in rot13, base32.
  if (!hasSigns && ((sorts & (SMALL | LARGE)) === 0 || !hasHex || !hasSmall)) return true;
  if (!hasLarge || !(hasSmall || hasDigits)) return false;
  if (mayBeBase64(units, start, end) || mayBeginCompressed(units[start] as number)) return true;
  if (hasSigns && mayHaveTail(units, start, end)) return true;
  if (length < SHORTEST_SHIFTED || !hasDigits) return false;
  for (let by = 1; by < 4; by++) if (mayBeText(units, start + by, end)) return true;
  return false;
}

/** `H4sI` for gzip, `eJ` and similar for zlib. */
const mayBeginCompressed = (unit: number): boolean => unit === 0x48 || unit === 0x65;

function mayHaveTail(units: Uint16Array, start: number, end: number): boolean {
  let at = end - 1;
  while (at > start && !isTailSign(units[at] as number)) at--;
  if (at === start || end - at < SHORTEST_TAIL) return false;
  return mayBeText(units, at + 1, end);
}

const isTailSign = (unit: number): boolean => unit === 0x2f || unit === 0x2d || unit === 0x5f;

/**
 * Where the next run begins, or -1. A run includes the last of every twelve places that it covers,
 * so most characters of plain text are not looked at; an expression took ten times as long.
 */
function nextRun(units: Uint16Array, length: number, from: number): number {
  let at = from;
  while (at + SHORTEST <= length) {
    let place = at + SHORTEST - 1;
    while (place >= at && sortOf(units[place] as number) !== OTHER) place--;
    if (place < at) return at;
    at = place + 1;
  }
  return -1;
}

/** What a run decodes to; undefined if that is not text. */
export function decodeRun(run: string, inflate: Inflate): Decoded | undefined {
  const compact = run
    .replace(/%3D/g, '=')
    .replace(/\\n|[\r\n \t>|]/g, '')
    .replace(/^0[xX](?=[0-9a-fA-F]{12,}$)/, '');
  if (/^[0-9a-fA-F]+$/.test(compact)) {
    const plain = hexRun(compact, inflate);
    if (plain !== undefined) return plain;
    const turned = hexText(reversed(compact));
    if (turned !== undefined && /[a-zA-Z]{3}|\d{6}/.test(turned)) {
      return { replacement: turned, disguise: ['reversed', 'hex'] };
    }
  }
  // The letters of hex in rot13.
  if (/^[0-9n-sN-S]{12,}$/.test(compact)) {
    const plain = hexText(rot13(compact));
    if (plain !== undefined) return { replacement: plain, disguise: ['rot13', 'hex'] };
  }
  const body = compact.replace(/^=+/, '');
  const thirtyTwo = base32(compact);
  // Its digits are those of base64, too, which seldom decode to printed characters only.
  if (thirtyTwo && /^[ -~]+$/.test(thirtyTwo.replacement)) return thirtyTwo;
  // Text in base64 mixes cases and digits; a word or a program's constant does not.
  if (!/[A-Z]/.test(body) || !/[a-z0-9]/.test(body)) return thirtyTwo;
  const direct = base64Text(body);
  if (direct !== undefined) return { replacement: direct, disguise: ['base64'] };
  const inflated = mayBeCompressed(body) ? inflate(Buffer.from(body, 'base64')) : undefined;
  if (inflated !== undefined) return { replacement: inflated, disguise: ['base64', 'compressed'] };
  const turned = base64Text(reversed(compact).replace(/^=+/, ''));
  if (turned !== undefined) return { replacement: turned, disguise: ['reversed', 'base64'] };
  const rotated = base64Text(rot13(body));
  if (rotated !== undefined) return { replacement: rotated, disguise: ['rot13', 'base64'] };
  return thirtyTwo ?? tail(body) ?? shifted(body) ?? amongBytes(body);
}

/** Limit of runs nested in runs, with nothing beside them; each is shorter than its outer one. */
const MAX_WITHIN = 16;

/** The longest value that may pass for a run: a key without spaces. */
const MAX_VALUE = 300;

/**
 * Decodes while nothing but a run is left. A number or a key may decode by chance (16 digits are
 * hex), so that the last run stays beside what it decodes to.
 */
function decodeAgain(decoded: Decoded | undefined, inflate: Inflate): Decoded | undefined {
  let current = decoded;
  let outer: Decoded | undefined;
  for (let i = 0; i < MAX_WITHIN && current !== undefined; i++) {
    const run = current.replacement.trim();
    if (run.length < SHORTEST || !/^=*[A-Za-z0-9+/_-]*=*$/.test(run)) break;
    const within = decodeRun(run, inflate);
    if (within === undefined) break;
    outer = run.length <= MAX_VALUE ? { ...current, replacement: run } : undefined;
    const disguise = [...new Set([...current.disguise, ...within.disguise])];
    current = { replacement: within.replacement, disguise };
  }
  return current && outer ? beside(outer, current) : current;
}

function beside({ replacement: run, disguise }: Decoded, within: Decoded): Decoded {
  const begin = run + PART_END;
  const deeper = { from: begin.length, disguise: within.disguise };
  return { replacement: begin + within.replacement, disguise, deeper };
}

/** Extra characters at the front of a run shift everything after them. */
function shifted(run: string): Decoded | undefined {
  if (run.length < SHORTEST_SHIFTED || !/\d/.test(run)) return undefined;
  for (let by = 1; by < 4; by++) {
    if (textOfBytes(Buffer.from(run.slice(by, by + PROBE), 'base64')) === undefined) continue;
    const text = base64Text(run.slice(by));
    if (text !== undefined) return { replacement: text, disguise: ['base64'] };
  }
  return undefined;
}

/** A shorter run does not contain text among bytes. */
const MIN_BYTES = 24;

function amongBytes(run: string): Decoded | undefined {
  if (run.length < MIN_BYTES || !/\d/.test(run)) return undefined;
  const text = textsAmongBytes(Buffer.from(run, 'base64'));
  return text === undefined ? undefined : { replacement: text, disguise: ['base64'] };
}

/** A prefix such as `key=` or a path may be joined to the run: try after the last sign. */
function tail(run: string): Decoded | undefined {
  const at = Math.max(run.lastIndexOf('/'), run.lastIndexOf('-'), run.lastIndexOf('_'));
  if (at < 1 || run.length - at < SHORTEST_TAIL || at > MAX_GROWN) return undefined;
  const text = base64Text(run.slice(at + 1));
  return text === undefined
    ? undefined
    : { replacement: `${run.slice(0, at + 1)}${text}`, disguise: ['base64'] };
}

function base64Text(run: string): string | undefined {
  let digits = run.replace(/=+$/, '');
  if (digits.length < 12) return undefined;
  // One character too many: the last one holds no byte.
  if (digits.length % 4 === 1) digits = digits.slice(0, -1);
  // The first bytes rule out nearly every run that is not text.
  if (textOfBytes(Buffer.from(digits.slice(0, PROBE), 'base64')) === undefined) return undefined;
  return textOfBytes(Buffer.from(digits, 'base64'));
}

const MIN_BASE32 = 24;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function base32(run: string): Decoded | undefined {
  if (!/^[A-Z2-7]{16,}=*$/.test(run)) return undefined;
  // Shorter ones without a digit are words.
  if (run.length < MIN_BASE32 && !/\d|=$/.test(run)) return undefined;
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of run.replace(/=+$/, '')) {
    value = ((value << 5) | BASE32.indexOf(character)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
    if (bytes.length === 12 && textOfBytes(Buffer.from(bytes)) === undefined) return undefined;
  }
  const text = textOfBytes(Buffer.from(bytes));
  return text === undefined ? undefined : { replacement: text, disguise: ['base32'] };
}
