/**
 * How soon a data plane is back after an outage: the feed looks every two seconds at most, and
 * whoever hears the control plane first wakes the others.
 */
import { AppError } from '@governance/shared/errors';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AWAY_BACKOFF, BUSY_BACKOFF, backoff } from './backoff.ts';
import { createContact, outageBackoff } from './contact.ts';
import { startHeartbeat } from './heartbeat.ts';
import { AnswerRefusedError, LinkError } from './link-error.ts';
import { startPollLoop } from './poll-loop.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const away = () => new LinkError('UNAVAILABLE', 'the control plane was not reached');
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const beat = {
  deployment_id: '0190aaaa-0000-7000-8000-00000000000a',
  active_agent_count: 0,
  proxy_rpm_1m: 0,
  escalations_pending: 0,
  opa_bundle_version: 'none',
  uptime_seconds: 1,
};

/** A link of which only beats are used, and how often its contact told of the control plane's return. */
function aContact() {
  const seen = { back: 0, isAway: false, awaySince: [] as (string | null)[] };
  const contact = createContact({
    link: {
      heartbeat: async () => {
        if (seen.isAway) throw away();
        return { received: true, timestamp: new Date().toISOString() };
      },
    } as unknown as Parameters<typeof createContact>[0]['link'],
    refusal: () => null,
    isRevoked: () => false,
    onBack: (awaySince) => {
      seen.back++;
      seen.awaySince.push(awaySince);
    },
    now: Date.now,
  });
  const hear = () =>
    contact.link.heartbeat(beat).then(
      () => true,
      () => false,
    );
  return { seen, contact, hear };
}

describe('the end of a silence', () => {
  it('is reported once, and at most every 5 s when it comes and goes', async () => {
    const { seen, contact, hear } = aContact();
    expect(contact.status().state).toBe('unreachable');
    await hear();
    await hear();
    expect(seen.back).toBe(1);
    expect(contact.status().state).toBe('connected');
    for (let i = 0; i < 20; i++) {
      seen.isAway = true;
      expect(await hear()).toBe(false);
      seen.isAway = false;
      await hear();
    }
    expect(seen.back).toBe(1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen.back).toBe(2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(seen.back).toBe(2);
  });

  it('tells since when nothing answered, but for the start', async () => {
    const { seen, hear } = aContact();
    await hear();
    await vi.advanceTimersByTimeAsync(10_000);
    seen.isAway = true;
    await hear();
    const since = new Date().toISOString();
    await vi.advanceTimersByTimeAsync(10_000);
    await hear();
    seen.isAway = false;
    await hear();
    expect(seen.awaySince).toEqual([null, since]);
  });

  it('beats once within five seconds of any number of changes', async () => {
    let beats = 0;
    const link = {
      heartbeat: async () => {
        beats++;
        return { received: true as const, timestamp: new Date().toISOString() };
      },
    };
    const heartbeat = startHeartbeat({ link, body: () => beat, log, now: Date.now });
    await vi.advanceTimersByTimeAsync(1);
    for (let i = 0; i < 10; i++) heartbeat.report();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(beats).toBe(2);
    heartbeat.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('repeats a beat that failed, and no other', async () => {
    let beats = 0;
    let isAway = true;
    const heartbeat = startHeartbeat({
      link: {
        heartbeat: async () => {
          beats++;
          if (isAway) throw away();
          return { received: true, timestamp: new Date().toISOString() };
        },
      },
      body: () => beat,
      log,
      now: Date.now,
    });
    await vi.advanceTimersByTimeAsync(1);
    isAway = false;
    heartbeat.wake();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(beats).toBe(2);
    heartbeat.wake();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(beats).toBe(2);
    heartbeat.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('probes for the end of an outage', () => {
  it('looks sooner where nobody answers than where the control plane says that it cannot', () => {
    expect(outageBackoff(away())).toBe(AWAY_BACKOFF);
    expect(outageBackoff(new TypeError('fetch failed'))).toBe(AWAY_BACKOFF);
    expect(outageBackoff(new LinkError('UNAVAILABLE', 'busy', { isFromControlPlane: true }))).toBe(
      BUSY_BACKOFF,
    );
    expect(outageBackoff(new AppError('FEED_RESET'))).toBeNull();
    expect(outageBackoff(new AnswerRefusedError('answer_malformed', 'x'))).toBeNull();
  });

  it('is back within two seconds of an outage of any length, one apart from the other', async () => {
    const PLANES = 200;
    let isAway = true;
    const cameBack: number[] = [];
    const loops = Array.from({ length: PLANES }, () =>
      startPollLoop({
        step: async (signal) => {
          if (isAway) throw away();
          cameBack.push(Date.now());
          return new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason), { once: true });
          });
        },
        onFailure: () => undefined,
        limitsOf: (error) => outageBackoff(error) ?? { first: 60_000, longest: 60_000 },
      }),
    );
    await vi.advanceTimersByTimeAsync(15_000);
    isAway = false;
    const since = Date.now();
    await vi.advanceTimersByTimeAsync(2_001);
    expect(cameBack).toHaveLength(PLANES);
    const slots = new Map<number, number>();
    for (const at of cameBack) {
      const slot = Math.floor((at - since) / 100);
      slots.set(slot, (slots.get(slot) ?? 0) + 1);
    }
    // Evenly spread it would be one in 15 to 20 in each tenth of a second.
    expect(Math.max(...slots.values())).toBeLessThan(PLANES / 6);
    await Promise.all(loops.map((loop) => loop.stop()));
  });

  it('doubles its pauses at first', () => {
    const pauses = [1, 2, 3, 4, 5, 50].map((attempt) => backoff(attempt, AWAY_BACKOFF, () => 1));
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 2_000, 2_000]);
  });
});
