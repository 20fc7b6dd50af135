/**
 * JSON without room for two readings. What one parser takes for a value and another for a
 * different one (a duplicate key, an integer past 2^53, a lone surrogate, `__proto__`) is refused,
 * so that a value that was judged and then serialised again is the value everyone else reads. Every
 * token is bounded before anything is computed over it, so that no text costs more than linear time.
 * Proven by strict-json.test.ts: an accepted text parses to the same value after a round trip.
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
export const MAX_NUMBER_LENGTH = 40;

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
  /** Objects and arrays around a value, at most. */
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
  // Only an escape can still make a lone surrogate.
  const escapes = text.includes('\\u');
  // A valid text has one colon outside strings for each member, and JSON.parse keeps the last of
  // equal keys: fewer members than colons is a duplicate.
  if (walk(value, escapes) !== members) throw new StrictJsonError('duplicate_key');
  return value;
}

function decode(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new StrictJsonError('utf8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Counts the members, bounds the depth and checks the numbers; the grammar is JSON.parse's part. */
function scan(text: string, options: StrictJsonOptions): number {
  const { maxDepth, maxNodes, memberSpans } = options;
  const exact = options.numbers !== 'any';
  const length = text.length;
  let members = 0;
  let depth = 0;
  let nodes = 0;
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
      i = end - 1;
    }
  }
  return members;
}

/** The index of the closing quote. */
function endOfString(text: string, start: number): number {
  // Most strings are short, where a search costs more than a few steps.
  const near = Math.min(start + 24, text.length);
  let i = start;
  while (i < near) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) return i;
    i += c === BACKSLASH ? 2 : 1;
  }
  for (;;) {
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

/** Digits, and what else stands in a number: `.`, `e`, `E`, `+` and `-`. NaN is none of them. */
function isOfNumber(c: number): boolean {
  return (
    (c >= 0x30 && c <= 0x39) || c === 0x2e || c === 0x65 || c === 0x45 || c === 0x2b || c === 0x2d
  );
}

const PLAIN = /^-?\d{1,12}(?:\.\d{0,12})?$/;

/** Refuses a number that a double does not carry. */
function checkNumber(text: string, start: number, end: number): void {
  // A double carries any whole number of up to 15 digits.
  if (end - start <= 15 && isDigits(text, start, end)) return;
  const token = text.slice(start, end);
  // And any decimal of up to 15.
  if (token.length <= 15 && PLAIN.test(token)) return;
  const value = Number(token);
  // No number by JSON's grammar: JSON.parse will say so.
  if (Number.isNaN(value)) return;
  const exact = isDigits(text, start, end)
    ? Number.isSafeInteger(value)
    : Number.isFinite(value) &&
      // As most writers write it; only others have to be compared digit by digit.
      (token === String(value) || normalise(token) === normalise(String(value)));
  if (!exact) throw new StrictJsonError('number');
}

/** Whether all of it but a sign are digits. */
function isDigits(text: string, start: number, end: number): boolean {
  for (let i = text.charCodeAt(start) === 0x2d ? start + 1 : start; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x30 || c > 0x39) return false;
  }
  return true;
}

/**
 * A decimal without sign, leading and trailing zeros: equal texts are equal magnitudes. Of a token
 * that is bounded: the expressions look at a run of zeros once from each of its places.
 */
function normalise(token: string): string {
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
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
