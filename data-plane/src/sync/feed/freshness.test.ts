import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFreshness } from './freshness.ts';
import { createPlaneClock, type PlaneClock } from './plane-clock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MINUTE = 60_000;
const START = Date.parse('2026-03-01T00:00:00.000Z');
let dataDir: string;
let path: string;
/** What the machine's clock shows, and what really passed. */
let wall: number;
let passed: number;
let clock: PlaneClock;
let frozen: number[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'clock-'));
  path = join(dataDir, 'clock');
  wall = START;
  passed = 0;
  frozen = [];
  clock = aClock();
});

afterEach(() => {
  clock.stop();
  rmSync(dataDir, { recursive: true });
});

const aClock = (keepEveryMs = 3_600_000) =>
  createPlaneClock({ path, now: () => wall, elapsed: () => passed, keepEveryMs });

function restart(): void {
  clock.stop();
  clock = aClock();
}

function pass(ms: number): void {
  wall += ms;
  passed += ms;
}

const aFreshness = (keptMs = 0) =>
  createFreshness({ clock, maxAgeMs: DAY, keptMs, onFrozen: (age) => frozen.push(age) });

describe('the clock', () => {
  it('keeps running when the machine’s clock is set back, even by days', () => {
    pass(HOUR);
    const before = clock.read();
    wall -= 3 * DAY;
    expect(clock.read()).toBe(before);
    pass(HOUR);
    expect(clock.read()).toBe(before + HOUR);
  });

  it('keeps what it saw over a restart', () => {
    pass(5 * HOUR);
    restart();
    wall -= 3 * DAY;
    expect(clock.read()).toBe(START + 5 * HOUR);
    writeFileSync(path, 'rubbish');
    clock = aClock();
    expect(clock.read()).toBe(wall);
  });

  it('is kept now and then, and at its end', async () => {
    const own = aClock(5);
    await expect.poll(() => Number(readFileSync(path, 'utf8'))).toBe(START);
    pass(1_000);
    await expect.poll(() => Number(readFileSync(path, 'utf8'))).toBe(START + 1_000);
    pass(1);
    own.stop();
    expect(readFileSync(path, 'utf8')).toBe(`${START + 1_001}\n`);
  });

  it('settles on a jump ahead only after ten minutes, and on none that was shorter', () => {
    wall += 3 * HOUR;
    expect(clock.settled()).toBe(START);
    expect(clock.isAhead()).toBe(true);
    pass(9 * MINUTE);
    expect(clock.settled()).toBe(START + 9 * MINUTE);
    wall -= 3 * HOUR;
    expect(clock.settled()).toBe(START + 9 * MINUTE);
    expect(clock.isAhead()).toBe(false);
    wall += 3 * HOUR;
    expect(clock.isAhead()).toBe(true);
    pass(10 * MINUTE);
    expect(clock.settled()).toBe(wall);
    expect(clock.isAhead()).toBe(false);
  });

  it('does not settle on one that is further ahead when the ten minutes are over', () => {
    wall += HOUR;
    clock.settled();
    pass(10 * MINUTE);
    wall += 400 * DAY;
    expect(clock.settled()).toBe(wall - 400 * DAY);
    expect(clock.isAhead()).toBe(true);
    wall -= 400 * DAY;
    expect(clock.settled()).toBe(wall);
    expect(clock.isAhead()).toBe(false);
  });

  it('lets a stop go on that it cannot be kept at', () => {
    const errors: unknown[] = [];
    const own = createPlaneClock({
      ...{ path: join(dataDir, 'missing', 'clock'), now: () => wall },
      onError: (error) => errors.push(error),
    });
    own.stop();
    expect(errors).toMatchObject([{ code: 'ENOENT' }]);
  });

  it('never runs back, whatever the machine and the statements say', () => {
    const step = fc.oneof(
      fc.record({ pass: fc.nat(5 * HOUR) }),
      fc.record({ set: fc.integer({ min: -10 * DAY, max: 10 * DAY }) }),
      fc.record({ saw: fc.integer({ min: -DAY, max: DAY }) }),
      fc.constant('restart' as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let last = clock.read();
        for (const one of steps) {
          if (one === 'restart') restart();
          else if ('pass' in one) pass(one.pass);
          else if ('set' in one) wall = Math.max(0, wall + one.set);
          else clock.note(wall + one.saw);
          expect(clock.read()).toBeGreaterThanOrEqual(Math.floor(last));
          last = clock.read();
        }
      }),
      { numRuns: 100 },
    );
  });

  it('forgets that it was far ahead only where a newer statement agrees with the machine', () => {
    const freshness = aFreshness();
    freshness.verified(wall, 1, 1);
    wall += 400 * DAY;
    expect(freshness.findDenial()).toContain('too old');
    wall -= 400 * DAY;
    // Corrected, but nothing confirms it yet: it could as well be set back.
    expect(freshness.findDenial()).toContain('too old');
    // A statement that the machine does not agree with, and one that is not newer, confirm nothing.
    freshness.verified(wall + 30 * MINUTE, 1, 1);
    expect(freshness.findDenial()).toContain('too old');
    freshness.verified(wall - MINUTE, 1, 1);
    expect(freshness.findDenial()).toContain('too old');
    pass(31 * MINUTE);
    freshness.verified(wall, 1, 1);
    expect(freshness.findDenial()).toBeNull();
    expect(freshness.status()).toMatchObject({ state: 'fresh', age_seconds: 0 });
  });
});

describe('freshness', () => {
  it('is never before the first statement, and ends a maximal age after the newest', () => {
    const freshness = aFreshness();
    expect(freshness.status()).toEqual({ state: 'never', statement_time: null, age_seconds: null });
    expect(freshness.findDenial()).toContain('No statement');
    expect(freshness.verified(wall, 3, 3)).toBe(wall);
    expect(freshness.status()).toMatchObject({ state: 'fresh', age_seconds: 0 });
    expect(freshness.findDenial()).toBeNull();
    pass(DAY);
    expect(freshness.status()).toMatchObject({ state: 'stale', age_seconds: 86_400 });
    expect(freshness.findDenial()).toBeNull();
    pass(1);
    expect(freshness.findDenial()).toContain('2026-03-01T00:00:00.000Z');
    expect(freshness.verified(wall, 3, 3)).toBe(wall);
    expect(freshness.findDenial()).toBeNull();
  });

  it('is not extended by setting the clock back, not even over a restart', () => {
    const first = aFreshness();
    first.verified(wall, 1, 1);
    pass(23 * HOUR);
    wall -= 3 * DAY;
    expect(first.findDenial()).toBeNull();
    restart();
    const second = aFreshness(START);
    pass(HOUR - 1);
    expect(second.findDenial()).toBeNull();
    pass(2);
    expect(second.findDenial()).toContain('too old');
  });

  it('counts a statement once everything that it speaks of was applied', () => {
    const freshness = aFreshness();
    const first = wall;
    expect(freshness.verified(first, 10, 5)).toBeNull();
    expect(freshness.status().state).toBe('never');
    pass(1_000);
    // It may run ahead of the reader forever: the first place is the one to reach.
    expect(freshness.verified(wall, 20, 9)).toBeNull();
    pass(1_000);
    expect(freshness.verified(wall, 30, 12)).toBe(first);
    pass(1_000);
    expect(freshness.verified(wall, 30, 30)).toBe(wall);
  });

  it('refuses a replayed one, but not one of another replica a little behind', () => {
    const freshness = aFreshness(START);
    expect(() => freshness.check(START - 3 * MINUTE)).not.toThrow();
    expect(() => freshness.check(START - 3 * MINUTE - 1)).toThrow(/came after/);
    pass(HOUR);
    freshness.check(wall);
    freshness.verified(wall, 9, 1);
    // Verified is enough for that, even where its place was not reached yet.
    expect(() => freshness.check(START)).toThrow(/came after/);
    expect(freshness.verified(START, 1, 1)).toBeNull();
  });

  it('takes one far ahead for one of now, so that later ones are no replays', () => {
    const freshness = aFreshness();
    freshness.verified(freshness.believe(wall), 1, 1);
    pass(MINUTE);
    // The monotonic clock has fractions, which the replica stores none of.
    passed += 0.25;
    const ahead = freshness.believe(wall + DAY);
    expect(ahead).toBe(wall);
    freshness.verified(ahead, 2, 2);
    pass(MINUTE);
    expect(Math.floor(clock.read())).toBe(wall);
    const right = freshness.believe(wall);
    expect(right).toBe(wall);
    expect(() => freshness.check(right)).not.toThrow();
    expect(freshness.verified(right, 3, 3)).toBe(wall);
  });

  it('takes those of a moment at which both clocks were ahead for ones of now', () => {
    const freshness = aFreshness();
    freshness.verified(freshness.believe(wall), 1, 1);
    pass(MINUTE);
    wall += 30 * HOUR;
    expect(freshness.findDenial()).toContain('too old');
    const kept = freshness.verified(freshness.believe(wall), 2, 2);
    expect(kept).toBe(wall - 30 * HOUR);
    // As after a pause of the machine: nothing is denied where the control plane says the same.
    expect(freshness.findDenial()).toBeNull();
    expect(freshness.status()).toMatchObject({ state: 'fresh', age_seconds: 0 });
    pass(MINUTE);
    wall -= 30 * HOUR;
    const right = freshness.believe(wall);
    expect(() => freshness.check(right)).not.toThrow();
    expect(freshness.verified(right, 3, 3)).toBe(wall);
    expect(freshness.status()).toMatchObject({ state: 'fresh', age_seconds: 0 });
    pass(DAY + 1);
    expect(freshness.findDenial()).toContain('too old');
  });

  it('believes both clocks once they were ahead for ten minutes', () => {
    const freshness = aFreshness();
    freshness.verified(freshness.believe(wall), 1, 1);
    wall += 30 * HOUR;
    for (let minute = 0; minute < 10; minute++) {
      freshness.verified(freshness.believe(wall), 1, 1);
      expect(freshness.status()).toMatchObject({ state: 'fresh' });
      pass(MINUTE);
    }
    expect(freshness.status()).toMatchObject({ state: 'fresh', age_seconds: 60 });
    expect(freshness.verified(freshness.believe(wall), 1, 1)).toBe(wall);
    const early = freshness.believe(wall - HOUR);
    expect(() => freshness.check(early)).toThrow(/came after/);
  });

  it('takes them for ones of now also where this data plane started meanwhile', () => {
    const before = aFreshness();
    before.verified(before.believe(wall), 1, 1);
    pass(MINUTE);
    wall += 30 * HOUR;
    // As long as it takes to keep what the machine shows.
    clock.keep();
    restart();
    const freshness = aFreshness(START);
    pass(1_000);
    const kept = freshness.verified(freshness.believe(wall), 2, 2);
    expect(kept).toBe(START + 1_000);
    expect(freshness.findDenial()).toBeNull();
    expect(freshness.status()).toMatchObject({ state: 'fresh', age_seconds: 0 });
    pass(MINUTE);
    wall -= 30 * HOUR;
    const right = freshness.believe(wall);
    expect(() => freshness.check(right)).not.toThrow();
    expect(freshness.verified(right, 3, 3)).toBe(right);
    expect(freshness.findDenial()).toBeNull();
  });

  it('believes them after a long stop once they have come for ten minutes', () => {
    const before = aFreshness();
    before.verified(before.believe(wall), 1, 1);
    clock.stop();
    pass(30 * DAY);
    clock = aClock();
    const freshness = aFreshness(START);
    expect(freshness.findDenial()).toContain('too old');
    for (let minute = 0; minute <= 10; minute++) {
      freshness.verified(freshness.believe(wall), 2, 2);
      expect(freshness.findDenial()).toBeNull();
      expect(freshness.status()).toMatchObject({ state: 'fresh', age_seconds: 0 });
      pass(MINUTE);
    }
    expect(freshness.verified(freshness.believe(wall), 2, 2)).toBe(wall);
    // A tenant that is served later sets nothing back.
    aFreshness(START);
    expect(freshness.believe(wall)).toBe(wall);
    pass(DAY + 1);
    expect(freshness.findDenial()).toContain('too old');
  });

  it('counts the same one far ahead no longer than when it came first', () => {
    const freshness = aFreshness();
    const came = freshness.believe(wall + DAY);
    for (let hour = 0; hour < 3; hour++) {
      pass(HOUR);
      freshness.believe(wall);
      expect(freshness.believe(START + DAY)).toBe(came);
    }
  });

  it('believes them once they were ahead for ten minutes, without a right one in between', () => {
    const freshness = aFreshness();
    for (let minute = 0; minute < 10; minute++) {
      expect(freshness.believe(wall + DAY)).toBe(wall);
      pass(MINUTE);
    }
    expect(freshness.believe(wall + DAY)).toBe(wall + DAY);
    freshness.believe(wall);
    expect(freshness.believe(wall + 2 * DAY)).toBe(wall);
    expect(freshness.believe(wall + 5 * MINUTE)).toBe(wall + 5 * MINUTE);
  });

  it('believes none that is further ahead for a moment when the ten minutes are over', () => {
    const freshness = aFreshness();
    // This machine's clock is six minutes behind.
    for (let minute = 0; minute < 10; minute++) {
      freshness.believe(wall + 6 * MINUTE);
      pass(MINUTE);
    }
    const believed = freshness.believe(wall + 400 * DAY);
    expect(believed).toBe(wall + 6 * MINUTE);
    freshness.verified(believed, 1, 1);
    pass(MINUTE);
    const next = freshness.believe(wall + 6 * MINUTE);
    expect(() => freshness.check(next)).not.toThrow();
    expect(freshness.verified(next, 2, 2)).toBe(wall + 6 * MINUTE);
  });

  it('believes none that somebody repeats for as long', () => {
    const freshness = aFreshness();
    freshness.verified(freshness.believe(wall), 1, 1);
    const ahead = wall + 400 * DAY;
    for (let minute = 0; minute < 30; minute++) {
      freshness.verified(freshness.believe(ahead), 1, 1);
      pass(MINUTE);
    }
    const right = freshness.believe(wall);
    expect(() => freshness.check(right)).not.toThrow();
    expect(freshness.verified(right, 2, 2)).toBe(wall);
  });

  it('believes those that stay ahead after one that was further', () => {
    const freshness = aFreshness();
    freshness.believe(wall + 400 * DAY);
    for (let minute = 0; minute < 10; minute++) {
      pass(MINUTE);
      freshness.believe(wall + DAY);
    }
    pass(MINUTE);
    expect(freshness.believe(wall + DAY)).toBe(wall + DAY);
  });

  it('raises the alarm once when answers come without news of the present', () => {
    const freshness = aFreshness();
    freshness.verified(wall, 1, 1);
    freshness.answered();
    pass(3 * MINUTE);
    freshness.answered();
    expect(frozen).toEqual([]);
    pass(MINUTE);
    freshness.answered();
    freshness.answered();
    expect(frozen).toEqual([240]);
    freshness.verified(wall, 1, 1);
    freshness.answered();
    pass(4 * MINUTE);
    freshness.answered();
    expect(frozen).toHaveLength(2);
  });
});
