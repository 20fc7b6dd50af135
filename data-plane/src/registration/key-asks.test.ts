import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createKeyAsks } from './key-asks.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

it('asks three times at once, then three times a minute at most, and forgets no request', () => {
  const ask = vi.fn();
  const keyAsks = createKeyAsks(ask);
  for (let i = 0; i < 10; i++) keyAsks.request();
  expect(ask).toHaveBeenCalledTimes(3);
  vi.advanceTimersByTime(59_999);
  expect(ask).toHaveBeenCalledTimes(3);
  vi.advanceTimersByTime(1);
  expect(ask).toHaveBeenCalledTimes(4);
  vi.advanceTimersByTime(600_000);
  expect(ask).toHaveBeenCalledTimes(4);
  for (let i = 0; i < 10; i++) keyAsks.request();
  expect(ask).toHaveBeenCalledTimes(7);
  keyAsks.stop();
  vi.advanceTimersByTime(600_000);
  expect(ask).toHaveBeenCalledTimes(7);
});
