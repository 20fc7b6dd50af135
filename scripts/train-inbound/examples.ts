/** The passages of texts, as examples for the reader of sequences. */
import type { Bag } from './bags.ts';
import type { Example } from './train-sequence.ts';

/** @param weight how much the text counts */
export function examplesOf({ passages }: Bag, weight: number): Example[] {
  const attacks = passages.filter(({ isAttack }) => isAttack).length;
  // A text counts little more for having its attack in many passages.
  const share = 1 / Math.sqrt(Math.max(1, attacks));
  return passages.map(({ sequence, isAttack }) => ({
    ...sequence,
    isAttack,
    weight: isAttack ? weight * share : weight,
  }));
}
