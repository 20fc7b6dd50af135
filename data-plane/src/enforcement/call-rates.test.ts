import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { uuidv7 } from '@governance/shared/ids';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCallRates } from './call-rates.ts';
import type { AgentKey } from './calls.ts';

const key = (name: string) => name as AgentKey;
const A = key('tenant a');

it('allows so many in a window, and says when the next may come', () => {
  let now = 0;
  const rates = createCallRates(() => now);
  const limit = { requests: 3, window_seconds: 10 };
  const take = () => rates.take(A, limit);
  expect([take(), take(), take(), take()]).toEqual([null, null, null, 14]);
  now = 9_999;
  expect(take()).toBe(4);
  now = 13_333;
  expect(take()).toBe(1);
  now = 13_334;
  expect([take(), take()]).toEqual([null, 4]);
  now = 40_000;
  expect([take(), take(), take()]).toEqual([null, null, null]);
  expect(rates.take(key('tenant b'), limit)).toBeNull();
});

it('never allows more than the limit in a window, nor refuses for longer than it says', () => {
  const limit = fc.record({
    requests: fc.integer({ min: 1, max: 20 }),
    window_seconds: fc.integer({ min: 1, max: 30 }),
  });
  const waits = fc.array(fc.integer({ min: 0, max: 9_000 }), { minLength: 1, maxLength: 120 });
  fc.assert(
    fc.property(limit, waits, (rate, steps) => {
      let now = 0;
      const rates = createCallRates(() => now);
      const windowMs = rate.window_seconds * 1000;
      const inWindow = new Map<number, number>();
      for (const step of steps) {
        now += step;
        const wait = rates.take(A, rate);
        if (wait === null) {
          const window = Math.floor(now / windowMs);
          const count = (inWindow.get(window) ?? 0) + 1;
          inWindow.set(window, count);
          expect(count).toBeLessThanOrEqual(rate.requests);
        } else {
          expect(wait).toBeGreaterThanOrEqual(1);
          now += wait * 1000;
          expect(rates.take(A, rate)).toBeNull();
          const window = Math.floor(now / windowMs);
          inWindow.set(window, (inWindow.get(window) ?? 0) + 1);
        }
      }
    }),
  );
});

it('allows twice the limit less one around the end of a window, and no more', () => {
  let now = 9_997;
  const rates = createCallRates(() => now);
  const limit = { requests: 3, window_seconds: 10 };
  const allowed: number[] = [];
  for (; now < 40_000; now++) if (rates.take(A, limit) === null) allowed.push(now);
  expect(allowed.slice(0, 6)).toEqual([9_997, 9_998, 9_999, 13_334, 16_667, 20_000]);
  for (const from of allowed) {
    const within = allowed.filter((at) => at >= from && at < from + 10_000);
    expect(within.length).toBeLessThanOrEqual(5);
  }
});

it('forgets agents that stop calling, and is bounded', () => {
  let now = 0;
  const rates = createCallRates(() => now, 10);
  const limit = { requests: 1, window_seconds: 1 };
  for (let i = 0; i < 25; i++) rates.take(key(`tenant ${i}`), limit);
  expect(rates.size()).toBeLessThanOrEqual(10);
  now = 60_000;
  for (let i = 0; i < 10; i++) rates.take(key(`other ${i}`), limit);
  expect(rates.size()).toBeLessThanOrEqual(10);
  expect(rates.take(key('other 9'), limit)).not.toBeNull();
});

it('takes less than 64 MiB for 100,000 agents', () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
  const before = process.memoryUsage().heapUsed;
  const rates = createCallRates(() => 1_000);
  const tenant = uuidv7();
  for (let i = 0; i < 100_000; i++) {
    rates.take(key(`${tenant} ${uuidv7()}`), { requests: 10, window_seconds: 60 });
  }
  gc();
  expect(rates.size()).toBe(100_000);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
});
