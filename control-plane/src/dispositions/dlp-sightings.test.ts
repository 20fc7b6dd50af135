import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrange, byPattern, MAX_SIGHTINGS, type Sighting, widestSpread } from './dlp-sightings.ts';

const MINUTE = 60_000;
let events = 0;

/** What is seen of one pattern: of an MCP session, or of a requester's client without one. */
function seen(minute: number, of: { session?: string; requester?: string; pattern?: string } = {}) {
  const { session, requester = 'ann', pattern = 'iban' } = of;
  const at = minute * MINUTE;
  events += 1;
  return {
    at,
    eventId: String(events).padStart(6, '0'),
    pattern,
    sessionKey: session ?? requester,
    sessionStartedAt: session === undefined ? at : null,
  };
}

const sessionsAmong = (sightings: Sighting[], isNew: (one: Sighting) => boolean = () => true) =>
  widestSpread(byPattern(arrange(sightings)).get('iban') ?? [], isNew)?.sessions ?? 0;

describe('sessions of clients that have none', () => {
  const ofRequester = (...minutes: number[]) => sessionsAmong(minutes.map((at) => seen(at)));

  it('last for half an hour from their first sighting', () => {
    expect(ofRequester(0, 29)).toBe(1);
    expect(ofRequester(0, 30)).toBe(2);
    // From the first, not from the last.
    expect(ofRequester(0, 29, 31)).toBe(2);
    expect(ofRequester(0, 31, 59)).toBe(2);
  });

  it('are three within an hour for a requester that goes on', () => {
    expect(ofRequester(0, 30, 60)).toBe(3);
    // The third begins at 61, an hour after the last sighting of the first.
    expect(ofRequester(0, 10, 31, 61)).toBe(3);
    expect(ofRequester(0, 31, 61)).toBe(2);
    expect(ofRequester(...Array.from({ length: 61 }, (_, minute) => minute))).toBe(3);
  });

  it('are each requester’s own', () => {
    expect(sessionsAmong(['ann', 'bob', 'eve'].map((requester) => seen(0, { requester })))).toBe(3);
  });

  it('begin where they began, though that is forgotten', () => {
    const all = arrange([0, 10, 29, 31].map((at) => seen(at)));
    const left = arrange(all.slice(1));
    expect(left.map(({ sessionStartedAt }) => sessionStartedAt)).toEqual([0, 0, 31 * MINUTE]);
    const late = arrange([seen(5), ...left]);
    expect(late.map(({ sessionStartedAt }) => sessionStartedAt)).toEqual([0, 0, 0, 31 * MINUTE]);
  });

  it('keep their beginning that is forgotten, whatever still earlier arrives late', () => {
    const all = arrange([0, 20, 31, 62].map((at) => seen(at)));
    const late = arrange([seen(-600), ...all.slice(1)]);
    const starts = late.map(({ sessionStartedAt }) => sessionStartedAt);
    expect(starts).toEqual([-600, 0, 31, 62].map((minute) => minute * MINUTE));
    expect(sessionsAmong(late)).toBe(3);
  });

  it('are the same in whatever order they arrive', () => {
    const minutes = fc.uniqueArray(fc.integer({ min: 0, max: 200 }), { minLength: 1 });
    const orders = minutes.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    const arriving = (order: number[]) => {
      let known: Sighting[] = [];
      for (const at of order) known = arrange([...known, seen(at)]);
      return known.map(({ at, sessionStartedAt }) => [at, sessionStartedAt]);
    };
    fc.assert(
      fc.property(orders, ([all, shuffled]) => {
        expect(arriving(shuffled)).toEqual(arriving(all.sort((a, b) => a - b)));
      }),
    );
  });
});

describe('a spread over MCP sessions', () => {
  it('counts each once, of one pattern, within an hour', () => {
    const of = (minute: number, session: string, pattern?: string) =>
      seen(minute, { session, ...(pattern && { pattern }) });
    expect(sessionsAmong([of(0, 's'), of(1, 't'), of(2, 't'), of(3, 's')])).toBe(2);
    expect(sessionsAmong([of(0, 's'), of(1, 't'), of(2, 'u', 'jwt')])).toBe(2);
    expect(sessionsAmong([of(0, 's'), of(60, 't'), of(30, 'u')])).toBe(3);
    expect(sessionsAmong([of(0, 's'), of(61, 't'), of(30, 'u')])).toBe(2);
    expect(sessionsAmong([])).toBe(0);
  });

  it('has something new in it', () => {
    const all = [0, 10, 20, 90].map((minute) => seen(minute, { session: `${minute}` }));
    expect(sessionsAmong(all, (one) => one === all[3])).toBe(1);
    expect(sessionsAmong(all, (one) => one === all[0])).toBe(3);
    const placed = byPattern(arrange(all)).get('iban') ?? [];
    const spread = widestSpread(placed, (one) => one === all[0] || one === all[1]);
    expect(spread).toEqual({ sessions: 3, sighting: all[1] });
  });

  it('reaches over as many sightings as are remembered', () => {
    const between = (count: number) =>
      Array.from({ length: count }, () => seen(2, { session: 's', pattern: 'jwt' }));
    const around = (count: number) => [
      seen(0, { session: 's' }),
      seen(1, { session: 't' }),
      ...between(count),
      seen(3, { session: 'u' }),
    ];
    expect(sessionsAmong(around(MAX_SIGHTINGS - 3))).toBe(3);
    expect(sessionsAmong(around(MAX_SIGHTINGS - 2))).toBe(2);
  });
});
