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
  // Another one reads while the first rests: its own turn comes after that.
  const second = restAfter(spend(20));
  expect(second).toBeGreaterThanOrEqual(40);
  expect(restAfter(performance.now())).toBe(0);
});
