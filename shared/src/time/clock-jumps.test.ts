import { expect, it } from 'vitest';
import { createJumpWatch } from './clock-jumps.ts';

const MINUTE = 60_000;

it('a jump has settled on the least that was shown for ten minutes', () => {
  let passed = 0;
  const jump = createJumpWatch(() => passed);
  const show = (aheadBy: number) => jump.show(passed + aheadBy);
  expect([jump.isUnderWay(), show(2_000)]).toEqual([false, null]);
  passed += 9 * MINUTE;
  expect([show(9_000), jump.least()]).toEqual([null, passed + 2_000]);
  expect(show(1_000)).toBeNull();
  passed += MINUTE;
  expect([jump.isUnderWay(), show(1e9)]).toEqual([true, passed + 1_000]);
  jump.end();
  expect([jump.isUnderWay(), show(3_000), jump.least()]).toEqual([false, null, passed + 3_000]);
  passed += 10 * MINUTE;
  expect(show(3_000)).toBe(passed + 3_000);
});
