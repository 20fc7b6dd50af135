import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DENSE, findThinned, type KeptAt, MAX_KEPT_CHECKPOINTS } from './thinning.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Keeps one after the other, as the store does. */
function keepAll(gaps: readonly number[]): { kept: KeptAt[]; now: number } {
  let kept: KeptAt[] = [];
  let now = Date.UTC(2026, 4, 4);
  for (const [id, gap] of gaps.entries()) {
    now += gap;
    kept.push({ id, seenAt: now, isHighest: false });
    const last = kept.length - 1;
    const marked = kept.map((one, n) => ({ ...one, isHighest: n === last }));
    const dropped = new Set(findThinned(marked, now));
    kept = kept.filter((one) => !dropped.has(one.id));
  }
  return { kept, now };
}

it('keeps the newest ones, the first one and no more than its bound, whatever comes', () => {
  const gaps = fc.array(fc.oneof(fc.nat(10 * MINUTE), fc.nat(3 * DAY)), {
    minLength: 1,
    maxLength: 400,
  });
  fc.assert(
    fc.property(gaps, (given) => {
      const { kept } = keepAll(given);
      expect(kept.length).toBeLessThanOrEqual(MAX_KEPT_CHECKPOINTS);
      const newest = given.map((_, id) => id).slice(-DENSE);
      expect(kept.slice(-newest.length).map(({ id }) => id)).toEqual(newest);
      expect(kept[0]?.id).toBe(0);
    }),
    { numRuns: 50 },
  );
});

it('keeps one an hour of a week, and one a day of what is older', () => {
  const { kept, now } = keepAll(Array.from({ length: 30 * 288 }, () => 5 * MINUTE));
  const older = kept.slice(0, -DENSE).map(({ seenAt }) => now - seenAt);
  const week = older.filter((age) => age < 7 * DAY).length;
  expect(week).toBeGreaterThanOrEqual(6 * 24);
  expect(week).toBeLessThanOrEqual(7 * 24 + 1);
  expect(older.length - week).toBeGreaterThanOrEqual(22);
  expect(older.length - week).toBeLessThanOrEqual(24);
});

it('stays within its bound where every checkpoint is the largest of a line', () => {
  const kept = Array.from({ length: MAX_KEPT_CHECKPOINTS + 50 }, (_, id) => ({
    ...{ id, seenAt: id * MINUTE, isHighest: true },
  }));
  const dropped = findThinned(kept, kept.length * MINUTE);
  expect(dropped).toHaveLength(50);
  expect(dropped).not.toContain(0);
});
