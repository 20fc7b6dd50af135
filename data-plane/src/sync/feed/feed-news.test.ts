import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFeedNews, NEWS_EVERY_MS, NEWS_WAIT_MS, NEWS_WAITERS } from './feed-news.ts';

let time: number;
let reads: number;
let news: ReturnType<typeof createFeedNews>;

beforeEach(() => {
  vi.useFakeTimers();
  time = 0;
  reads = 0;
  news = createFeedNews({ hurry: () => reads++, elapsed: () => time });
});

afterEach(() => void vi.useRealTimers());

describe('news of the feed', () => {
  it('is read once for all who ask meanwhile', async () => {
    const asked = Array.from({ length: 20 }, () => news.ask());
    expect(reads).toBe(1);
    expect(news.isAsked()).toBe(true);
    news.began();
    news.reached();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['current']));
    expect(news.isAsked()).toBe(false);
  });

  it('is what a read tells that began after the question', async () => {
    news.began();
    const asked = news.ask();
    news.reached();
    expect(news.isAsked()).toBe(true);
    news.began();
    news.failed();
    expect(await asked).toBe('unreachable');
  });

  it('is waited for so long and no longer', async () => {
    const asked = news.ask();
    news.began();
    await vi.advanceTimersByTimeAsync(NEWS_WAIT_MS);
    expect(await asked).toBe('late');
    // Its end changes nothing any more.
    news.reached();
    expect(news.isAsked()).toBe(false);
  });

  it('is not read again for some seconds, whoever asks: the last answer stands', async () => {
    const first = news.ask();
    news.began();
    news.reached();
    await first;
    for (time = 0; time < NEWS_EVERY_MS; time += 100) expect(await news.ask()).toBe('current');
    expect(reads).toBe(1);
    void news.ask();
    expect(reads).toBe(2);
  });

  it('is waited for again after a read that failed, without one more', async () => {
    const first = news.ask();
    news.began();
    news.failed();
    expect(await first).toBe('unreachable');
    const second = news.ask();
    expect(reads).toBe(1);
    news.began();
    news.reached();
    expect(await second).toBe('current');
  });

  it('keeps only so many waiting', async () => {
    const asked = Array.from({ length: NEWS_WAITERS }, () => news.ask());
    expect(await news.ask()).toBe('crowded');
    news.stop();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['late']));
  });
});
