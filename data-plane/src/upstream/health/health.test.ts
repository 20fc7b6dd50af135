import type { ReportedHealth } from '@governance/shared/channel/channels';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { GuardedSession } from '../sessions/guarded-session.ts';
import { FairShares, shareAccount } from '../shares/fair-shares.ts';
import {
  Cancellation,
  ownExchange,
  UpstreamFailure,
  type UpstreamFailureKind,
  type UpstreamSession,
} from '../upstream.ts';
import type { WatchedPlace } from './circuit-breaker.ts';
import { createUpstreamHealth, type UpstreamHealth } from './health.ts';

const PLACE = { tenantId: 'tenant', serverId: 'up', agentId: null, address: 'http://up' };
const EXCHANGE = { onNotification: () => undefined, cancellation: new Cancellation() };
const ANSWER = { kind: 'error', raw: '{}', value: {} } as const;

let time = 0;
let health: UpstreamHealth;
/** What the server does with the next request: undefined answers it. */
let behaviour: UpstreamFailureKind | 'hangs' | undefined;
let asked = 0;
let isOpen = true;
/** Whose servers were found to be another way, so often. */
let changes: string[] = [];

const server: UpstreamSession = {
  open: async () => {
    throw new Error('not asked for here');
  },
  request: async () => {
    asked++;
    if (behaviour === 'hangs') return new Promise(() => undefined);
    if (behaviour !== undefined) throw new UpstreamFailure(behaviour, 'as the test wants it');
    return ANSWER;
  },
  notify: () => undefined,
  listen: () => undefined,
  pending: 0,
  get isOpen() {
    return isOpen;
  },
  close: async () => undefined,
};

let session: UpstreamSession;

function watched(of: UpstreamHealth, place: WatchedPlace): UpstreamSession {
  const shares = new FairShares({ agent: 99, tenant: 99, way: 99, waitMs: 0 });
  const account = shareAccount(place.tenantId, 'agent', null);
  return new GuardedSession(server, { breaker: of.breakerOf(place), shares, account });
}

beforeEach(() => {
  time = 0;
  asked = 0;
  isOpen = true;
  behaviour = undefined;
  changes = [];
  const log = { info: () => undefined, warn: () => undefined };
  const onChanged = (tenantId: string) => void changes.push(tenantId);
  health = createUpstreamHealth({ elapsed: () => time, onChanged, log });
  session = watched(health, PLACE);
});

const ask = async (method = 'tools/call'): Promise<string> => {
  try {
    await session.request({ method, members: '', wantsProgress: false }, EXCHANGE);
    return 'answered';
  } catch (error) {
    return error instanceof UpstreamFailure ? error.message : 'threw';
  }
};
const state = (): ReportedHealth | undefined => {
  const report = health.report('tenant');
  return (['ok', 'failing', 'resting'] as const).find((found) => report[found].includes('up'));
};

describe('a server that does not answer', () => {
  const fail = async (times: number) => {
    behaviour = 'unreachable';
    for (let i = 0; i < times; i++) await ask();
  };

  it('rests after five failures in a row, and its calls fail at once with the reason', async () => {
    await fail(4);
    expect(state()).toBe('failing');
    behaviour = undefined;
    await ask();
    expect(state()).toBe('ok');
    await fail(5);
    expect(state()).toBe('resting');
    asked = 0;
    expect(await ask()).toBe(
      'not asked: the server failed 5 times in a row and is tried again in 1 s',
    );
    await expect(session.open(ownExchange())).rejects.toThrow('not asked');
    expect(asked).toBe(0);
    expect(health.counts()).toEqual({ ok: 0, failing: 0, resting: 1, probing: 0 });
  });

  it('is asked by one request after each pause, which doubles up to a minute', async () => {
    await fail(5);
    const pauses = [];
    for (let i = 0; i < 8; i++) {
      const before = time;
      asked = 0;
      while (asked === 0) {
        time += 500;
        await Promise.all([ask(), ask(), ask()]);
      }
      expect(asked).toBe(1);
      pauses.push(time - before);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1000));
    behaviour = undefined;
    time += 60_000;
    expect(await ask()).toBe('answered');
    expect(state()).toBe('ok');
    expect(await ask()).toBe('answered');
  });

  it('is asked again where the request that was to find out hangs or is cancelled', async () => {
    await fail(5);
    time = 1_000;
    behaviour = 'hangs';
    void ask();
    expect(health.counts()).toMatchObject({ resting: 0, probing: 1 });
    expect(state()).toBe('resting');
    behaviour = undefined;
    expect(await ask()).toMatch(/^not asked/);
    time = 2_000;
    behaviour = 'cancelled';
    await ask();
    time = 3_000;
    behaviour = undefined;
    expect(await ask()).toBe('answered');
    expect(state()).toBe('ok');
  });

  it('starts again at another address, and is separate for another tenant', async () => {
    await fail(5);
    behaviour = undefined;
    session = watched(health, { ...PLACE, tenantId: 'other' });
    expect(await ask()).toBe('answered');
    session = watched(health, PLACE);
    expect(await ask()).toMatch(/^not asked/);
    session = watched(health, { ...PLACE, address: 'http://elsewhere' });
    expect(await ask()).toBe('answered');
  });

  it('rests for the one agent whose process it is', async () => {
    session = watched(health, { ...PLACE, agentId: 'one' });
    await fail(5);
    expect(state()).toBe('resting');
    behaviour = undefined;
    session = watched(health, { ...PLACE, agentId: 'two' });
    expect(await ask()).toBe('answered');
    expect(state()).toBe('resting');
  });

  it('is reported when it changes, not with each request', async () => {
    expect(state()).toBeUndefined();
    for (let i = 0; i < 3; i++) await ask();
    expect(changes).toEqual(['tenant']);
    await fail(4);
    expect(changes).toHaveLength(2);
    await fail(1);
    expect(changes).toHaveLength(3);
    time = 1_000;
    await fail(1);
    expect(changes).toHaveLength(3);
    time = 3_000;
    behaviour = undefined;
    for (let i = 0; i < 3; i++) await ask();
    expect(changes).toEqual(Array(4).fill('tenant'));
    expect(health.report('another')).toEqual({ ok: [], failing: [], resting: [] });
  });

  it('is forgotten with its registration, or when nobody asks any more', async () => {
    await fail(5);
    health.forget(() => true, 1_000);
    expect(state()).toBe('resting');
    health.forget((tenantId, serverId) => `${tenantId}/${serverId}` !== 'tenant/up', 1_000);
    expect(state()).toBeUndefined();
    session = watched(health, PLACE);
    time = 5_000;
    health.forget(() => true, 1_000);
    expect(state()).toBeUndefined();
  });
});

it.each<UpstreamFailureKind>([
  'refused',
  'malformed',
  'too_large',
  'ineligible',
  'cancelled',
  'timeout',
])('a call that ends with %s says nothing of the server', async (kind) => {
  behaviour = kind;
  for (let i = 0; i < 20; i++) await ask();
  expect([asked, state()]).toEqual([20, undefined]);
});

it('a list that does not come within eight seconds counts as failed, once', async () => {
  vi.useFakeTimers();
  try {
    behaviour = 'hangs';
    for (let i = 0; i < 5; i++) void ask('tools/list');
    await vi.advanceTimersByTimeAsync(7_999);
    expect(state()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(state()).toBe('resting');
    await vi.advanceTimersByTimeAsync(60_000);
    time = 1_000;
    behaviour = undefined;
    expect(await ask('tools/list')).toBe('answered');
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

it.each([
  [true, 'tools/list takes longer than 8 s'],
  [false, 'opening a session (initialize or server/discover) takes longer than 8 s'],
])('says what a list waits for where its session is open: %s', async (opened, reason) => {
  vi.useFakeTimers();
  try {
    isOpen = opened;
    behaviour = 'hangs';
    void ask('tools/list');
    await vi.advanceTimersByTimeAsync(8_000);
    expect(health.report('tenant').reasons).toEqual({ up: reason });
  } finally {
    vi.useRealTimers();
  }
});

it('always asks within a minute, and never rests before five failures in a row', async () => {
  const step = fc.record({ fails: fc.boolean(), passes: fc.integer({ min: 0, max: 70_000 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const log = { info: () => undefined, warn: () => undefined };
      session = watched(createUpstreamHealth({ elapsed: () => time, log }), PLACE);
      let failures = 0;
      let lastAsked = time;
      for (const { fails, passes } of steps) {
        time += passes;
        asked = 0;
        behaviour = fails ? 'unreachable' : undefined;
        await ask();
        if (asked === 0) {
          expect(failures).toBeGreaterThanOrEqual(5);
          expect(time - lastAsked).toBeLessThan(60_000);
        } else {
          failures = fails ? failures + 1 : 0;
          lastAsked = time;
        }
      }
    }),
    { numRuns: 200 },
  );
});
