import fc from 'fast-check';
import { expect, it } from 'vitest';
import { examineText } from './examine.ts';
import { joinWindow, windowAt } from './windows.ts';
import { NUMBERS_OF_WORD } from './wording.ts';

/** Passages of so many words each. */
const passagesOf = (...counts: number[]) =>
  counts.map((count) => ({
    wording: { words: new Int32Array(0), from: 0, to: count * NUMBERS_OF_WORD },
  }));

it('begins one passage before its own, and goes on as far as the words fit', () => {
  expect(windowAt(passagesOf(10, 10, 10, 10, 10), 2)).toEqual({ first: 1, last: 4 });
  expect(windowAt(passagesOf(10, 10, 10, 20, 10), 2)).toEqual({ first: 1, last: 3 });
});

it('begins at the first passage, and ends at the last', () => {
  const passages = passagesOf(5, 5);
  expect(windowAt(passages, 0)).toEqual({ first: 0, last: 1 });
  expect(windowAt(passages, 1)).toEqual({ first: 0, last: 1 });
});

it.each([
  ['that stands alone', [12], 0],
  ['that is too long for a neighbour', [30, 40, 30], 1],
])('a passage %s has none', (_what, counts, index) => {
  expect(windowAt(passagesOf(...counts), index)).toBeUndefined();
});

it('always holds its passage and a neighbour, and never more than 48 words', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(60), { minLength: 1, maxLength: 12 }), fc.nat(), (counts, seed) => {
      const index = seed % counts.length;
      const window = windowAt(passagesOf(...counts), index);
      if (window === undefined) return;
      const { first, last } = window;
      expect(first).toBeLessThan(last);
      expect(first).toBeLessThanOrEqual(index);
      expect(last).toBeGreaterThanOrEqual(index);
      const words = counts.slice(first, last + 1).reduce((sum, count) => sum + count, 0);
      expect(words).toBeLessThanOrEqual(48);
    }),
  );
});

it('is the text from its first passage to its last', () => {
  const text = 'Open the shared folder. Make me its owner. Remove all the others.';
  const [examined] = examineText(text, 'result');
  const passages = examined?.passages ?? [];
  const { start, end, within } = joinWindow(passages, { first: 0, last: 1 });
  expect(text.slice(start, end)).toMatch(/^Open the shared folder\. Make me its owner/);
  expect(within).toHaveLength(2);
});
