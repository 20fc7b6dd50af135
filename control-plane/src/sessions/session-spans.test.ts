/** Sessions are what their events make of them, in whatever order and groups these come. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinSpans, runsOf, type Span } from './session-spans.ts';

const IDLE = 30;

interface Kept extends Span {
  name: string;
  count: number;
}

/** Puts groups of events one after the other, as ingest does, where all sessions are at hand. */
function place(groups: number[][], idleMs = IDLE): Kept[] {
  let kept: Kept[] = [];
  let made = 0;
  for (const times of groups) {
    const events = times.map((at) => ({ at }));
    const met = kept.filter((session) =>
      runsOf(events, idleMs).some(
        (run) => session.startedAt <= run.expiresAt && session.expiresAt >= run.startedAt,
      ),
    );
    const joined = joinSpans(met, events, idleMs);
    kept = kept.filter((session) => !met.includes(session));
    for (const { span, events: own, sessions } of joined) {
      const name = sessions[0]?.name ?? `${++made}`;
      const count = own.length + sessions.reduce((sum, one) => sum + one.count, 0);
      kept.push({ ...span, name, count });
    }
  }
  return kept.sort((a, b) => a.startedAt - b.startedAt);
}

const facts = (sessions: Kept[]) =>
  sessions.map(({ startedAt, lastEventAt, expiresAt, count }) => [
    startedAt,
    lastEventAt,
    expiresAt,
    count,
  ]);

describe('sessions', () => {
  it('go on for as long as no more than the idle time passes', () => {
    expect(facts(place([[0, 30, 60]]))).toEqual([[0, 60, 90, 3]]);
    expect(facts(place([[0], [31]]))).toEqual([
      [0, 0, 30, 1],
      [31, 31, 61, 1],
    ]);
  });

  it('begin earlier where an earlier event comes late', () => {
    expect(facts(place([[40], [20]]))).toEqual([[20, 40, 70, 2]]);
  });

  it('are one where a late event stands between two, under the name of the earlier one', () => {
    const joined = place([[0], [60], [30]]);
    expect(facts(joined)).toEqual([[0, 60, 90, 3]]);
    expect(joined[0]?.name).toBe('1');
  });

  it('do not end sooner where the idle time was shortened meanwhile', () => {
    const [session] = place([[0]]);
    const joined = joinSpans(session ? [session] : [], [{ at: 20 }], 1);
    expect(joined[0]?.span).toEqual({ startedAt: 0, lastEventAt: 20, expiresAt: 30 });
  });

  it('are the same whatever the order and the groups of their events', () => {
    const times = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 30 });
    const groups = times.chain((all) =>
      fc
        .tuple(
          fc.shuffledSubarray(
            all.map((_, i) => i),
            { minLength: all.length },
          ),
          fc.array(fc.integer({ min: 1, max: 4 }), {
            minLength: all.length,
            maxLength: all.length,
          }),
        )
        .map(([order, sizes]) => {
          const left = order.map((i) => all[i] as number);
          return sizes.map((size) => left.splice(0, size)).filter((group) => group.length > 0);
        })
        .map((shuffled) => ({ all, shuffled })),
    );
    fc.assert(
      fc.property(groups, ({ all, shuffled }) => {
        expect(facts(place(shuffled))).toEqual(facts(place([all])));
      }),
    );
  });
});
