import { expect, it } from 'vitest';
import { createRateLimiter } from './rate-limiter.ts';

function limiter(limit: number) {
  let time = 0;
  const rates = createRateLimiter({ limit, windowMs: 60_000, now: () => new Date(time) });
  const at = (ms: number) => {
    time = ms;
  };
  return { ...rates, at };
}
const isLimited = (rates: ReturnType<typeof limiter>, key: string) => {
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
