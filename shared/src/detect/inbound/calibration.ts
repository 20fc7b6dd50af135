/**
 * What a passage must be worth beyond what the model says, so that a text's score means the same
 * for a line and for a book: of many ordinary passages one is suspicious by chance.
 */

/** A passage that names nothing which an attack asks for is judged by its wording alone. */
const WORDING_ALONE = 1;
/** Passages of a text from which on each doubling asks for more. */
const FEW = 8;
const EACH_DOUBLING = 0.3;
/** And no more: whoever hides an attack in a long text gains this much at most. */
const MOST = 1.2;

/** @param passages of the text @param features of the passage, besides its wording */
export function strictness(passages: number, features: number): number {
  const length = Math.min(MOST, EACH_DOUBLING * Math.max(0, Math.log2(passages / FEW)));
  return features === 0 ? length + WORDING_ALONE : length;
}
