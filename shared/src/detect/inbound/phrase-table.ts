/**
 * The lexicons as two tries: one of words, unit by unit, and one of phrases, word by word. A word
 * may fit several entries of the first at once (`instruction` and `instruction*`).
 */

import { IDEOGRAPH, KIND_OF, LETTER, LETTER_END, OTHER_LETTER } from './characters.ts';
import { CONCEPTS, type Concept, conceptNumber } from './concepts.ts';
import type { Lexicon } from './lexicon/lexicon.ts';

/** Room of a node of the trie of words: one more than the kinds of letters. */
export const WIDTH = OTHER_LETTER;
const MAX_PHRASE_WORDS = 20;

export interface PhraseTable {
  /** The node after a letter's kind, from `node * WIDTH + kind`; 0 is nowhere, 1 the root. */
  readonly next: Uint16Array;
  /** The entries that a whole word fits which ends at a node: a number in `entries`. */
  readonly whole: Uint16Array;
  /** The entries that any word fits which passed a node. */
  readonly started: Uint16Array;
  /** As `whole`, of a character that is a word. */
  readonly ideographs: Uint16Array;
  readonly entries: readonly Uint16Array[];
  /** The phrase after a phrase and an entry, by `phrase * 65536 + entry`; 0 is the empty phrase. */
  readonly phrases: ReadonlyMap<number, number>;
  /** The concepts that a finished phrase names; none where it is only the beginning of some. */
  readonly named: readonly (Uint8Array | undefined)[];
  /** Whether a phrase can go on. */
  readonly goesOn: Uint8Array;
  /** For a concept, whether it is a thing to do: a sentence that begins with it gives an order. */
}

/**
 * @param lexicons of all languages
 * @throws Error when an entry is no phrase: a lexicon is part of the product
 */
export function buildPhraseTable(lexicons: readonly Lexicon[]): PhraseTable {
  const entryNumbers = new Map<string, number>();
  const phrases = new Map<number, number>();
  const named: (Uint8Array | undefined)[] = [undefined];
  for (const lexicon of lexicons) {
    for (const [concept, text] of Object.entries(lexicon)) {
      for (const phrase of text.split(/[|\n]/)) {
        const words = splitWords(phrase.trim());
        if (words.length > 0) addPhrase(words, conceptNumber(concept as Concept));
      }
    }
  }

  function addPhrase(words: readonly string[], concept: number): void {
    if (words.length > MAX_PHRASE_WORDS) throw new Error(`too long a phrase: ${words.join(' ')}`);
    let phrase = 0;
    for (const word of words) {
      const entry = entryNumbers.get(word) ?? entryNumbers.size + 1;
      entryNumbers.set(word, entry);
      const key = phrase * 65536 + entry;
      phrase = phrases.get(key) ?? named.push(undefined) - 1;
      phrases.set(key, phrase);
    }
    const concepts = new Set(named[phrase]);
    named[phrase] = Uint8Array.from(concepts.add(concept));
  }

  const goesOn = new Uint8Array(named.length);
  for (const key of phrases.keys()) goesOn[Math.floor(key / 65536)] = 1;
  return { ...buildWords(entryNumbers), phrases, named, goesOn };
}

function buildWords(entryNumbers: ReadonlyMap<string, number>) {
  const children: (Uint16Array | undefined)[] = [undefined, new Uint16Array(WIDTH)];
  const ends: { whole: number[]; started: number[] }[] = [
    { whole: [], started: [] },
    { whole: [], started: [] },
  ];
  const ideographs = new Uint16Array(0x10000);
  const entries: Uint16Array[] = [new Uint16Array(0)];
  for (const [word, entry] of entryNumbers) {
    if (KIND_OF[word.charCodeAt(0)] === IDEOGRAPH) {
      ideographs[word.charCodeAt(0)] = entries.push(Uint16Array.of(entry)) - 1;
      continue;
    }
    let node = 1;
    for (const kind of kindsOf(word)) {
      const row = children[node] as Uint16Array;
      if (row[kind] === 0) {
        row[kind] = children.push(new Uint16Array(WIDTH)) - 1;
        ends.push({ whole: [], started: [] });
      }
      node = row[kind] as number;
    }
    (word.endsWith('*') ? ends[node]?.started : ends[node]?.whole)?.push(entry);
  }
  const size = children.length;
  const next = new Uint16Array(size * WIDTH);
  const [whole, started] = [new Uint16Array(size), new Uint16Array(size)];
  // A parent is made before its children, so that what was started is known when it is needed.
  const startedAt: number[][] = Array.from({ length: size }, () => []);
  for (let node = 1; node < size; node += 1) {
    const row = children[node] as Uint16Array;
    next.set(row, node * WIDTH);
    const { whole: exact, started: stems } = ends[node] as (typeof ends)[number];
    const all = [...(startedAt[node] as number[]), ...stems];
    for (const child of row) if (child !== 0) startedAt[child] = all;
    if (all.length > 0) started[node] = entries.push(Uint16Array.from(all)) - 1;
    if (all.length + exact.length > 0) {
      whole[node] = entries.push(Uint16Array.from([...all, ...exact])) - 1;
    }
  }
  return { next, whole, started, ideographs, entries };
}

function kindsOf(word: string): number[] {
  return [...word.replace('*', '')].map((character) => {
    const kind = KIND_OF[character.charCodeAt(0)] ?? 0;
    if (kind < LETTER || kind >= LETTER_END) throw new Error(`no letter in a lexicon: ${word}`);
    return kind;
  });
}

/** As a text is split when it is read: at all that is no letter, and around each ideograph. */
function splitWords(phrase: string): string[] {
  const words: string[] = [];
  let word = '';
  for (const character of phrase.normalize('NFC')) {
    const kind = KIND_OF[character.charCodeAt(0)] ?? 0;
    const isLetter = kind >= LETTER && kind < LETTER_END;
    if (isLetter || character === '*') word += character;
    if (!isLetter && character !== '*') {
      if (word !== '') words.push(word);
      word = '';
      if (kind === IDEOGRAPH) words.push(character);
    }
  }
  if (word !== '') words.push(word);
  return words.map(fold);
}

/** Words that differ in case or accents only are one entry. */
function fold(word: string): string {
  if (KIND_OF[word.charCodeAt(0)] === IDEOGRAPH) return word;
  return word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

/** How many concepts there are: sizes of what is indexed by them. */
export const CONCEPT_COUNT = CONCEPTS.length;
