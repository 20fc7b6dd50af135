import { expect, it } from 'vitest';
import { restAfter } from './pacing.ts';

const spend = (ms: number) => {
  const begun = performance.now();
  while (performance.now() - begun < ms);
  return begun;
};

it('rests after costly reading for as long as it took, those of several servers in turn', () => {
  expect(restAfter(performance.now())).toBe(0);
  const first = restAfter(spend(20));
  expect(first).toBeGreaterThanOrEqual(20);
  const second = restAfter(spend(20));
  // It begins to count where the first one ends.
  expect(second).toBeGreaterThanOrEqual(first);
  expect(restAfter(performance.now())).toBe(0);
});
