/**
 * The strings that follow one another in a text, as in code or JSON. Read by loops over the places
 * where one may begin: an expression would look at every character, and remember many of them.
 */
import { SIGN_WINDOW, signFinder } from '../../engine/sign-finder.ts';
import { createUnitReader } from '../../units.ts';
import type { Piece } from './piece.ts';

/** Characters of a string, or pairs with a backslash. */
const MAX_STRING = 400;
/** Characters of a bare value after its first. */
const MAX_BARE = 200;
/** Spaces between a sign and its value. */
const MAX_SPACES = 2;
/** Before an array. */
const MAX_LABEL = 48;
const ARRAY_LABEL = /([\p{L}_][\p{L}\d_. -]{1,40})["'\\]{0,3} ?[:=] ?$/u;
/** Between two strings that belong together. */
const MAX_BETWEEN = 100;

const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const GRAVE = 0x60;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const SPACE = 0x20;
const BRACKET = 0x5b;
const COLON = 0x3a;
const EQUALS = 0x3d;

/** What a bare value may contain; 2: it may also begin with it. */
const BARE = new Uint8Array(128);
for (const sign of '_.-=') BARE[sign.charCodeAt(0)] = 1;
for (const sign of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') {
  BARE[sign.charCodeAt(0)] = 2;
}
const BARE_END = /[\s,;&)}\]]/;

const unitsOf = createUnitReader();

/**
 * Strings in double quotes and bare values after a sign, then strings in other quotes.
 *
 * @param take receives them one by one: a text of megabytes has too many to keep them all
 */
export function eachLiteral(text: string, take: (piece: Piece) => void): void {
  const marks = marksIn(text);
  const hasFirst = (marks & FIRST) !== 0;
  const hasSecond = (marks & SECOND) !== 0;
  if (marks === 0) return;
  const reader = new LiteralReader(text, take);
  if (hasFirst) reader.read(false);
  if (hasSecond) reader.read(true);
}

/** Whether a text may contain a string or a bare value. */
export function holdsLiterals(text: string): boolean {
  return marksIn(text) !== 0;
}

/** Which of the two kinds of literals a text may contain. */
const [FIRST, SECOND] = [1, 2] as const;
/** Above this length, five searches cost less than a loop. */
const SHORT = 64;

function marksIn(text: string): number {
  let marks = 0;
  if (text.length > SHORT) {
    if (text.includes('"') || text.includes('=') || text.includes(':')) marks |= FIRST;
    if (text.includes("'") || text.includes('`')) marks |= SECOND;
    return marks;
  }
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE || unit === EQUALS || unit === COLON) marks |= FIRST;
    else if (unit === APOSTROPHE || unit === GRAVE) marks |= SECOND;
  }
  return marks;
}

/** By unit: 1 for these. */
function marksOf(...units: readonly number[]): Uint8Array {
  const marks = new Uint8Array(0x10000);
  for (const unit of units) marks[unit] = 1;
  return marks;
}

/** What may end a string, or the search for its end. */
const STRING_ENDS = marksOf(QUOTE, APOSTROPHE, GRAVE, LINE_FEED, BACKSLASH);

class LiteralReader {
  readonly #text: string;
  readonly #units: Uint16Array;
  readonly #take: (piece: Piece) => void;
  /** Of the last literal: those that may belong together have one. */
  #group = 0;
  #lastEnd = 0;

  constructor(text: string, take: (piece: Piece) => void) {
    this.#text = text;
    this.#units = unitsOf(text);
    this.#take = take;
  }

  /** @param areOthers strings in single quotes and grave accents, instead of the first kind */
  read(areOthers: boolean): void {
    const units = this.#units;
    const { length } = this.#text;
    const finder = signFinder();
    const { places } = finder;
    this.#group++;
    this.#lastEnd = 0;
    let end = 0;
    let next = 0;
    for (let from = 0; from < length; from += SIGN_WINDOW) {
      const count = finder.findMarks(units, from, length, areOthers);
      for (let i = 0; i < count; i++) {
        const at = from + (places[i] as number);
        if (at < next) continue;
        const unit = units[at] as number;
        const isSign = unit === EQUALS || unit === COLON;
        const start = isSign ? this.#behindSign(at) : at;
        if (start < end || start >= length) continue;
        const literalEnd = this.#literalAt(start, isSign);
        if (literalEnd < 0) continue;
        end = literalEnd;
        // The sign that ends this one may precede the next.
        next = end - 1;
      }
    }
  }

  #behindSign(at: number): number {
    let start = at + 1;
    while (start <= at + MAX_SPACES && this.#units[start] === SPACE) start++;
    return start;
  }

  /** @returns its end; -1 if there is none */
  #literalAt(start: number, isBehindSign: boolean): number {
    const unit = this.#units[start] as number;
    const isBare = isBehindSign && unit !== QUOTE;
    const end = isBare ? this.#bareEnd(start) : this.#stringEnd(start, unit);
    // A JSON key is not a piece; it may stand between two.
    if (end < 0 || (!isBare && this.#isKeyEnd(end))) return end;
    const isFar = start - this.#lastEnd > MAX_BETWEEN;
    if (isFar) this.#group++;
    const between = isFar ? '' : this.#text.slice(this.#lastEnd, start);
    const quote = isBare ? 0 : 1;
    const text = this.#text.slice(start + quote, end - quote);
    const label = this.#labelOfArray(start);
    this.#take({ text, start: start + quote, group: this.#group, between, label });
    this.#lastEnd = end;
    return end;
  }

  /** Of the first string in an array that has one: `"ssn": ["219", …`. */
  #labelOfArray(start: number): string {
    const units = this.#units;
    let at = start - 1;
    while (at >= 0 && start - at <= MAX_SPACES && units[at] === SPACE) at--;
    if (units[at] !== BRACKET) return '';
    return ARRAY_LABEL.exec(this.#text.slice(Math.max(0, at - MAX_LABEL), at))?.[1] ?? '';
  }

  #isKeyEnd(end: number): boolean {
    const units = this.#units;
    const last = Math.min(end + 3, this.#text.length);
    let at = end;
    while (at < last && isSpace(units[at] as number)) at++;
    return at < this.#text.length && units[at] === COLON;
  }

  /** Where a string ends, including the closing quote. */
  #stringEnd(start: number, quote: number): number {
    const units = this.#units;
    const { length } = this.#text;
    const ends = STRING_ENDS;
    let at = start + 1;
    let last = Math.min(length, at + MAX_STRING + 1);
    for (; at < last; at++) {
      const unit = units[at] as number;
      if (ends[unit] === 0) continue;
      if (unit === quote) return at + 1;
      if (unit === LINE_FEED) return -1;
      if (unit === BACKSLASH && quote !== GRAVE) {
        at++;
        if (at >= length || isLineEnd(units[at] as number)) return -1;
        if (last < length) last++;
      }
    }
    return -1;
  }

  #bareEnd(start: number): number {
    const units = this.#units;
    if (bareSort(units[start] as number) !== 2) return -1;
    const last = Math.min(start + 1 + MAX_BARE, this.#text.length);
    let end = start + 1;
    while (end < last && bareSort(units[end] as number) > 0) end++;
    if (end === start + 1) return -1;
    return end === this.#text.length || BARE_END.test(this.#text[end] as string) ? end : -1;
  }
}

const bareSort = (unit: number): number => (unit < 128 ? (BARE[unit] as number) : 0);

const SPACES = /\s/;

function isSpace(unit: number): boolean {
  if (unit < 128) return unit === SPACE || (unit >= 0x09 && unit <= 0x0d);
  return SPACES.test(String.fromCharCode(unit));
}

/** The characters that an expression's dot does not match. */
function isLineEnd(unit: number): boolean {
  return unit === LINE_FEED || unit === 0x0d || unit === 0x2028 || unit === 0x2029;
}
