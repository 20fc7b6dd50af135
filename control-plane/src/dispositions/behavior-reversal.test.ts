/** Each condition, and what lies just below it; and that the order of arrival changes nothing of note. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addTo,
  findReversals,
  type ReversalCondition,
  type SessionTallies,
  variesAt,
} from './behavior-reversal.ts';
import type { Disposition } from './disposition.ts';

const MINUTE = 60_000;

interface Given {
  /** In minutes. */
  at: number;
  session: string;
  disposition: Disposition;
  agent?: string;
}

/** Decisions as they arrive; sessions begin with their first one in time. */
function arrive(decisions: Given[]): ReversalCondition[][] {
  const begins = (session: string) =>
    Math.min(...decisions.filter((one) => one.session === session).map(({ at }) => at)) * MINUTE;
  const rows = new Map<string, SessionTallies>();
  return decisions.map(({ at, session, disposition, agent = 'a' }) => {
    const own = rows.get(session) ?? {
      sessionId: session,
      sessionStartedAt: begins(session),
      agentId: agent,
      tallies: { allowed: null, blocked: null, escalated: null },
    };
    const decision = { sessionId: session, disposition, at: at * MINUTE };
    const found = findReversals([...rows.values()], own, decision);
    rows.set(session, own);
    addTo(own, decision);
    return found;
  });
}

const one = (at: number, session: string, disposition: Disposition, agent?: string): Given => ({
  at,
  session,
  disposition,
  ...(agent !== undefined && { agent }),
});
const last = (decisions: Given[]) => arrive(decisions).at(-1);

describe('the opposite in a new session', () => {
  it.each([
    ['allowed', 'blocked'],
    ['blocked', 'allowed'],
  ] as const)('%s, and %s within two hours', (before, after) => {
    expect(last([one(0, 's', before), one(120, 't', after)])).toEqual(['opposite_in_new_session']);
    expect(last([one(0, 's', before), one(121, 't', after)])).toEqual([]);
  });

  it('is not found within one session, for another agent, or where a person is asked', () => {
    expect(last([one(0, 's', 'allowed'), one(1, 's', 'blocked')])).toEqual([]);
    expect(last([one(0, 's', 'allowed'), one(1, 't', 'blocked', 'b')])).toEqual([]);
    expect(last([one(0, 's', 'escalated'), one(1, 't', 'allowed')])).toEqual([]);
    expect(last([one(0, 's', 'allowed'), one(1, 't', 'allowed')])).toEqual([]);
  });

  it('is reported once a session', () => {
    expect(last([one(0, 's', 'allowed'), one(1, 't', 'blocked'), one(2, 't', 'blocked')])).toEqual(
      [],
    );
  });

  it('is found where the earlier one comes later', () => {
    expect(last([one(60, 't', 'blocked'), one(0, 's', 'allowed')])).toEqual([
      'opposite_in_new_session',
    ]);
    expect(last([one(121, 't', 'blocked'), one(0, 's', 'allowed')])).toEqual([]);
  });
});

describe('allowed after blocks', () => {
  const blocks = (count: number) => Array.from({ length: count }, (_, i) => one(i, 's', 'blocked'));

  it('of three and more, in whatever session', () => {
    expect(last([...blocks(3), one(5, 's', 'allowed')])).toEqual(['allowed_after_blocks']);
    expect(last([...blocks(7), one(500, 't', 'allowed')])).toEqual(['allowed_after_blocks']);
  });

  it('of three agents for one requester', () => {
    const spread = [one(0, 's', 'blocked'), one(1, 't', 'blocked', 'b'), one(2, 'u', 'blocked')];
    expect(last([...spread, one(3, 'v', 'allowed', 'c')])).toEqual(['allowed_after_blocks']);
  });

  it('is not found after two blocks, nor again until the next block', () => {
    expect(last([...blocks(2), one(5, 's', 'allowed')])).toEqual([]);
    expect(last([...blocks(3), one(5, 's', 'allowed'), one(6, 's', 'allowed')])).toEqual([]);
    const again = [...blocks(3), one(5, 's', 'allowed'), one(6, 's', 'blocked')];
    expect(last([...again, one(7, 's', 'allowed')])).toEqual(['allowed_after_blocks']);
  });

  it('is found where the last of the blocks comes late', () => {
    const late = [one(9, 's', 'allowed'), ...blocks(2)];
    expect(last(late)).toEqual([]);
    expect(last([...late, one(3, 's', 'blocked')])).toEqual(['allowed_after_blocks']);
  });
});

describe('varying sessions', () => {
  it('are three in half an hour that were not decided alike', () => {
    const three = [one(0, 's', 'allowed'), one(10, 't', 'allowed')];
    expect(last([...three, one(30, 'u', 'escalated')])).toEqual(['varying_sessions']);
    expect(last([...three, one(31, 'u', 'escalated')])).toEqual([]);
    expect(last([...three, one(30, 'u', 'allowed')])).toEqual([]);
    expect(last([...three, one(30, 't', 'escalated')])).toEqual([]);
    expect(last([...three, one(30, 'u', 'escalated', 'b')])).toEqual([]);
  });

  it('are found whichever of them comes last', () => {
    const three = [one(0, 's', 'allowed'), one(10, 't', 'allowed'), one(30, 'u', 'escalated')];
    for (const which of three) {
      const order = [...three.filter((given) => given !== which), which];
      expect(arrive(order).flat(), which.session).toContain('varying_sessions');
    }
  });
});

it('finds something in any order where it finds something in the order of time', () => {
  const given = fc.record({
    at: fc.integer({ min: 0, max: 200 }),
    session: fc.constantFrom('s', 't', 'u', 'v'),
    disposition: fc.constantFrom<Disposition>('allowed', 'blocked', 'escalated'),
  });
  const decisions = fc.uniqueArray(given, {
    minLength: 2,
    maxLength: 8,
    selector: ({ at }) => at,
  });
  const orders = decisions.chain((all) =>
    fc.tuple(
      fc.constant([...all].sort((a, b) => a.at - b.at)),
      fc.shuffledSubarray(all, { minLength: all.length }),
    ),
  );
  fc.assert(
    fc.property(orders, ([inOrder, shuffled]) => {
      const pairs = (all: Given[]) => arrive(all).flat().includes('opposite_in_new_session');
      if (pairs(inOrder)) expect(arrive(shuffled).flat()).toContain('opposite_in_new_session');
    }),
    { numRuns: 500 },
  );
});

describe('varying sessions, however many there are', () => {
  const WITHIN = 30 * MINUTE;
  const span = fc.record({
    sessionId: fc.constantFrom('s', 't', 'u', 'v'),
    disposition: fc.constantFrom('allowed', 'blocked', 'escalated'),
    firstAt: fc.integer({ min: 0, max: 3 * WITHIN }),
    lasts: fc.integer({ min: 0, max: WITHIN }),
  });

  it('are those of the half hour before an end', () => {
    const ends = fc.array(fc.integer({ min: 0, max: 5 * WITHIN }), { maxLength: 5 });
    fc.assert(
      fc.property(fc.array(span, { maxLength: 8 }), ends, (given, at) => {
        const spans = given.map(({ lasts, ...one }) => ({ ...one, lastAt: one.firstAt + lasts }));
        const isVarying = at.some((end) => {
          const within = spans.filter(
            ({ firstAt, lastAt }) => firstAt <= end && lastAt >= end - WITHIN,
          );
          const sessions = new Set(within.map(({ sessionId }) => sessionId));
          return sessions.size >= 3 && new Set(within.map((one) => one.disposition)).size > 1;
        });
        expect(variesAt(spans, at)).toBe(isVarying);
      }),
      { numRuns: 1_000 },
    );
  });

  it('are not read again for each end', () => {
    let reads = 0;
    const read = (time: number) => {
      reads++;
      return time;
    };
    const many = 2_000;
    const spans = Array.from({ length: many }, (_, n) => ({
      ...{ sessionId: `s${n}`, disposition: 'escalated' },
      get firstAt() {
        return read(n * 100);
      },
      get lastAt() {
        return read(n * 100);
      },
    }));
    const ends = spans.map((_, n) => n * 100);
    expect(variesAt(spans, ends)).toBe(false);
    expect(reads).toBeLessThan(100 * many);
  });
});
