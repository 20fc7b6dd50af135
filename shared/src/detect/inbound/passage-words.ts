/** The words of passages as numbers, all of a text in one array: nothing is copied for a passage. */
import { MAX_WORDS, type Wording } from './wording.ts';

/** Numbers that there is room for at first, and then at once. */
const KEPT = 8_192;
const MORE = 65_536;
/** A word has two. */
const MAX_NUMBERS = 2 * MAX_WORDS;

export class PassageWords {
  #numbers = new Int32Array(KEPT);
  /** Where those of the passage begin that is being read, and where they end. */
  #from = 0;
  #to = 0;

  /** Words of the passage so far. */
  get count(): number {
    return (this.#to - this.#from) >> 1;
  }

  /** The first words of a passage count. */
  add(word: number, stem: number): void {
    const at = this.#to;
    if (at === this.#from + MAX_NUMBERS) return;
    this.#numbers[at] = word;
    this.#numbers[at + 1] = stem;
    this.#to = at + 2;
  }

  /** Those of the passage; the next one begins. */
  take(): Wording {
    const taken = { words: this.#numbers, from: this.#from, to: this.#to };
    this.#from = this.#to;
    if (this.#from + MAX_NUMBERS > this.#numbers.length) {
      // The passages before go on to refer to theirs.
      this.#numbers = new Int32Array(MORE);
      this.#from = this.#to = 0;
    }
    return taken;
  }

  /** Nobody asks for those of the passage; the next one begins. */
  drop(): void {
    this.#to = this.#from;
  }

  /** What was taken is no longer needed. */
  forget(): void {
    if (this.#numbers.length > KEPT) this.#numbers = new Int32Array(KEPT);
    this.#from = this.#to = 0;
  }
}
