import { createHash } from 'node:crypto';
import { rootOfInclusion } from '@governance/shared/evidence/merkle-proofs';
import { merkleRoot } from '@governance/shared/ledger/merkle';
import { expect, it } from 'vitest';
import { createBatchProofs } from './batch-proofs.ts';

it('proves every record of a batch of any size', () => {
  for (const size of [1, 2, 3, 4, 5, 7, 8, 13, 64, 65]) {
    const hashes = Array.from({ length: size }, (_, n) =>
      createHash('sha256').update(`${n}`).digest('hex'),
    );
    const pathOf = createBatchProofs(hashes);
    const root = merkleRoot(hashes);
    for (const [index, leaf] of hashes.entries()) {
      expect(rootOfInclusion({ leaf, index, size, path: pathOf(index) })).toBe(root);
    }
  }
});
