import { expect, it, vi } from 'vitest';
import { AppError } from '../errors.ts';
import { createExactLimiter, createRateLimiter } from './rate-limiter.ts';

function limiter(limit: number) {
  let time = 0;
  const rates = createRateLimiter({ limit, windowMs: 60_000, elapsed: () => time });
  const at = (ms: number) => {
    time = ms;
  };
  return { ...rates, at };
}
const isLimited = (rates: Pick<ReturnType<typeof limiter>, 'check'>, key: string) => {
  try {
    rates.check(key);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'RATE_LIMITED' });
    return true;
  }
};

it('limits a key at its limit, and no other key', () => {
  const rates = limiter(3);
  for (let i = 0; i < 3; i++) {
    expect(isLimited(rates, 'a')).toBe(false);
    rates.count('a');
  }
  expect(isLimited(rates, 'a')).toBe(true);
  expect(isLimited(rates, 'b')).toBe(false);
});

it('slides: what was used at the end of a window counts at the start of the next', () => {
  const rates = limiter(10);
  rates.at(59_000);
  for (let i = 0; i < 10; i++) rates.count('a');
  rates.at(60_500);
  rates.count('a');
  expect(isLimited(rates, 'a')).toBe(true);
  rates.at(75_000);
  expect(isLimited(rates, 'a')).toBe(false);
  rates.at(200_000);
  for (let i = 0; i < 9; i++) rates.count('a');
  expect(isLimited(rates, 'a')).toBe(false);
});

it('takes back what was counted, and never more', () => {
  const rates = limiter(1);
  rates.count('a');
  rates.giveBack('a');
  expect([isLimited(rates, 'a'), rates.used('a')]).toEqual([false, 0]);
  rates.giveBack('a');
  rates.count('a');
  expect([isLimited(rates, 'a'), rates.used('a')]).toEqual([true, 1]);
});

it('forgets a key on demand', () => {
  const rates = limiter(1);
  rates.count('a');
  rates.forget('a');
  expect(isLimited(rates, 'a')).toBe(false);
});

it('admits no further one as soon as the first part of a window has left', () => {
  const rates = limiter(5);
  rates.at(59_000);
  for (let i = 0; i < 5; i++) rates.count('a');
  for (const ms of [60_001, 62_000, 71_999]) {
    rates.at(ms);
    expect(isLimited(rates, 'a'), `${ms}`).toBe(true);
  }
  rates.at(72_000);
  expect(isLimited(rates, 'a')).toBe(false);
});

it('an exact limit holds in every span of a window, and by key', () => {
  let time = 0;
  const rates = createExactLimiter({ limit: 5, windowMs: 60_000, elapsed: () => time });
  const admitted: number[] = [];
  for (time = 0; time < 600_000; time += 1_000) {
    if (isLimited(rates, 'a')) continue;
    rates.count('a');
    admitted.push(time);
  }
  expect(admitted.slice(0, 6)).toEqual([0, 1_000, 2_000, 3_000, 4_000, 60_000]);
  admitted.forEach((at, i) => {
    expect((admitted[i + 5] ?? Infinity) - at).toBeGreaterThanOrEqual(60_000);
  });
  time = 0;
  expect(isLimited(rates, 'b')).toBe(false);
});

it.each([
  ['exact', createExactLimiter],
  ['estimated', createRateLimiter],
])('an %s limit begins no new window where the clock of the machine jumps', (_, create) => {
  vi.useFakeTimers({ toFake: ['Date'], now: 10_000 * 60_000 });
  try {
    const rates = create({ limit: 5, windowMs: 60_000 });
    for (let i = 0; i < 5; i++) rates.count('a');
    for (const jump of [3_600_000, -3_600_000, -86_400_000]) {
      vi.setSystemTime(Date.now() + jump);
      expect(isLimited(rates, 'a')).toBe(true);
    }
  } finally {
    vi.useRealTimers();
  }
});

/** What a refusal says in Retry-After; undefined where there is none. */
const waitSeconds = (rates: Pick<ReturnType<typeof limiter>, 'check'>) => {
  try {
    rates.check('a');
  } catch (error) {
    return error instanceof AppError ? error.retryAfterSeconds : error;
  }
  return undefined;
};

it.each([
  ['exact', createExactLimiter],
  ['estimated', createRateLimiter],
])('an %s limit by the hour says how long to wait, and then admits one', (_, create) => {
  const hour = 3_600_000;
  for (const started of [0, 1_000_000, hour - 1]) {
    for (const [limit, events] of [
      [1, 1],
      [5, 5],
      [5, 8],
    ] as const) {
      let time = started;
      const rates = create({ limit, windowMs: hour, elapsed: () => time });
      for (let i = 0; i < events; i++, time += 1_000) rates.count('a');
      const seconds = waitSeconds(rates) as number;
      expect(seconds).toBeGreaterThan(60);
      time += (seconds - 2) * 1_000;
      expect(waitSeconds(rates)).toBeLessThanOrEqual(2);
      time += 2_000;
      expect(waitSeconds(rates)).toBeUndefined();
    }
  }
});
