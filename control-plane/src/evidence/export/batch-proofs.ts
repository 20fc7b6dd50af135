import { foldSubtrees, planInclusion, subtreesOf } from '@governance/shared/evidence/merkle-proofs';
import { nodeHash } from '@governance/shared/ledger/merkle';

/**
 * Proves that records are in a batch: RFC 6962 inclusion proofs in the tree of its event_root.
 *
 * @param hashes of all its records, in order
 * @returns a function from a record's index to its path
 */
export function createBatchProofs(hashes: readonly string[]): (index: number) => string[] {
  // Each full subtree is hashed once, level by level: a proof then costs O(log n).
  const levels: string[][] = [[...hashes]];
  for (let below = levels[0] ?? []; below.length > 1; ) {
    const level: string[] = [];
    for (let i = 0; i + 1 < below.length; i += 2) {
      level.push(nodeHash(below[i] as string, below[i + 1] as string));
    }
    levels.push(level);
    below = level;
  }
  return (index) =>
    planInclusion(index, hashes.length).map((range) =>
      foldSubtrees(subtreesOf(range).map((at) => levels[at.level]?.[at.index] as string)),
    );
}
