import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordHash } from './hash-chain.ts';
import { merkleRoot } from './merkle.ts';

const sha256 = (...parts: Uint8Array[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** RFC 6962 section 2.1 as it is written: split at the largest power of two below n. */
function recursiveRoot(leaves: Buffer[]): Buffer {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return leaves[0] as Buffer;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  const left = recursiveRoot(leaves.slice(0, split));
  return sha256(Buffer.from([1]), left, recursiveRoot(leaves.slice(split)));
}

const leaf = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));

describe('merkleRoot', () => {
  it('is the tree hash of RFC 6962 for any number of leaves', () => {
    fc.assert(
      fc.property(fc.array(leaf, { maxLength: 70 }), (leaves) => {
        const hexes = leaves.map((bytes) => bytes.toString('hex'));
        expect(merkleRoot(hexes)).toBe(recursiveRoot(leaves).toString('hex'));
      }),
    );
  });

  // The test vectors of the certificate-transparency project's reference implementation.
  it('gives the known roots', () => {
    const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657'];
    const leaves = inputs.map((hex) => recordHash(Buffer.from(hex, 'hex')));
    expect(merkleRoot(leaves.slice(0, 1))).toBe(
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    );
    expect(merkleRoot(leaves.slice(0, 2))).toBe(
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    );
    expect(merkleRoot(leaves.slice(0, 7))).toBe(
      'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    );
    expect(merkleRoot([])).toBe(sha256().toString('hex'));
  });

  it('changes with any change, exchange or loss of a leaf', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(leaf, { minLength: 2, maxLength: 40, comparator: (a, b) => a.equals(b) }),
        fc.nat(),
        fc.nat(),
        (leaves, from, to) => {
          const hexes = leaves.map((bytes) => bytes.toString('hex'));
          const root = merkleRoot(hexes);
          const i = from % hexes.length;
          const j = to % hexes.length;
          expect(merkleRoot(hexes.toSpliced(i, 1))).not.toBe(root);
          expect(merkleRoot(hexes.with(i, '00'.repeat(32)))).not.toBe(root);
          if (i === j) return;
          const exchanged = hexes.with(i, hexes[j] as string).with(j, hexes[i] as string);
          expect(merkleRoot(exchanged)).not.toBe(root);
        },
      ),
    );
  });
});
