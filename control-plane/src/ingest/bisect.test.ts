import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findFailing } from './bisect.ts';

it('finds exactly the items that fail, with about log2(n) trials for each', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 600 }),
      fc.uniqueArray(fc.nat(599), { maxLength: 5 }),
      async (length, positions) => {
        const bad = new Set(positions.filter((position) => position < length));
        const items = Array.from({ length }, (_, i) => i);
        let trials = 0;
        const found = await findFailing(items, async (some) => {
          trials += 1;
          return some.some((item) => bad.has(item)) ? 'bad' : undefined;
        });
        expect(new Set(found.keys())).toEqual(bad);
        const depth = Math.ceil(Math.log2(Math.max(1, length)));
        expect(trials).toBeLessThanOrEqual(1 + 2 * depth * bad.size);
      },
    ),
  );
});

it('finds none where items fail only together', async () => {
  const found = await findFailing([1, 2], async (some) => (some.length > 1 ? 'both' : undefined));
  expect(found.size).toBe(0);
});
