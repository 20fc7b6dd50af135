/**
 * Which of many literals a text contains, ignoring case, in one walk over it: most texts contain
 * none, and a search for each would cost more than everything else.
 */
import { ROOT, stepFrom, TrieBuilder } from './word-trie.ts';

const ASCII = 128;
/** 32-bit words with one bit per character. */
const WORDS = ASCII / 32;
/** Characters beyond ASCII whose lower case is, or begins with, an ASCII letter: İ and K. */
const FOLDED_TO_ASCII = [0x130, 0x212a];

/** What a character may begin, as bits: a literal within a word or outside one, a word. */
const BEGINS = 1;
const BEGINS_WORD = 2;
/** In the high bits: which of these apply to the next character. */
const ANYWHERE = BEGINS << 4;
const OUTSIDE_WORDS = (BEGINS | BEGINS_WORD) << 4;

/** Of characters beyond ASCII. */
const FOLDED = 1;
const IN_LITERAL = 2;

export interface LiteralFinder {
  /**
   * @param units of the text (../units.ts)
   * @returns by the literal's number, 1 if the lower-case text may contain it, else 0; valid
   *   until the next call. Undefined if it contains none.
   */
  find(units: Uint16Array, length: number): Uint8Array | undefined;
}

/**
 * @param words lower-case literals that do not count if they continue a word
 * @param others lower-case literals that count anywhere
 */
export function createLiteralFinder(
  words: readonly string[],
  others: readonly string[] = [],
): LiteralFinder {
  const literals = [...words, ...others];
  const builder = new TrieBuilder(ASCII);
  const numbers: { literal: number; number: number }[] = [];
  const cells = new Uint8Array(ASCII);
  for (let unit = 0; unit < ASCII; unit += 1) {
    cells[unit] = isLetter(unit) ? ANYWHERE : OUTSIDE_WORDS;
  }
  /** Literals with non-ASCII characters, by the first of these. */
  const wide = new Map<number, number[]>();
  const kinds = new Uint8Array(0x10000);
  for (const unit of FOLDED_TO_ASCII) kinds[unit] = FOLDED;
  for (const [literal, text] of literals.entries()) {
    const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
    const other = units.find((unit) => unit >= ASCII);
    if (other !== undefined) {
      wide.set(other, [...(wide.get(other) ?? []), literal]);
      kinds[other] = IN_LITERAL;
      continue;
    }
    numbers.push({ literal, number: builder.add(units) });
    const first = units[0] as number;
    const begins = isLetter(first) && literal < words.length ? BEGINS_WORD : BEGINS;
    for (const unit of [first, upperCase(first)]) cells[unit] = (cells[unit] as number) | begins;
  }
  const { steps, nodes } = builder.build();
  /** By node: the literal that ends there, plus one. */
  const ends = new Uint16Array(Math.max(...nodes) + 1);
  for (const { literal, number } of numbers) ends[nodes[number] as number] = literal + 1;
  const found = new Uint8Array(literals.length);

  /** The pairs of characters that literals begin with, one bit each. */
  const pairs = findPairs(steps);
  const isPair = (one: number, two: number): boolean =>
    two < ASCII && (((pairs[one * WORDS + (two >>> 5)] as number) >>> (two & 31)) & 1) === 1;

  /** Marks the literals that begin here. */
  const walk = (units: Uint16Array, from: number): boolean => {
    let node = ROOT;
    let hasFound = false;
    for (let at = from; node !== 0; at += 1) {
      const end = ends[node] as number;
      if (end !== 0) {
        found[end - 1] = 1;
        hasFound = true;
      }
      const unit = units[at] as number;
      if (unit >= ASCII) break;
      node = stepFrom(steps, node, lowerCase(unit));
    }
    return hasFound;
  };

  return {
    find(units, length) {
      found.fill(0);
      let hasFound = false;
      let counts = OUTSIDE_WORDS;
      for (let at = 0; at < length; at += 1) {
        const unit = units[at] as number;
        if (unit < ASCII) {
          const cell = cells[unit] as number;
          if ((cell & (counts >> 4)) !== 0 && isPair(unit, units[at + 1] as number)) {
            if (walk(units, at)) hasFound = true;
          }
          counts = cell;
          continue;
        }
        counts = OUTSIDE_WORDS;
        const kind = kinds[unit];
        if (kind === FOLDED) return found.fill(1);
        if (kind !== IN_LITERAL) continue;
        for (const literal of wide.get(unit) ?? []) found[literal] = 1;
        hasFound = true;
      }
      return hasFound ? found : undefined;
    },
  };
}

function findPairs(steps: Uint32Array): Uint32Array {
  const pairs = new Uint32Array(ASCII * WORDS);
  for (let one = 0; one < ASCII; one += 1) {
    const node = stepFrom(steps, ROOT, lowerCase(one));
    if (node === 0) continue;
    for (let two = 0; two < ASCII; two += 1) {
      if (stepFrom(steps, node, lowerCase(two)) === 0) continue;
      const word = one * WORDS + (two >>> 5);
      pairs[word] = (pairs[word] as number) | (1 << (two & 31));
    }
  }
  return pairs;
}

const isLetter = (unit: number): boolean => {
  const lower = lowerCase(unit);
  return lower >= 0x61 && lower <= 0x7a;
};

function lowerCase(unit: number): number {
  return unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
}

function upperCase(unit: number): number {
  return unit >= 0x61 && unit <= 0x7a ? unit - 0x20 : unit;
}
