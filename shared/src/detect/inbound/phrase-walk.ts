import { IGNORED, KIND_OF, lookalikeOf } from './characters.ts';
import { LEXICONS } from './lexicon/lexicons.ts';
import { buildPhraseTable, findStep } from './phrase-table.ts';
import { ROOT, stepFrom } from './word-trie.ts';

/** The lexicons' words and phrases, built once at load. */
export const table = buildPhraseTable(LEXICONS);
const { entries, first, isLater, later, named, goesOn, steps, whole, started } = table;

/** Phrases in progress at one word; further ones are dropped. */
const MAX_UNDER_WAY = 24;

/** Follows phrases word by word: at any word several may begin, continue and end. */
export class PhraseWalk {
  readonly #onConcept: (concept: number) => void;
  /** Phrases in progress, each with whether a foreign word was skipped. */
  #underWay = new Uint16Array(MAX_UNDER_WAY);
  #passedOver = new Uint8Array(MAX_UNDER_WAY);
  #count = 0;
  #nextUnderWay = new Uint16Array(MAX_UNDER_WAY);
  #nextPassedOver = new Uint8Array(MAX_UNDER_WAY);
  #nextCount = 0;

  constructor(onConcept: (concept: number) => void) {
    this.#onConcept = onConcept;
  }

  reset(): void {
    this.#count = 0;
  }

  /** @param list the entries that the word matches (a list of `table.entries`), 0 for none */
  take(list: number): void {
    const count = this.#count;
    if (list === 0 && count === 0) return;
    const before = this.#underWay;
    const over = this.#passedOver;
    this.#nextCount = 0;
    const end = entries.starts[list + 1] as number;
    for (let at = entries.starts[list] as number; at < end; at += 1) {
      const entry = entries.members[at] as number;
      if (isLater[entry] === 1) {
        for (let index = 0; index < count; index += 1) {
          const phrase = findStep(later, before[index] as number, entry);
          if (phrase !== 0) this.#reach(phrase, over[index] as number);
        }
      }
      const phrase = first[entry] as number;
      if (phrase !== 0) this.#reach(phrase, 0);
    }
    for (let index = 0; index < count; index += 1) {
      if (over[index] === 0) this.#goOn(before[index] as number, 1);
    }
    this.#underWay = this.#nextUnderWay;
    this.#passedOver = this.#nextPassedOver;
    this.#count = this.#nextCount;
    this.#nextUnderWay = before;
    this.#nextPassedOver = over;
  }

  #reach(phrase: number, over: number): void {
    const end = named.starts[phrase + 1] as number;
    for (let at = named.starts[phrase] as number; at < end; at += 1) {
      this.#onConcept(named.members[at] as number);
    }
    if (goesOn[phrase] === 1) this.#goOn(phrase, over);
  }

  #goOn(phrase: number, over: number): void {
    if (this.#nextCount === MAX_UNDER_WAY) return;
    this.#nextUnderWay[this.#nextCount] = phrase;
    this.#nextPassedOver[this.#nextCount] = over;
    this.#nextCount += 1;
  }
}

/** Longer words are not looked up. */
const MAX_LOOKALIKES = 40;

/** What a word of mixed alphabets, or with digits for letters, matches as the Latin word it looks like. */
export function listOfLookalikes(units: Uint16Array, from: number, to: number): number {
  if (to - from > MAX_LOOKALIKES) return 0;
  let node = ROOT;
  let lastNode = ROOT;
  for (let at = from; at < to && node !== 0; at += 1) {
    const unit = units[at] as number;
    const plain = KIND_OF[unit] as number;
    if (plain === IGNORED) continue;
    const kind = plain <= 26 ? plain : lookalikeOf(unit);
    // No letter has the kind 0, so there is no step for it either.
    node = stepFrom(steps, node, kind);
    if (node !== 0) lastNode = node;
  }
  return (node !== 0 ? whole[node] : started[lastNode]) as number;
}
