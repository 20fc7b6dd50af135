/**
 * A passage as a row of tokens, for the reader of their order (sequence.ts): words, ideographs,
 * numbers and punctuation. Each token has three numbers. Those of a word are of the whole, of its
 * beginning and of its end, so that forms of a word share what is learned of one; those of a short
 * word are three of the whole, so that two words seldom have all of them in common.
 */
import {
  FIRST_DIGIT,
  HIGH_SURROGATE,
  IDEOGRAPH,
  IGNORED,
  KIND_OF,
  kindOfAstral,
  LETTER,
  LETTER_END,
  OTHER_LETTER,
} from './characters.ts';

/** Tokens of a passage that are read: a longer one is cut. */
export const MAX_TOKENS = 64;
/** Numbers of a token. */
export const ROWS_OF_TOKEN = 3;
const BITS = 13;
/** A token's numbers are from 1 to this; 0 stands for none. */
export const TOKEN_ROWS = 1 << BITS;

const LAST_DIGIT = FIRST_DIGIT + 9;
const PREFIX = 5;
const SUFFIX = 3;
/** Longer numbers are all the same. */
const MAX_DIGITS = 6;
const [WORD, BEGINNING, END, NUMBER, SIGN, IDEOGRAPHS, AGAIN, ONCE_MORE] = [1, 2, 3, 4, 5, 6, 7, 8];
const SPACE = 0x20;

/** The numbers of the tokens of the passage read last, `ROWS_OF_TOKEN` each. */
export const tokens = new Uint16Array(MAX_TOKENS * ROWS_OF_TOKEN);

/** A hash with one letter more: of tokens, and of the words of wordings (passages.ts). */
export const mix = (hash: number, letter: number): number =>
  (Math.imul(hash ^ letter, 0x01000193) + 1) | 0;

function rowOf(hash: number, salt: number): number {
  const mixed = Math.imul(hash ^ Math.imul(salt, 0x9e3779b1), 0x85ebca6b);
  return (Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35) >>> (32 - BITS)) + 1;
}

/**
 * Reads a passage into `tokens`.
 *
 * @returns how many tokens it has, at most `MAX_TOKENS`
 */
export function readTokens(text: string, start: number, end: number): number {
  let count = 0;
  let at = start;
  /** The ideograph before, for pairs. */
  let last = 0;
  let lastSign = 0;
  const take = (one: number, two: number, three: number): void => {
    const place = count * ROWS_OF_TOKEN;
    tokens[place] = one;
    tokens[place + 1] = two;
    tokens[place + 2] = three;
    count += 1;
  };
  const takeOf = (hash: number, salt: number): void =>
    take(rowOf(hash, salt), rowOf(hash, salt + AGAIN), rowOf(hash, salt + ONCE_MORE * 2));
  while (at < end && count < MAX_TOKENS) {
    const unit = text.charCodeAt(at);
    let kind = KIND_OF[unit] as number;
    let width = 1;
    if (kind === HIGH_SURROGATE) {
      kind = kindOfAstral(text.codePointAt(at) ?? 0);
      width = 2;
    }
    if (kind === IDEOGRAPH) {
      take(rowOf(unit, WORD), rowOf(mix(last, unit), IDEOGRAPHS), rowOf(unit, ONCE_MORE));
      last = unit;
      lastSign = 0;
      at += width;
      continue;
    }
    if (kind === IGNORED || unit <= SPACE) {
      at += width;
      continue;
    }
    last = 0;
    if (kind >= FIRST_DIGIT && kind <= LAST_DIGIT) {
      const from = at;
      while (at < end && isDigit(KIND_OF[text.charCodeAt(at)] as number)) at += 1;
      if (at === from) at += width;
      takeOf(Math.min(at - from, MAX_DIGITS), NUMBER);
      lastSign = 0;
    } else if (isLetter(kind)) {
      at = takeWord(text, at, end, take);
      lastSign = 0;
    } else {
      // A row of one sign is one token.
      if (unit !== lastSign) takeOf(unit, SIGN);
      lastSign = unit;
      at += width;
    }
  }
  return count;
}

function takeWord(
  text: string,
  from: number,
  end: number,
  take: (one: number, two: number, three: number) => void,
): number {
  let at = from;
  let letters = 0;
  let [hash, prefix] = [0, 0];
  /** The last letters, latest first. */
  let [a, b, c] = [0, 0, 0];
  for (; at < end; at += 1) {
    const unit = text.charCodeAt(at);
    let kind = KIND_OF[unit] as number;
    if (kind === IGNORED) continue;
    if (kind === HIGH_SURROGATE) {
      kind = kindOfAstral(text.codePointAt(at) ?? 0);
      if (kind !== IGNORED && !isLetter(kind)) break;
      at += 1;
      if (kind === IGNORED) continue;
    }
    if (!isLetter(kind)) break;
    const letter = kind === OTHER_LETTER ? unit : kind;
    hash = mix(hash, letter);
    letters += 1;
    if (letters === PREFIX) prefix = hash;
    [a, b, c] = [letter, a, b];
  }
  take(
    rowOf(hash, WORD),
    letters >= PREFIX ? rowOf(prefix, BEGINNING) : rowOf(hash, AGAIN),
    letters > SUFFIX ? rowOf(mix(mix(mix(0, a), b), c), END) : rowOf(hash, ONCE_MORE),
  );
  return at;
}

const isDigit = (kind: number): boolean => kind >= FIRST_DIGIT && kind <= LAST_DIGIT;

const isLetter = (kind: number): boolean =>
  kind >= LETTER &&
  kind <= OTHER_LETTER &&
  !isDigit(kind) &&
  (kind < LETTER_END || kind === OTHER_LETTER);
