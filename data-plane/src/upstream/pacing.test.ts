import { expect, it } from 'vitest';
import { createAllowance, createPace } from './pacing.ts';

it('rests after costly reading for as long as it took, those of several servers in turn', () => {
  const restAfter = createPace();
  expect(restAfter(100, 101)).toBe(0);
  expect(restAfter(100, 120)).toBe(20);
  // Another one reads while the first rests: its own turn comes after that.
  expect(restAfter(120, 140)).toBe(40);
  expect(restAfter(140, 160)).toBe(60);
  // Half of the time was theirs.
  expect(restAfter(220, 240)).toBe(20);
  expect(restAfter(240, 241)).toBe(0);
});

it('lets reading that nobody waits for take a tenth of the time once it lasts', () => {
  const allowance = createAllowance(0);
  // A second is read at once.
  expect(allowance.spend(0, 0, 500)).toBe(0);
  expect(allowance.spend(0, 500, 1_000)).toBe(0);
  // Its share of that time, too.
  expect(allowance.spend(0, 1_000, 1_200)).toBeCloseTo(1_300);
  // After that rest, each further chunk takes a tenth of the time.
  expect(allowance.spend(0, 2_500, 2_510)).toBeCloseTo(90);
  expect(allowance.spend(0, 2_600, 2_610)).toBeCloseTo(90);
  // Bytes that are only thrown away cost something, too.
  expect(allowance.spend(10 * 1024 * 1024, 2_700, 2_700)).toBeCloseTo(300);
  allowance.refill();
  expect(allowance.spend(0, 2_700, 3_600)).toBe(0);
});
