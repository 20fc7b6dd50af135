import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { inTime } from './in-time.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new Promise<string>(() => {});
const tooLate = (): never => {
  throw new Error('too late');
};

it('gives what the work gave, and leaves no timer behind', async () => {
  expect(await inTime(Promise.resolve('done'), 100, tooLate)).toBe('done');
  expect(vi.getTimerCount()).toBe(0);
});

it('rejects with what the work threw, and leaves no timer behind', async () => {
  await expect(inTime(Promise.reject(new Error('broken')), 100, tooLate)).rejects.toThrow('broken');
  expect(vi.getTimerCount()).toBe(0);
});

it('gives what `late` returns once the time is over, and not before', async () => {
  const late = vi.fn(() => 'late');
  const waiting = inTime(never, 100, late);
  await vi.advanceTimersByTimeAsync(99);
  expect(late).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(await waiting).toBe('late');
});

it('rejects with what `late` throws', async () => {
  const refused = expect(inTime(never, 100, tooLate)).rejects.toThrow('too late');
  await vi.advanceTimersByTimeAsync(100);
  await refused;
});
