import { expect, test } from 'vitest';
import { FIRST_COMPILE_MS, LATER_COMPILE_MS, measureCompileTimes } from './compile-time.ts';

/**
 * The promised times are held by `npm run compiler:verify`, which has the machine to itself. Here
 * other tests share it: twice the time, by the best of a few attempts.
 */
test('compiling is about as fast as promised', async () => {
  const isFast = ({ firstMs, laterMs }: { firstMs: number; laterMs: number }) =>
    firstMs <= 2 * FIRST_COMPILE_MS && laterMs <= 2 * LATER_COMPILE_MS;
  let times = await measureCompileTimes();
  for (let attempt = 0; attempt < 3 && !isFast(times); attempt++) {
    times = await measureCompileTimes();
  }
  expect(times).toSatisfy(isFast);
}, 120_000);
