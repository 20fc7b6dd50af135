import type { FeedEntry } from '@governance/shared/channel/facts';
import { feedDigest } from '@governance/shared/channel/feed-chain';
import type { FreshnessStatement } from '@governance/shared/channel/signed-statement';
import { expect, it } from 'vitest';
import { type FeedPosition, verifyPage } from './feed-page.ts';

const START: FeedPosition = { cursor: 4, digest: '0'.repeat(64) };
const entry = (seq: number): FeedEntry =>
  ({ seq, kind: 'kill_switch', key: 'tenant', value: { engaged: seq % 2 === 0 } }) as FeedEntry;

function pageOf(...seqs: number[]) {
  const entries = seqs.map(entry);
  let digest = START.digest;
  for (const one of entries) digest = feedDigest(digest, one);
  const cursor = seqs.at(-1) ?? START.cursor;
  return { page: { entries, cursor, head: cursor }, digest };
}
const statement = (feed_seq: number, feed_digest: string) =>
  ({ feed_seq, feed_digest }) as FreshnessStatement;

it('a page that ends where the statement signs is taken', () => {
  const { page, digest } = pageOf(5, 6);
  expect(verifyPage(START, page, statement(6, digest), null)).toEqual({
    end: { cursor: 6, digest },
    proven: 6,
  });
});

it('nothing behind the signed place is taken: anybody could have added it', () => {
  const { page } = pageOf(5, 6);
  const signed = statement(5, pageOf(5).digest);
  expect(() => verifyPage(START, page, signed, null)).toThrow(/entry 6 is behind the signed 5/);
  const old = statement(4, START.digest);
  expect(() => verifyPage(START, pageOf(5).page, old, null)).toThrow(
    /entry 5 is behind the signed 4/,
  );
  expect(() => verifyPage(START, pageOf().page, statement(3, 'f'.repeat(64)), null)).toThrow(
    /behind/,
  );
});

it('a page that ends before the signed place proves no more than an earlier statement signs', () => {
  const { page } = pageOf(5, 6);
  const ahead = statement(9, 'f'.repeat(64));
  expect(verifyPage(START, page, ahead, null).proven).toBe(null);
  expect(verifyPage(START, page, ahead, statement(5, pageOf(5).digest)).proven).toBe(5);
  const other = statement(5, 'e'.repeat(64));
  expect(() => verifyPage(START, page, ahead, other)).toThrow(/entry 5 is not what was signed/);
});
