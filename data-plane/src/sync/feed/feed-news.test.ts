import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createFeedNews,
  NEWS_BURST,
  NEWS_EVERY_MS,
  NEWS_WAIT_MS,
  NEWS_WAITERS,
  NEWS_WAITERS_PER_AGENT,
  NEWS_WAITERS_UNKNOWN,
} from './feed-news.ts';

let reads: number;
let news: ReturnType<typeof createFeedNews>;

function make(): void {
  vi.useFakeTimers();
  reads = 0;
  news = createFeedNews({ hurry: () => reads++, elapsed: () => Date.now() });
}
beforeEach(make);
afterEach(() => {
  news.stop();
  vi.useRealTimers();
});

/** A read from its begin to its end. */
function read(): boolean {
  const isAsked = news.began();
  news.reached();
  return isAsked;
}

describe('news of the feed', () => {
  it('is read once for all who ask in the meantime', async () => {
    const asked = Array.from({ length: 20 }, () => news.ask('a'));
    expect(reads).toBe(1);
    expect(read()).toBe(true);
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['current']));
    expect(read()).toBe(false);
  });

  it('comes from a read that began after the question', async () => {
    const early = news.ask('a');
    news.began();
    const asked = news.ask('a');
    expect(reads).toBe(2);
    news.reached();
    expect(await early).toBe('current');
    expect(news.began()).toBe(true);
    news.failed();
    expect(await asked).toBe('unreachable');
  });

  it('is awaited up to a limit', async () => {
    const asked = news.ask('a');
    news.began();
    await vi.advanceTimersByTimeAsync(NEWS_WAIT_MS);
    expect(await asked).toBe('late');
    // Its end changes nothing any more.
    news.reached();
    expect(news.began()).toBe(false);
  });

  it('is read for a caller just after others, and a little later for all who ask too often', async () => {
    for (let n = 0; n < NEWS_BURST; n++) {
      const asked = news.ask(null);
      read();
      expect(await asked).toBe('current');
    }
    expect(reads).toBe(NEWS_BURST);
    const late = [news.ask('a'), news.ask(null)];
    expect(reads).toBe(NEWS_BURST);
    await vi.advanceTimersByTimeAsync(NEWS_EVERY_MS);
    expect(reads).toBe(NEWS_BURST + 1);
    expect(read()).toBe(true);
    expect(await Promise.all(late)).toEqual(['current', 'current']);
  });

  it('is requested at a bounded rate, and nobody gets an answer from before the question', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(900), { minLength: 1, maxLength: 60 }), async (pauses) => {
        news.stop();
        make();
        const begun = Date.now();
        let lastBegan = -1;
        const answers: Promise<boolean>[] = [];
        for (const pause of pauses) {
          const at = Date.now();
          answers.push(news.ask(null).then((said) => said !== 'current' || lastBegan >= at));
          await vi.advanceTimersByTimeAsync(pause);
          lastBegan = Date.now();
          read();
        }
        await vi.advanceTimersByTimeAsync(NEWS_WAIT_MS);
        expect(await Promise.all(answers)).not.toContain(false);
        const most = NEWS_BURST + Math.floor((Date.now() - begun) / NEWS_EVERY_MS);
        expect(reads).toBeLessThanOrEqual(most);
      }),
      { numRuns: 50 },
    );
  });

  it('keeps a bounded number waiting, and strangers take no place of an agent', async () => {
    const strangers = Array.from({ length: NEWS_WAITERS_UNKNOWN }, () => news.ask(null));
    expect(await news.ask(null)).toBe('crowded');
    const mine = Array.from({ length: NEWS_WAITERS_PER_AGENT }, () => news.ask('a'));
    expect(await news.ask('a')).toBe('crowded');
    const others = [];
    for (let n = NEWS_WAITERS_UNKNOWN + NEWS_WAITERS_PER_AGENT; n < NEWS_WAITERS; n++) {
      others.push(news.ask(`agent ${n}`));
    }
    expect(await news.ask('b')).toBe('crowded');
    read();
    const all = await Promise.all([...strangers, ...mine, ...others]);
    expect(new Set(all)).toEqual(new Set(['current']));
    // Every place is free again.
    const again = news.ask('a');
    news.stop();
    expect(await again).toBe('late');
  });
});
