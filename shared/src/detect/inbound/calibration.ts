/**
 * The extra score that a passage needs, so that a text's score means the same for a line and for a
 * book: among many ordinary passages, one is suspicious by chance.
 */

/** A passage without anything that an attack asks for is judged by its wording alone. */
const WORDING_ALONE = 1;
/** The number of passages from which each doubling raises the requirement. */
const FEW = 8;
const EACH_DOUBLING = 0.5;
/** The upper limit: an attack hidden in a long text gains at most this much. */
const MOST = 2;

/**
 * What a passage's pieces (pieces.ts) and its context (context.ts) are expected to add at most: a
 * passage that lacks more is not read that far.
 */
export const MOST_OF_PIECES = 16;
export const MOST_OF_CONTEXT = 10;
/** The words around an order do not excuse it. */
export const LEAST_OF_CONTEXT = -2;
/**
 * What the order of a passage's words (sequence.ts) adds at least and at most. A passage that lacks
 * more than the second is not read in its order.
 */
export const LEAST_OF_SEQUENCE = -2;
export const MOST_OF_SEQUENCE = 8;
/**
 * Passages, alone or with their neighbours, are read in their order so often in a text; the sum of
 * their words decides of the others.
 */
export const MOST_SEQUENCES = 200;
/** A passage above this is a finding, whatever its order. */
export const SURE = 8;

/** @param passages of the text @param features of the passage, besides its wording */
export function strictness(passages: number, features: number): number {
  const length = Math.min(MOST, EACH_DOUBLING * Math.max(0, Math.log2(passages / FEW)));
  return features === 0 ? length + WORDING_ALONE : length;
}
