/** Single letters, one after another: `i g n o r e`; and numbers that may be codes of letters. */
import { LETTER } from './characters.ts';
import { endOf, NUMBERS_OF_WORD, type Wording } from './wording.ts';

/** This many in a row are not a coincidence. */
const MIN_LETTERS = 6;
/** UTF-16 units between two of them. */
const MAX_GAP = 3;

export class SpelledLetters {
  rows: { start: number; end: number }[] = [];
  #from = -1;
  #end = -1;
  /** Letters of the current row. */
  count = 0;

  begin(): void {
    if (this.rows.length > 0) this.rows = [];
    this.count = 0;
  }

  /** A single letter. */
  take(from: number, to: number): void {
    if (this.count > 0 && from - this.#end > MAX_GAP) this.end();
    if (this.count === 0) this.#from = from;
    this.count += 1;
    this.#end = to;
  }

  /** Anything else ends a row. */
  end(): void {
    if (this.count >= MIN_LETTERS) this.rows.push({ start: this.#from, end: this.#end });
    this.count = 0;
  }
}

/** As many numbers in a row may be the codes of characters. */
const MIN_CODES = 12;

/** Numbers of up to three digits, or of eight as in binary: `105 103`, `69 67`, `01101001`. */
export class CodeNumbers {
  areMany = false;
  row = 0;

  begin(): void {
    this.areMany = false;
    this.row = 0;
  }

  /** A word, with or without digits. In hex two letters may stand between numbers. */
  take(letters: number, hasDigits: boolean): void {
    if (hasDigits && (letters <= 3 || letters === 8)) {
      if (++this.row === MIN_CODES) this.areMany = true;
    } else if (letters !== 2) this.row = 0;
  }
}

const LETTERS_AND_DIGITS = 36;
/** The numbers that single Latin letters and digits have as words (passages.ts). */
const SINGLES = new Set(
  Array.from(
    { length: LETTERS_AND_DIGITS },
    (_, at) => (Math.imul(LETTER + at, 0x01000193) + 1) | 0,
  ),
);
const LEAST_SINGLES = 6;

/**
 * Whether the words of a passage are single letters, but for one at most. They say nothing as words:
 * what they spell is read by itself. With two other words it could be an order among letters.
 */
export function isSpelled(wording: Wording): boolean {
  const end = endOf(wording);
  let [singles, others] = [0, 0];
  for (let at = wording.from; at < end; at += NUMBERS_OF_WORD) {
    if (SINGLES.has(wording.words[at] as number)) singles += 1;
    else others += 1;
  }
  return singles >= LEAST_SINGLES && others <= 1;
}
