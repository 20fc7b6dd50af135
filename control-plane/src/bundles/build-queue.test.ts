import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBuildQueue } from './build-queue.ts';

const DEBOUNCE_MS = 20;

/** A build that ends when the test says so, and reports the state it began with. */
function aBuilder() {
  let state = 0;
  const running: { tenantId: string; end(error?: Error): void }[] = [];
  let started = 0;
  return {
    change: () => ++state,
    started: () => started,
    running,
    build: (tenantId: string) =>
      new Promise<number>((resolve, reject) => {
        started++;
        const seen = state;
        running.push({ tenantId, end: (error) => (error ? reject(error) : resolve(seen)) });
      }),
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the build queue', () => {
  it('builds once for requests that come together', async () => {
    const builder = aBuilder();
    const queue = createBuildQueue({
      build: builder.build,
      debounceMs: DEBOUNCE_MS,
      concurrency: 1,
    });
    const answers = [1, 2, 3].map(() => queue.request('a'));
    await vi.advanceTimersByTimeAsync(DEBOUNCE_MS);
    expect(builder.started()).toBe(1);
    builder.running[0]?.end();
    expect(await Promise.all(answers)).toEqual([0, 0, 0]);
    await vi.advanceTimersByTimeAsync(10 * DEBOUNCE_MS);
    expect(builder.started()).toBe(1);
  });

  it('does not postpone the build under a stream of requests', async () => {
    const builder = aBuilder();
    const queue = createBuildQueue({
      build: builder.build,
      debounceMs: DEBOUNCE_MS,
      concurrency: 1,
    });
    for (let i = 0; i < 10; i++) {
      void queue.request('a');
      await vi.advanceTimersByTimeAsync(DEBOUNCE_MS / 5);
    }
    expect(builder.started()).toBe(1);
  });

  it('serves a request made during a build by a build that began after it', async () => {
    const builder = aBuilder();
    const queue = createBuildQueue({
      build: builder.build,
      debounceMs: DEBOUNCE_MS,
      concurrency: 1,
    });
    builder.change();
    const first = queue.request('a');
    await vi.advanceTimersByTimeAsync(DEBOUNCE_MS);
    const changed = builder.change();
    const second = queue.request('a');
    builder.running[0]?.end();
    expect(await first).toBe(1);
    await vi.advanceTimersByTimeAsync(DEBOUNCE_MS);
    builder.running[1]?.end();
    expect(await second).toBe(changed);
    expect(builder.started()).toBe(2);
  });

  it('keeps tenants apart and builds no more of them at once than it may', async () => {
    const builder = aBuilder();
    const queue = createBuildQueue({
      build: builder.build,
      debounceMs: DEBOUNCE_MS,
      concurrency: 2,
    });
    const answers = ['a', 'b', 'c'].map((tenant) => queue.request(tenant));
    await vi.advanceTimersByTimeAsync(DEBOUNCE_MS);
    expect(builder.running.map((build) => build.tenantId)).toEqual(['a', 'b']);
    builder.running[0]?.end();
    await answers[0];
    await vi.advanceTimersByTimeAsync(0);
    expect(builder.running.map((build) => build.tenantId)).toEqual(['a', 'b', 'c']);
  });

  it('reports a failure to those who asked, and retries by itself until it succeeds', async () => {
    const builder = aBuilder();
    const queue = createBuildQueue({
      build: builder.build,
      debounceMs: DEBOUNCE_MS,
      concurrency: 1,
    });
    const refused = expect(queue.request('a')).rejects.toThrow('no compiler');
    await vi.advanceTimersByTimeAsync(DEBOUNCE_MS);
    builder.running[0]?.end(new Error('no compiler'));
    await refused;
    await vi.advanceTimersByTimeAsync(1_000 + DEBOUNCE_MS);
    expect(builder.started()).toBe(2);
    builder.running[1]?.end(new Error('still none'));
    await vi.advanceTimersByTimeAsync(1_000 + DEBOUNCE_MS);
    expect(builder.started()).toBe(2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(builder.started()).toBe(3);
    builder.running[2]?.end();
    await vi.advanceTimersByTimeAsync(200_000);
    expect(builder.started()).toBe(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('refuses waiting builds when it closes, and waits for running ones', async () => {
    const builder = aBuilder();
    const queue = createBuildQueue({
      build: builder.build,
      debounceMs: DEBOUNCE_MS,
      concurrency: 1,
    });
    const running = queue.request('a');
    await vi.advanceTimersByTimeAsync(DEBOUNCE_MS);
    const refused = expect(queue.request('a')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    let closed = false;
    const closing = queue.close().then(() => {
      closed = true;
    });
    await refused;
    expect(closed).toBe(false);
    builder.running[0]?.end();
    await running;
    await closing;
    await expect(queue.request('a')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(vi.getTimerCount()).toBe(0);
  });
});
