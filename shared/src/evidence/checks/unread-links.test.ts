/** What lies before an unread record is compared across repetitions. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createUnreadLinks, type FollowingRecord } from './unread-links.ts';

const record = (seq: number, given: Partial<FollowingRecord> = {}): FollowingRecord => ({
  ...{ stream: 's', epoch: 1, seq, hash: `h${seq}`, isUnread: false, follows: `h${seq - 1}` },
  ...given,
});

describe('a repetition', () => {
  it('of the same records is the same, whichever of them cannot be read', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 2, maxLength: 30 }),
        fc.nat(),
        (unread, from) => {
          const links = createUnreadLinks(100);
          const all = unread.map((isUnread, i) => record(i + 1, { isUnread }));
          const again = all.slice(from % all.length);
          expect([...all, ...again].every((one) => links.add(one))).toBe(true);
        },
      ),
    );
  });

  it('with another record before an unread one is found', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 20 }), fc.nat(18), (unread, back) => {
        const links = createUnreadLinks(100);
        for (let seq = 1; seq <= 25; seq++) links.add(record(seq, { isUnread: seq === unread }));
        const from = Math.max(1, unread - 1 - back);
        const found: boolean[] = [];
        for (let seq = from; seq <= 25; seq++) {
          const hash = seq < unread ? `other${seq}` : `h${seq}`;
          const follows = seq <= unread ? `other${seq - 1}` : `h${seq - 1}`;
          found.push(links.add(record(seq, { hash, follows, isUnread: seq === unread })));
        }
        expect(found).toContain(false);
      }),
    );
  });

  it('that begins with an unread record behind another one than before is found', () => {
    const links = createUnreadLinks(100);
    links.add(record(1));
    links.add(record(2, { isUnread: true }));
    expect(links.add(record(2, { isUnread: true, follows: 'other' }))).toBe(false);
    expect(links.add(record(2, { isUnread: true, follows: undefined }))).toBe(true);
  });
});

describe('what is held', () => {
  it('is of the newest epoch of each stream', () => {
    const links = createUnreadLinks(1);
    links.add(record(2, { isUnread: true }));
    links.add(record(1, { epoch: 2 }));
    links.add(record(2, { epoch: 2, isUnread: true }));
    expect(links.isFull()).toBe(false);
    expect(links.add(record(1, { epoch: 2, hash: 'other' }))).toBe(false);
    expect(links.add(record(1, { epoch: 1, hash: 'other' }))).toBe(true);
  });

  it('is bounded, and says so', () => {
    const links = createUnreadLinks(1);
    links.add(record(2, { isUnread: true }));
    links.add(record(2, { isUnread: true }));
    expect(links.isFull()).toBe(false);
    links.add(record(3, { isUnread: true }));
    expect(links.isFull()).toBe(true);
  });
});
