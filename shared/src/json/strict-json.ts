/**
 * JSON with only one reading. A text that two parsers may read differently (a duplicate key, an
 * integer past 2^53, a lone surrogate, `__proto__`) is refused, so that a value that was judged and
 * then serialised again is the value everyone else reads. Every token is bounded before anything is
 * computed over it, so that no text costs more than linear time. Proven by strict-json.test.ts: an
 * accepted text parses to the same value after a round trip.
 */
import { isUtf8 } from 'node:buffer';

export type StrictJsonReason =
  | 'utf8'
  | 'syntax'
  | 'duplicate_key'
  | 'proto_key'
  | 'number'
  | 'number_length'
  | 'key_length'
  | 'surrogate'
  | 'depth'
  | 'nodes';

/** Characters of a number, at most: sign and digits of a 128-bit integer, or any double. */
const MAX_NUMBER_LENGTH = 40;

/** Characters of a key, at most: as many as a URI may have. */
export const MAX_KEY_LENGTH = 8192;

const MESSAGES: Record<StrictJsonReason, string> = {
  utf8: 'The text is not valid UTF-8.',
  syntax: 'The text is not valid JSON.',
  duplicate_key: 'An object has the same key twice.',
  proto_key: 'The key __proto__ is not accepted.',
  number: 'A number does not survive a round trip through a double: send it as a string.',
  number_length: `A number has more than ${MAX_NUMBER_LENGTH} characters: send it as a string.`,
  key_length: `A key has more than ${MAX_KEY_LENGTH} characters.`,
  surrogate: 'A string has a lone surrogate.',
  depth: 'The text is nested too deeply.',
  nodes: 'The text has too many values and keys.',
};

/** Why a text was refused. The message is safe to show: it quotes nothing of the text. */
export class StrictJsonError extends SyntaxError {
  readonly reason: StrictJsonReason;

  constructor(reason: StrictJsonReason) {
    super(MESSAGES[reason]);
    this.name = 'StrictJsonError';
    this.reason = reason;
  }
}

export interface StrictJsonOptions {
  /** Nesting of objects and arrays, at most. */
  maxDepth: number;
  /**
   * Values and keys in the text, at most (each array, object, comma and colon counts one). A value
   * of two characters costs as much as a long one, so bytes alone bound no work.
   */
  maxNodes: number;
  /**
   * `exact` (default) refuses numbers that a double cannot carry. `any` leaves them, for a reader
   * that passes the text on verbatim.
   */
  numbers?: 'exact' | 'any';
  /** Filled with start and end of each member's value when the text is one object, in its order. */
  memberSpans?: number[];
  /** Receives how the text is written. */
  writing?: JsonWriting;
}

/** How a text is written, as far as a scan sees it. */
export interface JsonWriting {
  /**
   * Set by a parse: no blank outside of strings, no escape, and every number as RFC 8785 writes it.
   * But for the order of keys such a text is canonical. False says nothing.
   */
  isPlain: boolean;
}

/**
 * Parses JSON strictly.
 *
 * @param input a string, or bytes that have to be UTF-8
 * @returns the value; -0 is returned as 0, since that is how it is serialised
 * @throws StrictJsonError, and nothing else
 */
export function parseStrictJson(input: string | Uint8Array, options: StrictJsonOptions): unknown {
  const text = typeof input === 'string' ? input : decode(input);
  if (!text.isWellFormed()) throw new StrictJsonError('surrogate');
  // The order matters: the scan bounds the depth before anything recursive sees the text.
  const members = scan(text, options);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new StrictJsonError('syntax');
  }
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'string') checkText(value);
    return value === 0 ? 0 : value;
  }
  // From here on only an escape can produce a lone surrogate.
  const escapes = text.includes('\\u');
  // A valid text has one colon outside strings for each member, and JSON.parse keeps the last of
  // equal keys: fewer members than colons is a duplicate.
  if (walk(value, escapes) !== members) throw new StrictJsonError('duplicate_key');
  return value;
}

/**
 * Bounds what a parser of any kind would make of a text, in one pass that makes nothing itself.
 * Whether the text is JSON is left to the parser.
 *
 * @throws StrictJsonError when the text nests too deeply, or has too many values and keys
 */
export function checkJsonBounds(
  text: string,
  bounds: Pick<StrictJsonOptions, 'maxDepth' | 'maxNodes'>,
): void {
  scan(text, { ...bounds, numbers: 'any' });
}

function decode(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new StrictJsonError('utf8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const POINT = 0x2e;
const ZERO = 0x30;
const UPPER_E = 0x45;
const LOWER_E = 0x65;

/** Counts the members, bounds the depth and checks the numbers; the grammar is JSON.parse's part. */
function scan(text: string, options: StrictJsonOptions): number {
  const { maxDepth, maxNodes, memberSpans, writing } = options;
  const exact = options.numbers !== 'any';
  const length = text.length;
  let members = 0;
  let depth = 0;
  let nodes = 0;
  let isPlain = writing !== undefined && !text.includes('\\');
  for (let i = 0; i < length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = endOfString(text, i + 1);
    } else if (c === 0x3a) {
      members++;
      if (++nodes > maxNodes) throw new StrictJsonError('nodes');
      if (depth === 1) memberSpans?.push(i + 1);
    } else if (c === 0x2c) {
      if (++nodes > maxNodes) throw new StrictJsonError('nodes');
      if (depth === 1) memberSpans?.push(i);
    } else if (c === 0x7b || c === 0x5b) {
      if (++depth > maxDepth) throw new StrictJsonError('depth');
      if (++nodes > maxNodes) throw new StrictJsonError('nodes');
    } else if (c === 0x7d || c === 0x5d) {
      if (depth-- === 1) memberSpans?.push(i);
    } else if ((c >= 0x30 && c <= 0x39) || c === 0x2d) {
      const end = endOfNumber(text, i);
      if (exact) checkNumber(text, i, end);
      if (isPlain) isPlain = isPlainNumber(text, i, end);
      i = end - 1;
    } else if (c <= SPACE) {
      isPlain = false;
    }
  }
  if (writing) writing.isPlain = isPlain;
  return members;
}

/** Whether RFC 8785 writes the number this way. */
function isPlainNumber(text: string, start: number, end: number): boolean {
  // JSON.parse refuses leading zeros.
  if (text.charCodeAt(start) !== 0x2d && end - start <= 15 && isDigits(text, start, end)) {
    return true;
  }
  const token = text.slice(start, end);
  return String(Number(token)) === token;
}

/** Single steps before a search, which costs more than a few of them. */
const STEPS = 24;

/** The index of the closing quote. */
function endOfString(text: string, start: number): number {
  let i = start;
  for (;;) {
    const near = Math.min(i + STEPS, text.length);
    while (i < near) {
      const c = text.charCodeAt(i);
      if (c === QUOTE) return i;
      i += c === BACKSLASH ? 2 : 1;
    }
    const end = text.indexOf('"', i);
    if (end < 0) throw new StrictJsonError('syntax');
    let slashes = end - 1;
    while (slashes >= i && text.charCodeAt(slashes) === BACKSLASH) slashes--;
    if ((end - slashes) % 2 === 1) return end;
    i = end + 1;
  }
}

/** The index after the number at `start`. */
function endOfNumber(text: string, start: number): number {
  const limit = start + MAX_NUMBER_LENGTH;
  let end = start + 1;
  for (; isOfNumber(text.charCodeAt(end)); end++) {
    if (end === limit) throw new StrictJsonError('number_length');
  }
  return end;
}

/**
 * Digits, and the other characters of a number: `.`, `e`, `E`, `+` and `-`. NaN is not one of them.
 */
function isOfNumber(c: number): boolean {
  return (
    (c >= 0x30 && c <= 0x39) || c === 0x2e || c === 0x65 || c === 0x45 || c === 0x2b || c === 0x2d
  );
}

/** Refuses a number that a double cannot represent. Most are decided by their digits alone. */
function checkNumber(text: string, start: number, end: number): void {
  const isWhole = isDigits(text, start, end);
  // A double represents any whole number of up to 15 digits, and any decimal of as many significant
  // digits.
  if (isWhole ? end - start <= 15 : isShortDecimal(text, start, end)) return;
  const token = text.slice(start, end);
  const value = Number(token);
  // Not a number by JSON's grammar: JSON.parse will report it.
  if (Number.isNaN(value)) return;
  const isExact = isWhole
    ? Number.isSafeInteger(value)
    : Number.isFinite(value) && isSameMagnitude(token, String(value));
  if (!isExact) throw new StrictJsonError('number');
}

/** Whether at most 15 digits are significant, and the exponent is far from a double's limits. */
function isShortDecimal(text: string, start: number, end: number): boolean {
  let digits = 0;
  let zeros = 0;
  for (let i = start; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c === LOWER_E || c === UPPER_E) return digits <= 15 && end - i <= 3;
    if (c === ZERO) zeros++;
    else if (isDigit(c)) {
      digits += digits === 0 ? 1 : zeros + 1;
      zeros = 0;
    }
  }
  return digits <= 15;
}

/** Whether everything except a sign is digits. */
function isDigits(text: string, start: number, end: number): boolean {
  for (let i = text.charCodeAt(start) === 0x2d ? start + 1 : start; i < end; i++) {
    if (!isDigit(text.charCodeAt(i))) return false;
  }
  return true;
}

/** Whether two decimals are equal except for their sign, however they are written. */
function isSameMagnitude(a: string, b: string): boolean {
  if (a === b) return true;
  const endA = endOfMantissa(a);
  const endB = endOfMantissa(b);
  let i = firstThatCounts(a, endA);
  let j = firstThatCounts(b, endB);
  if (i === endA || j === endB) return i === endA && j === endB;
  if (powerOf(a, i, endA) !== powerOf(b, j, endB)) return false;
  for (; i < endA || j < endB; i++, j++) {
    if (a.charCodeAt(i) === POINT) i++;
    if (b.charCodeAt(j) === POINT) j++;
    if ((i < endA ? a.charCodeAt(i) : ZERO) !== (j < endB ? b.charCodeAt(j) : ZERO)) return false;
  }
  return true;
}

/** Where the exponent begins, or the end. */
function endOfMantissa(token: string): number {
  let end = 0;
  for (; end < token.length; end++) {
    const c = token.charCodeAt(end);
    if (c === LOWER_E || c === UPPER_E) break;
  }
  return end;
}

/** The index of the first non-zero digit, or `end`. */
function firstThatCounts(token: string, end: number): number {
  let i = 0;
  while (i < end && (token.charCodeAt(i) === ZERO || !isDigit(token.charCodeAt(i)))) i++;
  return i;
}

/** The power of ten of the digit at `first`. */
function powerOf(token: string, first: number, end: number): number {
  const found = token.indexOf('.');
  const point = found < 0 ? end : found;
  const exponent = end === token.length ? 0 : Number(token.slice(end + 1));
  return exponent + point - first - (first < point ? 1 : 0);
}

function isDigit(c: number): boolean {
  return c >= ZERO && c <= 0x39;
}

/** Counts the members of a parsed value, and refuses what only the value shows. */
function walk(value: object, escapes: boolean): number {
  if (Array.isArray(value)) {
    let members = 0;
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i];
      if (typeof item === 'object') {
        if (item !== null) members += walk(item, escapes);
      } else if (item === 0) value[i] = 0;
      else if (escapes && typeof item === 'string') checkText(item);
    }
    return members;
  }
  const fields = value as Record<string, unknown>;
  let members = 0;
  for (const key in fields) {
    if (key === '__proto__') throw new StrictJsonError('proto_key');
    if (key.length > MAX_KEY_LENGTH) throw new StrictJsonError('key_length');
    if (escapes) checkText(key);
    members++;
    const item = fields[key];
    if (typeof item === 'object') {
      if (item !== null) members += walk(item, escapes);
    } else if (item === 0) fields[key] = 0;
    else if (escapes && typeof item === 'string') checkText(item);
  }
  return members;
}

function checkText(text: string): void {
  if (!text.isWellFormed()) throw new StrictJsonError('surrogate');
}
