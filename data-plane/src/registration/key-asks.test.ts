import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createKeyAsks } from './key-asks.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

it('asks at once, then once a minute at most, and forgets no request', () => {
  const ask = vi.fn();
  const keyAsks = createKeyAsks(ask, Date.now);
  for (let i = 0; i < 10; i++) keyAsks.request();
  expect(ask).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(59_999);
  expect(ask).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect(ask).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(600_000);
  expect(ask).toHaveBeenCalledTimes(2);
  keyAsks.request();
  keyAsks.request();
  keyAsks.stop();
  vi.advanceTimersByTime(600_000);
  expect(ask).toHaveBeenCalledTimes(3);
});
