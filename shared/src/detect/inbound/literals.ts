/**
 * Which of many literals stand in a text, whatever the case of its letters, by one walk over it: most
 * texts hold none, and searching for each by itself would cost more than all else.
 */
import { ROOT, TrieBuilder } from './word-trie.ts';

const ASCII = 128;
/** Characters of other alphabets whose lower case is, or begins with, a letter of ASCII: İ and K. */
const FOLDED_TO_ASCII: ReadonlySet<number> = new Set([0x130, 0x212a]);

export interface LiteralFinder {
  /**
   * @param units of the text (units.ts)
   * @returns by the literal's number 1 where it may stand in the text in lower case, and 0 where it
   *   does not; good until the next call. Undefined where none stands there.
   */
  find(units: Uint16Array, length: number): Uint8Array | undefined;
}

/** @param literals in lower case, of two characters at least */
export function createLiteralFinder(literals: readonly string[]): LiteralFinder {
  const builder = new TrieBuilder(ASCII);
  const numbers: { literal: number; number: number }[] = [];
  /** Literals with other characters, by the first of those. */
  const others = new Map<number, number[]>();
  for (const [literal, text] of literals.entries()) {
    const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
    const other = units.find((unit) => unit >= ASCII);
    if (other === undefined) numbers.push({ literal, number: builder.add(units) });
    else others.set(other, [...(others.get(other) ?? []), literal]);
  }
  const { steps, nodes } = builder.build();
  /** By node: one more than the literal that ends there. */
  const ends = new Uint16Array(Math.max(...nodes) + 1);
  for (const { literal, number } of numbers) ends[nodes[number] as number] = literal + 1;
  const pairs = nodesOfPairs(steps);
  const found = new Uint8Array(literals.length);

  /** Marks the literals that begin like this. */
  const walk = (units: Uint16Array, from: number, first: number): boolean => {
    let node = first;
    let hasFound = false;
    for (let at = from; node !== 0; at += 1) {
      const end = ends[node] as number;
      if (end !== 0) {
        found[end - 1] = 1;
        hasFound = true;
      }
      const unit = units[at] as number;
      if (unit >= ASCII) break;
      const step = 2 * (node + lowerCase(unit));
      node = steps[step] === node ? (steps[step + 1] as number) : 0;
    }
    return hasFound;
  };

  return {
    find(units, length) {
      found.fill(0);
      let hasFound = false;
      let before = 0;
      for (let at = 0; at < length; at += 1) {
        const unit = units[at] as number;
        if (unit < ASCII) {
          const node = pairs[before * ASCII + unit] as number;
          if (node !== 0 && walk(units, at + 1, node)) hasFound = true;
          before = unit;
          continue;
        }
        before = 0;
        if (FOLDED_TO_ASCII.has(unit)) return found.fill(1);
        const wide = others.get(unit);
        if (wide === undefined) continue;
        for (const literal of wide) found[literal] = 1;
        hasFound = true;
      }
      return hasFound ? found : undefined;
    },
  };
}

/** The node behind each two characters of ASCII, in any case. */
function nodesOfPairs(steps: Int32Array): Uint16Array {
  const pairs = new Uint16Array(ASCII * ASCII);
  const after = (node: number, unit: number): number => {
    const step = 2 * (node + lowerCase(unit));
    return steps[step] === node ? (steps[step + 1] as number) : 0;
  };
  for (let one = 0; one < ASCII; one += 1) {
    const node = after(ROOT, one);
    if (node === 0) continue;
    for (let two = 0; two < ASCII; two += 1) pairs[one * ASCII + two] = after(node, two);
  }
  return pairs;
}

function lowerCase(unit: number): number {
  return unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
}
