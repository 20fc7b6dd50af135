/**
 * The lexicons as two automata: a trie of words, letter by letter, and phrases, word by word. A
 * word may match several entries of the first at once (`instruction` and `instruction*`). All of it
 * is in arrays of numbers: reading a text only makes lookups in them.
 */

import { IDEOGRAPH, KIND_OF, LETTER, LETTER_END, OTHER_LETTER } from './characters.ts';
import { type Concept, conceptNumber } from './concepts.ts';
import type { Lexicon } from './lexicon/lexicon.ts';
import { TrieBuilder } from './word-trie.ts';

const MAX_PHRASE_WORDS = 20;
/** Phrases and entries are 16-bit numbers, two of which make a key. */
const MAX_NUMBER = 0xffff;

/** Each list is identified by its number; `starts` holds where its members begin and end. */
export interface Lists {
  readonly starts: Uint32Array;
  readonly members: Uint16Array;
}

export interface PhraseTable {
  /** The steps of the trie of words, whose symbols are kinds of letters (word-trie.ts). */
  readonly steps: Uint32Array;
  /** By node: the entries that a whole word ending there matches, as a list of `entries`. */
  readonly whole: Uint16Array;
  /** By node: the entries that any word passing it matches. */
  readonly started: Uint16Array;
  /** Like `whole`, for a character that is a word. */
  readonly ideographs: Uint16Array;
  /** List 0 is empty. */
  readonly entries: Lists;
  /** By entry: the phrase that it begins; 0 if none. */
  readonly first: Uint16Array;
  /** By entry: whether it follows another one in a phrase. */
  readonly isLater: Uint8Array;
  /** The phrase after a phrase and an entry: `findStep` looks it up. */
  readonly later: StepTable;
  /** By phrase: the concepts that it names when complete. */
  readonly named: Lists;
  /** By phrase: whether it can continue. */
  readonly goesOn: Uint8Array;
}

/** A hash table with open addressing; its size is a power of two. */
export interface StepTable {
  readonly keys: Int32Array;
  readonly values: Uint16Array;
  /** Bits of a hash that are dropped. */
  readonly shift: number;
}

const keyOf = (phrase: number, entry: number): number => (phrase << 16) | entry;

/** The phrase after a phrase and an entry; 0 if there is none. */
export function findStep(
  { keys, values, shift }: StepTable,
  phrase: number,
  entry: number,
): number {
  const key = (phrase << 16) | entry;
  const mask = keys.length - 1;
  let place = Math.imul(key, 0x9e3779b1) >>> shift;
  while (true) {
    const found = keys[place] as number;
    if (found === key) return values[place] as number;
    if (found === 0) return 0;
    place = (place + 1) & mask;
  }
}

/**
 * @param lexicons of all languages
 * @throws Error when an entry is not a phrase: a lexicon is part of the product
 */
export function buildPhraseTable(lexicons: readonly Lexicon[]): PhraseTable {
  const entryNumbers = new Map<string, number>();
  const following = new Map<number, number>();
  const named: Set<number>[] = [new Set()];
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
      const key = keyOf(phrase, entry);
      phrase = following.get(key) ?? named.push(new Set()) - 1;
      following.set(key, phrase);
    }
    named[phrase]?.add(concept);
  }

  if (Math.max(named.length, entryNumbers.size) > MAX_NUMBER) throw new Error('too many phrases');
  return { ...buildWords(entryNumbers), ...buildSteps(following, named, entryNumbers.size) };
}

function buildSteps(
  following: ReadonlyMap<number, number>,
  named: readonly ReadonlySet<number>[],
  entryCount: number,
) {
  const first = new Uint16Array(entryCount + 1);
  const isLater = new Uint8Array(entryCount + 1);
  const goesOn = new Uint8Array(named.length);
  const bits = Math.ceil(Math.log2(2 * following.size + 1));
  const later: StepTable = {
    keys: new Int32Array(2 ** bits),
    values: new Uint16Array(2 ** bits),
    shift: 32 - bits,
  };
  for (const [key, phrase] of following) {
    const [before, entry] = [key >>> 16, key & MAX_NUMBER];
    goesOn[before] = 1;
    if (before === 0) {
      first[entry] = phrase;
      continue;
    }
    isLater[entry] = 1;
    let place = Math.imul(key, 0x9e3779b1) >>> later.shift;
    while (later.keys[place] !== 0) place = (place + 1) & (later.keys.length - 1);
    later.keys[place] = key;
    later.values[place] = phrase;
  }
  return { first, isLater, later, named: listsOf(named), goesOn };
}

function listsOf(lists: readonly Iterable<number>[]): Lists {
  const members: number[] = [];
  const starts = new Uint32Array(lists.length + 1);
  for (const [at, list] of lists.entries()) {
    for (const member of list) members.push(member);
    starts[at + 1] = members.length;
  }
  return { starts, members: Uint16Array.from(members) };
}

function buildWords(entryNumbers: ReadonlyMap<string, number>) {
  const trie = new TrieBuilder(OTHER_LETTER + 1);
  const ends = new Map<number, { whole: number[]; started: number[] }>();
  const ideographs = new Uint16Array(0x10000);
  const entries: (readonly number[])[] = [[]];
  for (const [word, entry] of entryNumbers) {
    if (KIND_OF[word.charCodeAt(0)] === IDEOGRAPH) {
      ideographs[word.charCodeAt(0)] = entries.push([entry]) - 1;
      continue;
    }
    const node = trie.add(kindsOf(word));
    const end = ends.get(node) ?? { whole: [], started: [] };
    ends.set(node, end);
    (word.endsWith('*') ? end.started : end.whole).push(entry);
  }
  const { steps, nodes } = trie.build();
  const size = Math.max(...nodes) + 1;
  const [whole, started] = [new Uint16Array(size), new Uint16Array(size)];
  // A parent is made before its children, so its `started` list is known when they need it.
  const startedAt: (readonly number[])[] = Array.from({ length: trie.size }, () => []);
  for (let number = 0; number < trie.size; number += 1) {
    const end = ends.get(number);
    const all = [...(startedAt[number] as number[]), ...(end?.started ?? [])];
    for (const child of trie.childrenOf(number)) startedAt[child] = all;
    const exact = end?.whole ?? [];
    const node = nodes[number] as number;
    if (all.length > 0) started[node] = entries.push(all) - 1;
    if (all.length + exact.length > 0) whole[node] = entries.push([...all, ...exact]) - 1;
  }
  if (entries.length > MAX_NUMBER) throw new Error('too many words');
  return { steps, whole, started, ideographs, entries: listsOf(entries) };
}

function kindsOf(word: string): number[] {
  return [...word.replace('*', '')].map((character) => {
    const kind = KIND_OF[character.charCodeAt(0)] ?? 0;
    if (kind < LETTER || kind >= LETTER_END) throw new Error(`no letter in a lexicon: ${word}`);
    return kind;
  });
}

/** Split as a text is when it is read: at everything but letters, and around each ideograph. */
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

/** Words that differ only in case or accents are one entry. */
function fold(word: string): string {
  if (KIND_OF[word.charCodeAt(0)] === IDEOGRAPH) return word;
  return word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
