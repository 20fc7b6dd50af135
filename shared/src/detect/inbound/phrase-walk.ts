import { LEXICONS } from './lexicon/lexicons.ts';
import { buildPhraseTable } from './phrase-table.ts';

/** The lexicons' words and phrases, built once at load. */
export const table = buildPhraseTable(LEXICONS);
const { entries, phrases, named, goesOn } = table;

/** Phrases that may be under way at one word; more are forgotten. */
const MAX_UNDER_WAY = 24;

/** Follows phrases word by word: at any word several may begin, go on and end. */
export class PhraseWalk {
  readonly #onConcept: (concept: number) => void;
  /** Phrases under way, each with whether a foreign word was passed over. */
  #underWay: number[] = [];
  #passedOver: number[] = [];
  #nextUnderWay: number[] = [];
  #nextPassedOver: number[] = [];

  constructor(onConcept: (concept: number) => void) {
    this.#onConcept = onConcept;
  }

  reset(): void {
    this.#underWay.length = 0;
    this.#passedOver.length = 0;
  }

  /** @param list the entries that the word fits (a number in `table.entries`), 0 for none */
  take(list: number): void {
    const before = this.#underWay;
    if (list === 0 && before.length === 0) return;
    const after = this.#nextUnderWay;
    const passed = this.#nextPassedOver;
    after.length = 0;
    passed.length = 0;
    if (list !== 0) {
      for (const entry of entries[list] as Uint16Array) {
        for (let index = 0; index < before.length; index += 1) {
          this.#follow(before[index] as number, entry, this.#passedOver[index] as number);
        }
        this.#follow(0, entry, 0);
      }
    }
    for (let index = 0; index < before.length; index += 1) {
      if (this.#passedOver[index] === 0 && after.length < MAX_UNDER_WAY) {
        after.push(before[index] as number);
        passed.push(1);
      }
    }
    this.#nextUnderWay = before;
    this.#nextPassedOver = this.#passedOver;
    this.#underWay = after;
    this.#passedOver = passed;
  }

  #follow(phrase: number, entry: number, over: number): void {
    const following = phrases.get(phrase * 65536 + entry);
    if (following === undefined) return;
    const concepts = named[following];
    if (concepts !== undefined) for (const concept of concepts) this.#onConcept(concept);
    if (goesOn[following] === 1 && this.#nextUnderWay.length < MAX_UNDER_WAY) {
      this.#nextUnderWay.push(following);
      this.#nextPassedOver.push(over);
    }
  }
}
