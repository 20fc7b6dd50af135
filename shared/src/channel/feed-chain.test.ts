import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeedEntry } from './facts.ts';
import { createSnapshotDigest, FEED_START, feedDigest } from './feed-chain.ts';

const anEntry: fc.Arbitrary<FeedEntry> = fc.record({
  seq: fc.integer({ min: 1, max: 1_000 }),
  kind: fc.constantFrom('agent', 'role', 'unknown'),
  key: fc.string({ unit: 'grapheme' }),
  value: fc.option(fc.dictionary(fc.string(), fc.oneof(fc.integer(), fc.string(), fc.boolean()))),
});
const follow = (entries: FeedEntry[], from = FEED_START) => entries.reduce(feedDigest, from);
const sum = (entries: FeedEntry[]) => {
  const digest = createSnapshotDigest();
  for (const entry of entries) digest.add(entry);
  return { count: digest.count(), hex: digest.hex() };
};

describe('the digest of a feed', () => {
  it('is the documented hash', () => {
    const entry = { seq: 1, kind: 'role', key: 'k', value: { b: 1, a: 'ü' } };
    const text = `{"key":"k","kind":"role","previous":"${FEED_START}","seq":1,"value":{"a":"ü","b":1}}`;
    const wanted = createHash('sha256').update(text).digest('hex');
    expect(feedDigest(FEED_START, entry)).toBe(wanted);
  });

  it('is the same however the entries are paged', () => {
    fc.assert(
      fc.property(fc.array(anEntry), fc.nat(), (entries, cut) => {
        const at = entries.length === 0 ? 0 : cut % entries.length;
        const whole = follow(entries);
        expect(follow(entries.slice(at), follow(entries.slice(0, at)))).toBe(whole);
        expect(whole).toMatch(/^[0-9a-f]{64}$/);
      }),
    );
  });

  it('says a tombstone the same, whether its value is null or left out', () => {
    const tombstone = { seq: 4, kind: 'role', key: 'k' };
    expect(feedDigest(FEED_START, { ...tombstone, value: undefined })).toBe(
      feedDigest(FEED_START, { ...tombstone, value: null }),
    );
  });

  it('is another after any other history', () => {
    fc.assert(
      fc.property(fc.array(anEntry, { minLength: 1 }), fc.nat(), anEntry, (entries, at, other) => {
        const i = at % entries.length;
        const whole = follow(entries);
        const without = entries.toSpliced(i, 1);
        expect(follow(without)).not.toBe(whole);
        expect(follow(entries.toSpliced(i, 0, other))).not.toBe(whole);
        const before = entries[i];
        for (const changed of changesOf(before as FeedEntry)) {
          expect(follow(entries.with(i, changed))).not.toBe(whole);
        }
      }),
    );
  });
});

describe('the digest of a snapshot', () => {
  it('is the documented hash', () => {
    const entries = [
      { seq: 2, kind: 'role', key: 'k', value: { b: 1, a: 2 } },
      { seq: 1, kind: 'role', key: 'l', value: null },
    ];
    const text =
      '{"key":"k","kind":"role","seq":2,"value":{"a":2,"b":1}}\n{"key":"l","kind":"role","seq":1,"value":null}\n';
    const hex = createHash('sha256').update(text).digest('hex');
    expect(sum(entries)).toEqual({ count: 2, hex });
  });

  it('may be asked for at any time, and covers what was added until then', () => {
    const digest = createSnapshotDigest();
    const empty = digest.hex();
    expect(digest.hex()).toBe(empty);
    digest.add({ seq: 1, kind: 'role', key: 'k', value: {} });
    expect(digest.hex()).not.toBe(empty);
    expect(digest.count()).toBe(1);
  });

  it('is another for other entries, or another order', () => {
    fc.assert(
      fc.property(fc.array(anEntry, { minLength: 1 }), fc.nat(), (entries, at) => {
        const i = at % entries.length;
        const { hex } = sum(entries);
        expect(sum(entries.toSpliced(i, 1)).hex).not.toBe(hex);
        for (const changed of changesOf(entries[i] as FeedEntry)) {
          expect(sum(entries.with(i, changed)).hex).not.toBe(hex);
        }
        const [first, second] = entries;
        if (!first || !second || sum([first]).hex === sum([second]).hex) return;
        expect(sum([second, first, ...entries.slice(2)]).hex).not.toBe(hex);
      }),
    );
  });
});

/** The entry with each of its members changed. */
function changesOf(entry: FeedEntry): FeedEntry[] {
  return [
    { ...entry, seq: entry.seq + 1 },
    { ...entry, kind: `${entry.kind}x` },
    { ...entry, key: `${entry.key}x` },
    { ...entry, value: { changed: entry.value ?? null } },
  ];
}
