import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readWordGroups, writeWordGroups } from './word-groups.ts';

const word = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

it('each word has the group that was written, and no other word has one', () => {
  const rows = fc.uniqueArray(fc.tuple(word, fc.integer({ min: 0, max: 65_534 })), {
    selector: ([number]) => number,
    maxLength: 500,
  });
  fc.assert(
    fc.property(rows, word, (known, other) => {
      const groups = readWordGroups(writeWordGroups(known));
      for (const [number, group] of known) expect(groups.find(number)).toBe(group);
      if (known.every(([number]) => number !== other)) expect(groups.find(other)).toBe(-1);
    }),
    { numRuns: 50 },
  );
});

it('more words than the table has room for are refused', () => {
  const rows = Array.from({ length: 16_385 }, (_, number): [number, number] => [number, 1]);
  expect(() => readWordGroups(writeWordGroups(rows))).toThrow('inbound:train');
});
