/**
 * The strings that stand in a text one after another, as in code or JSON. Read by loops over the
 * places where one may begin: an expression would look at every character, and remember many.
 */
import type { Piece } from './split.ts';

/** Characters of a string, or pairs with a backslash. */
const MAX_STRING = 400;
/** Characters of a bare value behind its first. */
const MAX_BARE = 200;
/** Spaces between a sign and its value. */
const MAX_SPACES = 2;
/** Between two strings that belong together. */
const MAX_BETWEEN = 100;

const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const GRAVE = 0x60;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const SPACE = 0x20;
const COLON = 0x3a;
const EQUALS = 0x3d;

/** What may stand in a bare value: 2 at its beginning too. */
const BARE = new Uint8Array(128);
for (const sign of '_.-=') BARE[sign.charCodeAt(0)] = 1;
for (const sign of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') {
  BARE[sign.charCodeAt(0)] = 2;
}
const BARE_END = /[\s,;&)}\]]/;

/** What stands between two strings that belong together, keys of JSON included. */
const BETWEEN =
  /^\s{0,40}(?:[+.&|,;~\\)}\]([{]|\.\.|\|\||<>|<<|and|then)?[\s)}\]([{\\]{0,40}(?:(?:["']?[A-Za-z_$][\w$.\- \]["']{0,40}["']?\s{0,3}(?:=>|\+=|[:=]))\s{0,8})?$/;

/**
 * Strings in double quotes and bare values behind a sign, then strings in other quotes.
 *
 * @param take gets one after another: a text of megabytes has too many to keep them all
 */
export function eachLiteral(text: string, take: (piece: Piece) => void): void {
  const first = new LiteralGroups(text, 1, take);
  if (text.includes('"') || text.includes('=') || text.includes(':')) {
    eachMark(text, DOUBLE_OR_SIGN, (at, end) => {
      if (text.charCodeAt(at) === QUOTE) {
        return at < end ? -1 : first.add(at, stringEnd(text, at, QUOTE), true);
      }
      let start = at + 1;
      while (start <= at + MAX_SPACES && text.charCodeAt(start) === SPACE) start++;
      if (start < end) return -1;
      if (text.charCodeAt(start) === QUOTE) {
        return first.add(start, stringEnd(text, start, QUOTE), true);
      }
      return first.add(start, bareEnd(text, start), false);
    });
  }
  const second = new LiteralGroups(text, first.last + 1, take);
  if (text.includes("'") || text.includes('`')) {
    eachMark(text, OTHER_QUOTES, (at, end) =>
      at < end ? -1 : second.add(at, stringEnd(text, at, text.charCodeAt(at)), true),
    );
  }
}

/** Characters of ASCII by their code. */
function marksOf(...units: readonly number[]): Uint8Array {
  const marks = new Uint8Array(128);
  for (const unit of units) marks[unit] = 1;
  return marks;
}

const DOUBLE_OR_SIGN = marksOf(QUOTE, EQUALS, COLON);
const OTHER_QUOTES = marksOf(APOSTROPHE, GRAVE);

/** @param read tells where the literal ends that begins at a mark or behind it, or -1 */
function eachMark(
  text: string,
  marks: Uint8Array,
  read: (at: number, end: number) => number,
): void {
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 128 || marks[unit] === 0) continue;
    const next = read(at, end);
    if (next < 0) continue;
    end = next;
    // A sign that ends this one may stand before the next.
    at = end - 2;
  }
}

/** Literals that may belong together have one group. */
class LiteralGroups {
  readonly #text: string;
  readonly #take: (piece: Piece) => void;
  #lastEnd = 0;
  /** The group of the last literal. */
  last: number;

  constructor(text: string, group: number, take: (piece: Piece) => void) {
    this.#text = text;
    this.last = group;
    this.#take = take;
  }

  /** @returns its end; -1 where there is none */
  add(start: number, end: number, isQuoted: boolean): number {
    if (end < 0) return -1;
    // A key of JSON is no piece; it may stand between two.
    if (isQuoted && this.#isKeyEnd(end)) return end;
    const isFar = start - this.#lastEnd > MAX_BETWEEN;
    if (isFar || !BETWEEN.test(this.#text.slice(this.#lastEnd, start))) this.last++;
    const quote = isQuoted ? 1 : 0;
    const text = this.#text.slice(start + quote, end - quote);
    this.#take({ text, start: start + quote, group: this.last, label: '' });
    this.#lastEnd = end;
    return end;
  }

  #isKeyEnd(end: number): boolean {
    let at = end;
    while (at < end + 3 && isSpace(this.#text.charCodeAt(at))) at++;
    return this.#text.charCodeAt(at) === COLON;
  }
}

/** Where a string ends that begins with a quote, the quote behind it included; -1 for none. */
function stringEnd(text: string, start: number, quote: number): number {
  let at = start + 1;
  for (let count = 0; count <= MAX_STRING; count++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) return at + 1;
    if (unit === LINE_FEED || Number.isNaN(unit)) return -1;
    if (unit === BACKSLASH && quote !== GRAVE) {
      at++;
      if (isLineEnd(text.charCodeAt(at))) return -1;
    }
    at++;
  }
  return -1;
}

function bareEnd(text: string, start: number): number {
  if (bareSort(text.charCodeAt(start)) !== 2) return -1;
  let end = start + 1;
  while (end <= start + MAX_BARE && bareSort(text.charCodeAt(end)) > 0) end++;
  if (end === start + 1) return -1;
  return end === text.length || BARE_END.test(text[end] as string) ? end : -1;
}

const bareSort = (unit: number): number => (unit < 128 ? (BARE[unit] as number) : 0);

const SPACES = /\s/;

function isSpace(unit: number): boolean {
  if (unit < 128) return unit === SPACE || (unit >= 0x09 && unit <= 0x0d);
  return SPACES.test(String.fromCharCode(unit));
}

/** What a dot of an expression does not match, and the end of the text. */
function isLineEnd(unit: number): boolean {
  return !(unit >= 0) || unit === LINE_FEED || unit === 0x0d || unit === 0x2028 || unit === 0x2029;
}
