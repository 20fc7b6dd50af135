/** Sessions of one requester, counted within half an hour: what a flood of them costs. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SessionDecision } from './disposition.ts';
import { mostWithin, rangesAround } from './session-cycling.ts';

const WINDOW = 30 * 60_000;
const openingsAt = (times: readonly number[]) =>
  [...times].sort((a, b) => a - b).map((startedAt) => ({ agentId: 'a', startedAt }));
const decisionsAt = (times: readonly number[], requesterKey = 'ann') =>
  [...times].sort((a, b) => a - b).map((at) => ({ requesterKey, at }) as SessionDecision);

const Times = fc.array(fc.integer({ min: 0, max: 4 * WINDOW }), { minLength: 1, maxLength: 40 });

it('are counted as the most in any half hour around one', () => {
  fc.assert(
    fc.property(Times, fc.nat(), (times, which) => {
      const near = openingsAt(times);
      const at = near[which % near.length]?.startedAt ?? 0;
      const counts = near
        .filter(({ startedAt }) => startedAt <= at && startedAt >= at - WINDOW)
        .map(
          ({ startedAt: from }) =>
            near.filter(({ startedAt: to }) => to >= from && to <= from + WINDOW).length,
        );
      expect(mostWithin(near, at)).toHaveLength(Math.max(...counts));
    }),
  );
});

it('are gone through once for each that is new', () => {
  const near = openingsAt(Array.from({ length: 4_000 }, (_, n) => n * 900));
  let reads = 0;
  const counted = new Proxy(near, {
    get(target, key, receiver) {
      reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  expect(mostWithin(counted, 2_000 * 900)).toHaveLength(2_001);
  expect(reads).toBeLessThan(10 * near.length);
});

it('are read once, however many are new', () => {
  const flood = decisionsAt(Array.from({ length: 1_000 }, (_, n) => n * 1_000));
  expect(rangesAround(flood)).toMatchObject([{ requesterKey: 'ann', from: 0, to: 999_000 }]);
});

it('are each in one range of half an hour at most', () => {
  fc.assert(
    fc.property(Times, Times, (anns, bobs) => {
      const all = [...decisionsAt(anns), ...decisionsAt(bobs, 'bob')].sort((a, b) => a.at - b.at);
      const ranges = rangesAround(all);
      expect(new Set(ranges.flatMap(({ decisions }) => decisions))).toEqual(new Set(all));
      for (const { requesterKey, from, to, decisions } of ranges) {
        expect(to - from).toBeLessThanOrEqual(WINDOW);
        for (const one of decisions) {
          expect(one.requesterKey).toBe(requesterKey);
          expect(one.at).toBeGreaterThanOrEqual(from);
          expect(one.at).toBeLessThanOrEqual(to);
        }
      }
    }),
  );
});
