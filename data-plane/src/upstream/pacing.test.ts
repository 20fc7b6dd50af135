import { expect, it } from 'vitest';
import { createPace } from './pacing.ts';

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
