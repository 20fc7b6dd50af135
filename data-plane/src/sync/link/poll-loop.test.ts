import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backoff } from './backoff.ts';
import { LinkError } from './link-error.ts';
import { type PollLoop, startPollLoop } from './poll-loop.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const forever = (signal: AbortSignal) =>
  new Promise<boolean>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

describe('a poll loop', () => {
  it('pauses longer and longer while it fails, and not at all after a success', async () => {
    const at: number[] = [];
    const started = Date.now();
    let failing = true;
    const loop = startPollLoop({
      step: async (signal) => {
        at.push(Date.now() - started);
        if (failing) throw new Error('away');
        return forever(signal);
      },
      onFailure: () => undefined,
      limitsOf: () => ({ first: 100, longest: 1_000 }),
    });
    await vi.advanceTimersByTimeAsync(60_000);
    const pauses = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    for (const [index, pause] of pauses.entries()) {
      const full = Math.min(1_000, 100 * 2 ** index);
      expect(pause).toBeGreaterThanOrEqual(Math.floor(full / 2));
      expect(pause).toBeLessThanOrEqual(full + 1);
    }
    failing = false;
    await vi.advanceTimersByTimeAsync(1_001);
    const tries = at.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(at).toHaveLength(tries);
    await loop.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('tries at once when it is kicked, in a pause and in a wait', async () => {
    let steps = 0;
    const failures: unknown[] = [];
    const loop: PollLoop = startPollLoop({
      step: async (signal) => {
        steps++;
        if (steps === 1) throw new Error('away');
        return forever(signal);
      },
      onFailure: (error) => failures.push(error),
      limitsOf: () => ({ first: 60_000, longest: 60_000 }),
    });
    await vi.advanceTimersByTimeAsync(1);
    loop.kick();
    await vi.advanceTimersByTimeAsync(1);
    expect(steps).toBe(2);
    loop.kick();
    await vi.advanceTimersByTimeAsync(1);
    expect(steps).toBe(3);
    expect(failures).toHaveLength(1);
    await loop.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is woken out of a pause within a second, and not out of a wait', async () => {
    let steps = 0;
    const loop = startPollLoop({
      step: async (signal) => {
        steps++;
        if (steps === 1) throw new Error('away');
        return forever(signal);
      },
      onFailure: () => undefined,
      limitsOf: () => ({ first: 60_000, longest: 60_000 }),
    });
    await vi.advanceTimersByTimeAsync(1);
    loop.wake();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(steps).toBe(2);
    loop.wake();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(steps).toBe(2);
    await loop.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves a control plane alone for as long as it asks, but not for minutes', async () => {
    for (const [asked, waited] of [
      [5_000, 5_000],
      [600_000, 10_000],
    ] as const) {
      let steps = 0;
      const loop = startPollLoop({
        step: async () => {
          steps++;
          throw new LinkError('UNAVAILABLE', 'busy', { retryAfterMs: asked });
        },
        onFailure: () => undefined,
        limitsOf: () => ({ first: 1, longest: 1 }),
      });
      await vi.advanceTimersByTimeAsync(1);
      loop.wake();
      await vi.advanceTimersByTimeAsync(waited - 100);
      expect(steps).toBe(1);
      await vi.advanceTimersByTimeAsync(waited / 4 + 200);
      expect(steps).toBe(2);
      await loop.stop();
    }
  });

  it('continues at once while it finds something, and does not spin while it finds nothing', async () => {
    vi.useRealTimers();
    let left = 50;
    let empty = 0;
    const loop = startPollLoop({
      step: async () => {
        if (left > 0) return left-- > 0;
        empty++;
        return false;
      },
      onFailure: () => undefined,
    });
    await vi.waitFor(() => expect(empty).toBeGreaterThan(0));
    expect(left).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 250));
    await loop.stop();
    // A loop that spins comes by thousands of times.
    expect(empty).toBeLessThan(50);
  });
});

describe('backoff', () => {
  it('stays between half of its limit and its limit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (n, r) => {
          const wait = backoff(n, { first: 250, longest: 30_000 }, () => r);
          expect(wait).toBeGreaterThanOrEqual(125);
          expect(wait).toBeLessThanOrEqual(30_000);
        },
      ),
    );
  });
});
