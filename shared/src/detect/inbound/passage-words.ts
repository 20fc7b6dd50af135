/**
 * The words of passages as numbers, in one array for the whole text: nothing is copied per passage.
 */
import { MAX_WORDS, NUMBERS_OF_WORD, type Wording } from './wording.ts';

/** The initial capacity, and the amount by which it grows. */
const KEPT = 8_192;
const MORE = 65_536;
const MAX_NUMBERS = NUMBERS_OF_WORD * MAX_WORDS;

export class PassageWords {
  #numbers = new Int32Array(KEPT);
  /** Start and end of the current passage's words. */
  #from = 0;
  #to = 0;

  /** Words of the passage so far. */
  get count(): number {
    return (this.#to - this.#from) / NUMBERS_OF_WORD;
  }

  /** Only a passage's first words count. */
  add(word: number, stem: number): void {
    const at = this.#to;
    if (at === this.#from + MAX_NUMBERS) return;
    this.#numbers[at] = word;
    this.#numbers[at + 1] = stem;
    this.#to = at + NUMBERS_OF_WORD;
  }

  /** Takes the passage's words; the next passage begins. */
  take(): Wording {
    const taken = { words: this.#numbers, from: this.#from, to: this.#to };
    this.#from = this.#to;
    if (this.#from + MAX_NUMBERS > this.#numbers.length) {
      // Earlier passages keep referring to theirs.
      this.#numbers = new Int32Array(MORE);
      this.#from = this.#to = 0;
    }
    return taken;
  }

  /** Discards the passage's words; the next passage begins. */
  drop(): void {
    this.#to = this.#from;
  }

  /** Resets: what was taken is no longer used. */
  forget(): void {
    if (this.#numbers.length > KEPT) this.#numbers = new Int32Array(KEPT);
    this.#from = this.#to = 0;
  }
}
