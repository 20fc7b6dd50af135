import fc from 'fast-check';
import { expect, it } from 'vitest';
import { recordHash } from '../ledger/hash-chain.ts';
import { describeLargeRecord } from '../testing/test-evidence.ts';
import {
  hashOfLargeRecord,
  LargeRecord,
  MAX_SHOWN_BYTES,
  stepsOfLargeRecord,
} from './large-record.ts';

it('a record described by its size and the end of its hash has the same hash, at any size', () => {
  // Each length of the rest, which takes one last block or two.
  for (let more = 1; more <= 65; more++) {
    const bytes = Buffer.alloc(MAX_SHOWN_BYTES + more, `record ${more}`);
    const described = LargeRecord.parse(describeLargeRecord(bytes));
    expect(hashOfLargeRecord(described)).toBe(recordHash(bytes));
  }
});

it('always: with another size it has another hash, or none', () => {
  const bytes = Buffer.alloc(MAX_SHOWN_BYTES + 100, 'x');
  const { large_record } = describeLargeRecord(bytes);
  fc.assert(
    fc.property(fc.integer({ min: -2_000, max: 2_000 }), fc.boolean(), (by, isSameRest) => {
      fc.pre(by !== 0);
      // The same rest belongs to sizes that differ by whole blocks.
      const size = large_record.size + (isSameRest ? by * 64 : by);
      const other = { large_record: { ...large_record, size } };
      let hash: string | undefined;
      try {
        hash = hashOfLargeRecord(other);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
      expect(hash).not.toBe(recordHash(bytes));
    }),
  );
});

it('a record that can be shown whole is not described', () => {
  expect(() => describeLargeRecord(Buffer.alloc(MAX_SHOWN_BYTES))).toThrow(RangeError);
  const described = describeLargeRecord(Buffer.alloc(MAX_SHOWN_BYTES + 1));
  const { large_record } = described;
  const size = MAX_SHOWN_BYTES;
  expect(LargeRecord.safeParse({ large_record: { ...large_record, size } }).success).toBe(false);
});

it('a rest in another writing is refused', () => {
  const { large_record } = describeLargeRecord(Buffer.alloc(MAX_SHOWN_BYTES + 1));
  const rest = `${large_record.rest}\n`;
  expect(() => hashOfLargeRecord({ large_record: { ...large_record, rest } })).toThrow(RangeError);
});

it('a large record is described in steps, so that a server can answer between them', () => {
  const bytes = Buffer.alloc(8 * MAX_SHOWN_BYTES, 'step');
  const steps = [...stepsOfLargeRecord(bytes)];
  expect(steps.length).toBeGreaterThanOrEqual(7);
  expect(hashOfLargeRecord(describeLargeRecord(bytes))).toBe(recordHash(bytes));
});
