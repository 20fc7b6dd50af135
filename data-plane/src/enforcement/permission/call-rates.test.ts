import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { uuidv7 } from '@governance/shared/ids';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AgentKey } from '../call/calls.ts';
import { createCallRates } from './call-rates.ts';

const key = (name: string) => name as AgentKey;
const A = key('tenant a');

it('allows so many in a window, and says when the next may come', () => {
  let now = 0;
  const rates = createCallRates(() => now);
  const limit = { requests: 3, window_seconds: 10 };
  const take = () => rates.take(A, limit);
  expect([take(), take(), take(), take()]).toEqual([null, null, null, 11]);
  now = 9_999;
  expect(take()).toBe(1);
  now = 10_499;
  expect(take()).toBe(1);
  now = 10_500;
  expect([take(), take()]).toEqual([null, null]);
  now = 15_000;
  expect([take(), take()]).toEqual([null, 6]);
  now = 21_000;
  expect([take(), take(), take()]).toEqual([null, null, 5]);
  expect(rates.take(key('tenant b'), limit)).toBeNull();
});

const windowSeconds = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 3_600 }));

/** The time until the next call in slots: none, about a bound of slots, or any. */
const slotsBetween = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  fc
    .tuple(fc.integer({ min: 1, max: 24 }), fc.constantFrom(-0.01, 0, 0.01))
    .map(([slots, off]) => slots + off),
  fc.double({ min: 0, max: 24, noNaN: true }),
);

it('never allows more than the limit in any span of the window, nor refuses for longer than it says', () => {
  const limit = fc.record({
    requests: fc.integer({ min: 1, max: 30 }),
    window_seconds: windowSeconds,
  });
  const calls = fc.array(fc.record({ pause: slotsBetween, waits: fc.boolean() }), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(limit, calls, (rate, steps) => {
      let now = 0;
      const rates = createCallRates(() => now);
      const windowMs = rate.window_seconds * 1000;
      const slotMs = windowMs / 20;
      const allowed: number[] = [];
      const since = (from: number) => allowed.filter((at) => at > from).length;
      const take = () => {
        const wait = rates.take(A, rate);
        if (wait === null) {
          expect(since(now - windowMs)).toBeLessThan(rate.requests);
          allowed.push(now);
        } else {
          expect(since(now - windowMs - slotMs)).toBeGreaterThanOrEqual(rate.requests);
        }
        return wait;
      };
      for (const { pause, waits } of steps) {
        // In eighths of a millisecond, which are added without rounding.
        now += Math.round(pause * slotMs * 8) / 8;
        const wait = take();
        if (wait === null || !waits) continue;
        expect(wait).toBeGreaterThanOrEqual(1);
        now += (wait - 1) * 1000;
        if (wait > 1) expect(take()).toBe(1);
        now += 1000;
        expect(take()).toBeNull();
      }
    }),
  );
});

it('never refuses an agent that calls evenly at 0.95 of its limit', () => {
  const cases = fc.record({
    requests: fc.integer({ min: 1, max: 300 }),
    window_seconds: windowSeconds,
    phase: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(cases, ({ phase, ...rate }) => {
      let now = 0;
      const rates = createCallRates(() => now);
      const windowMs = rate.window_seconds * 1000;
      let refused = 0;
      for (let i = 0; i < 3 * rate.requests; i++) {
        now = (phase + i / (0.95 * rate.requests)) * windowMs;
        if (rates.take(A, rate) !== null) refused++;
      }
      expect(refused).toBe(0);
    }),
  );
});

it('allows an agent that never stops calling its limit in each window and slot', () => {
  let now = 0;
  const rates = createCallRates(() => now);
  let allowed = 0;
  for (; now < 21_000; now++) {
    if (rates.take(A, { requests: 7, window_seconds: 1 }) === null) allowed++;
  }
  expect(allowed).toBe(20 * 7);
});

it('counts the largest limit in the longest window', () => {
  let now = 3_600_000 - 1;
  const rates = createCallRates(() => now);
  const limit = { requests: 10_000_000, window_seconds: 3_600 };
  let refused = 0;
  for (let i = 0; i < limit.requests; i++) if (rates.take(A, limit) !== null) refused++;
  expect(refused).toBe(0);
  expect(rates.take(A, limit)).toBe(3_601);
  now += 3_600_000;
  expect(rates.take(A, limit)).toBe(1);
  now += 1;
  expect(rates.take(A, limit)).toBeNull();
});

it('takes a lowered limit at once, and starts from zero with another window', () => {
  let now = 0;
  const rates = createCallRates(() => now);
  const take = (requests: number, window_seconds = 10) =>
    rates.take(A, { requests, window_seconds });
  for (; now < 5_000; now += 1_000) expect(take(5)).toBeNull();
  // Calls at 0 to 4 s: one may go on when those until 3 s no longer count.
  expect(take(2)).toBe(9);
  now = 13_500;
  expect([take(2), take(2)]).toEqual([null, 1]);
  expect([take(1, 20), take(1, 20)]).toEqual([null, 21]);
  expect(take(1)).toBeNull();
});

it('forgets idle agents only, and first those whose window began first', () => {
  let now = 990;
  const rates = createCallRates(() => now, 3);
  const take = (name: string) => rates.take(key(name), { requests: 1, window_seconds: 1 });
  expect(take('a')).toBeNull();
  now = 1_950;
  expect([take('b'), take('a')]).toEqual([null, 1]);
  now = 1_999;
  expect(take('c')).toBeNull();
  // The window of a began after those of b and c.
  now = 2_010;
  expect(take('a')).toBeNull();
  expect([take('d'), take('a'), take('c')]).toEqual([null, 2, 1]);
  expect([take('b'), rates.size()]).toEqual([null, 3]);
  now = 4_000;
  expect([take('e'), rates.size()]).toEqual([null, 2]);
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

it('takes less than 64 MiB for as many agents as it counts at once', () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  // Parsed, as those in tokens are: the key is made of whole texts.
  const ids = JSON.parse(JSON.stringify(Array.from({ length: 150_000 }, () => uuidv7())));
  const tenant = JSON.parse(JSON.stringify(uuidv7()));
  gc();
  const before = process.memoryUsage().heapUsed;
  const rates = createCallRates(() => 1_000);
  while (ids.length > 0) {
    rates.take(key(`${tenant} ${ids.pop()}`), { requests: 10, window_seconds: 60 });
  }
  gc();
  expect(rates.size()).toBe(130_000);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
});
