import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { recordHash } from '../ledger/hash-chain.ts';
import { merkleRoot } from '../ledger/merkle.ts';
import { proofOf } from '../testing/test-evidence.ts';
import {
  createMerkleTree,
  EMPTY_ROOT,
  foldSubtrees,
  isConsistent,
  planConsistency,
  planInclusion,
  rootOfInclusion,
  subtreesCompletedBy,
  subtreesOf,
} from './merkle-proofs.ts';

const leavesOf = (count: number) =>
  Array.from({ length: count }, (_, i) => recordHash(Buffer.from(`leaf ${i}`)));
const size = fc.integer({ min: 1, max: 130 });

describe('the known vectors of RFC 6962', () => {
  // Those of the certificate-transparency project's reference implementation.
  const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657'];
  const leaves = [...inputs, '606162636465666768696a6b6c6d6e6f'].map((hex) =>
    recordHash(Buffer.from(hex, 'hex')),
  );

  it('inclusion of leaf 0 of 8 and of leaf 5 of 8', () => {
    expect(proofOf(planInclusion(0, 8), leaves)).toEqual([
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ]);
    expect(proofOf(planInclusion(5, 8), leaves)).toEqual([
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ]);
  });

  it('consistency of 6 with 8', () => {
    expect(proofOf(planConsistency(6, 8), leaves)).toEqual([
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ]);
  });
});

/** Made by scripts/foreign/merkle: of each size the root, and a digest of all proofs. */
const vectors = z
  .array(z.object({ size: z.number(), root: z.string(), proofs: z.string() }))
  .length(64)
  .parse(JSON.parse(readFileSync(new URL('./merkle-vectors.json', import.meta.url), 'utf8')));

it("another library (Go's sumdb/tlog) has the same roots and proofs, of every size up to 64", () => {
  for (const { size, root, proofs } of vectors) {
    const leaves = leavesOf(size);
    expect(merkleRoot(leaves)).toBe(root);
    const digest = createHash('sha256');
    for (let index = 0; index < size; index++) {
      digest.update(`${proofOf(planInclusion(index, size), leaves).join('')}\n`);
    }
    for (let from = 1; from <= size; from++) {
      digest.update(`${proofOf(planConsistency(from, size), leaves).join('')}\n`);
    }
    expect(digest.digest('hex')).toBe(proofs);
  }
});

describe('inclusion', () => {
  it('holds for every leaf of any tree, in no other place and for no other leaf', () => {
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), (count, at, other) => {
        const leaves = leavesOf(count);
        const root = merkleRoot(leaves);
        const index = at % count;
        const path = proofOf(planInclusion(index, count), leaves);
        const leaf = leaves[index] as string;
        expect(rootOfInclusion({ leaf, index, size: count, path })).toBe(root);
        const wrong = other % count;
        if (wrong !== index) {
          expect(rootOfInclusion({ leaf, index: wrong, size: count, path })).not.toBe(root);
        }
        const longer = [...path, EMPTY_ROOT];
        expect(rootOfInclusion({ leaf, index, size: count, path: longer })).toBeUndefined();
        if (path.length > 0) {
          const shorter = path.slice(1);
          expect(rootOfInclusion({ leaf, index, size: count, path: shorter })).not.toBe(root);
        }
      }),
    );
  });

  it('is of no leaf outside of the tree', () => {
    expect(rootOfInclusion({ leaf: EMPTY_ROOT, index: 1, size: 1, path: [] })).toBeUndefined();
    expect(rootOfInclusion({ leaf: EMPTY_ROOT, index: -1, size: 1, path: [] })).toBeUndefined();
    expect(() => planInclusion(3, 3)).toThrow(RangeError);
  });
});

describe('consistency', () => {
  it('holds between any two sizes of one tree, and not when a leaf before has changed', () => {
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), (to, smaller, changed) => {
        const from = smaller % (to + 1);
        const leaves = leavesOf(to);
        const fromRoot = merkleRoot(leaves.slice(0, from));
        const proof = { from, to, fromRoot, toRoot: merkleRoot(leaves) };
        const path = proofOf(planConsistency(from, to), leaves);
        expect(isConsistent({ ...proof, path })).toBe(true);
        expect(isConsistent({ ...proof, path: [...path, EMPTY_ROOT] })).toBe(false);
        if (from === 0) return;
        const other = leaves.with(changed % from, recordHash(Buffer.from('another')));
        const otherPath = proofOf(planConsistency(from, to), other);
        const rewritten = { ...proof, toRoot: merkleRoot(other), path: otherPath };
        expect(isConsistent(rewritten)).toBe(false);
      }),
    );
  });

  it('is not between a larger and a smaller one, or with an invalid size', () => {
    const root = merkleRoot(leavesOf(2));
    for (const [from, to] of [
      [2, 1],
      [-1, 2],
      [0.5, 2],
    ] as const) {
      expect(isConsistent({ from, to, fromRoot: root, toRoot: root, path: [] })).toBe(false);
    }
  });
});

describe('trees and subtrees', () => {
  it('a tree that continues from a frontier has the root of all leaves', () => {
    fc.assert(
      fc.property(size, fc.nat(), (count, at) => {
        const start = at % (count + 1);
        const leaves = leavesOf(count);
        const before = createMerkleTree();
        for (const leaf of leaves.slice(0, start)) before.add(leaf);
        const after = createMerkleTree(start, before.frontier());
        expect(after.root()).toBe(merkleRoot(leaves.slice(0, start)));
        for (const leaf of leaves.slice(start)) after.add(leaf);
        expect(after.root()).toBe(merkleRoot(leaves));
        expect(after.size).toBe(count);
        expect(() => createMerkleTree(start + 1, [...before.frontier(), '', ''])).toThrow();
      }),
    );
  });

  it('stored subtrees give every proof', () => {
    fc.assert(
      fc.property(size, fc.nat(), (to, at) => {
        const leaves = leavesOf(to);
        const stored = new Map<string, string>();
        for (const [index, leaf] of leaves.entries()) {
          stored.set(`0/${index}`, leaf);
          for (const { level, index: place } of subtreesCompletedBy(index)) {
            const halves = [2 * place, 2 * place + 1].map((half) =>
              String(stored.get(`${level - 1}/${half}`)),
            );
            stored.set(`${level}/${place}`, foldSubtrees(halves));
          }
        }
        const plan = [...planConsistency(at % to, to), ...planInclusion(at % to, to)];
        const fromStored = plan.map((range) =>
          foldSubtrees(
            subtreesOf(range).map(({ level, index }) => String(stored.get(`${level}/${index}`))),
          ),
        );
        expect(fromStored).toEqual(proofOf(plan, leaves));
      }),
    );
  });
});
