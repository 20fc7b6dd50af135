/**
 * Volumes are cut anywhere: none is too large, nothing is left out, and approvals are with their
 * calls.
 */
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { VOLUME_BYTES } from './evidence-request.ts';
import { cutLeaves, type Weight } from './export-plan.ts';

const MIB = 1024 * 1024;
const weigh = (leaves: readonly Omit<Weight, 'leaf'>[], first = 0): Weight[] =>
  leaves.map((one, n) => ({ ...one, leaf: first + n }));
const calls = (count: number, bytes = MIB): Omit<Weight, 'leaf'>[] =>
  Array.from({ length: count }, () => ({ records: 500, bytes, isAdmin: false }));
const admin = { records: 1, bytes: 1_000, isAdmin: true };

it('a volume ends behind the next leaf of the admin chain, where that is near', () => {
  expect(cutLeaves(weigh([...calls(35), admin, ...calls(5)]), 41)).toEqual([36, 41]);
});

it('or far, as long as the volume stays below what verifiers take', () => {
  // 47 MiB between the first call and the batch that has its approval.
  expect(cutLeaves(weigh([...calls(47), admin, ...calls(5)]), 53)).toEqual([48, 53]);
  const small = calls(30_000, 500).map((one) => ({ ...one, records: 1 }));
  const leaves = [...calls(20), ...small, admin, ...calls(5)];
  expect(cutLeaves(weigh(leaves), leaves.length)[0]).toBe(30_021);
});

it('or behind an earlier one, where the next is too far', () => {
  expect(cutLeaves(weigh([...calls(20), admin, ...calls(40), admin]), 62)).toEqual([21, 62]);
  expect(cutLeaves(weigh([...calls(3), admin, ...calls(47), admin]), 52)).toEqual([4, 52]);
});

it('the last volume ends behind one, too, where another follows too far away', () => {
  expect(cutLeaves(weigh([...calls(10), admin, ...calls(60), admin]), 20)).toEqual([11, 20]);
});

it('calls that came in during the export are no reason for another volume', () => {
  expect(cutLeaves(weigh([...calls(5), admin, ...calls(2)]), 7)).toEqual([7]);
  expect(cutLeaves(weigh([...calls(10), admin, ...calls(60)]), 20)).toEqual([20]);
});

it('or where it is full, where there is none: it does not grow beyond what verifiers take', () => {
  expect(cutLeaves(weigh(calls(100)), 100)).toEqual([32, 64, 96, 100]);
});

it('a volume of small leaves has no more of them, and of their records, than verifiers take', () => {
  for (const records of [1, 30]) {
    const small = { records, bytes: records * 300, isAdmin: false };
    const leaves = Array.from({ length: 210_000 }, (_, n) => (n % 999 === 998 ? admin : small));
    const weights = weigh(leaves);
    let start = 0;
    for (const end of cutLeaves(weights, leaves.length)) {
      const volume = weights.slice(start, end);
      expect(volume.length).toBeLessThan(VOLUME_LIMITS.batches);
      const count = volume.reduce((sum, leaf) => sum + leaf.records, 0);
      expect(count).toBeLessThan(VOLUME_LIMITS.payloads);
      start = end;
    }
    expect(start).toBe(leaves.length);
  }
});

it('the last volume takes the admin leaf behind the range, and nothing where there is none', () => {
  expect(cutLeaves(weigh([...calls(10), admin, ...calls(3)]), 8)).toEqual([11]);
  expect(cutLeaves(weigh(calls(14)), 8)).toEqual([8]);
});

it('always: volumes follow each other to the end of the range, none much larger than one is', () => {
  const leaf = fc.record({
    records: fc.integer({ min: 1, max: 500 }),
    bytes: fc.integer({ min: 300, max: 8 * MIB }),
    isAdmin: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(leaf, { minLength: 1, maxLength: 80 }),
      fc.nat(1_000),
      fc.nat(79),
      (leaves, first, length) => {
        const weights = weigh(leaves, first);
        const end = first + Math.min(leaves.length, length + 1);
        const ends = cutLeaves(weights, end);
        expect(ends.at(-1)).toBeGreaterThanOrEqual(end);
        let start = first;
        for (const next of ends) {
          expect(next).toBeGreaterThan(start);
          const own = weights.slice(start - first, next - first);
          const bytes = own.reduce((sum, one) => sum + one.bytes, 0);
          const records = own.reduce((sum, one) => sum + one.records, 0);
          expect(bytes).toBeLessThanOrEqual(VOLUME_BYTES * 1.25 + 8 * MIB);
          expect(bytes).toBeLessThan(VOLUME_LIMITS.packedBytes);
          expect(records).toBeLessThanOrEqual(VOLUME_LIMITS.payloads);
          start = next;
        }
      },
    ),
  );
});
