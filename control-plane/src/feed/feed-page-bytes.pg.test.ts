/** Facts as large as they may be: neither plane has to hold all of them at once. */

import type { FeedEntry, NewFact } from '@governance/shared/channel/facts';
import { FEED_START } from '@governance/shared/channel/feed-chain';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { afterAll, expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { aFeedSigner, createFollower, readSnapshot, roleFact } from '../testing/test-feed.ts';
import { createFeedReader } from './feed-reader.ts';
import { PAGE_BYTES } from './feed-store.ts';

const test = await testDatabase();
const { signer, keys } = aFeedSigner();
const now = () => new Date('2026-01-01T00:00:00.000Z');
const reader = createFeedReader({
  prepareApprovals: async () => async () => new Set(),
  db: test.db,
  changes: test.changes,
  signer,
  now,
});
afterAll(() => reader.close());

/** A role with all the permissions and scopes that a request can carry. */
function largeRole(n: number): Extract<NewFact, { kind: 'role' }> {
  const fact = roleFact(n);
  const many = Array.from({ length: 1_000 }, (_, i) => `${i}`.padEnd(500, 'x'));
  const value = { id: fact.key, name: 'all', permissions: many, resource_scopes: many };
  return { ...fact, value };
}

const bytesOf = (entries: FeedEntry[]) =>
  entries.reduce((sum, { value }) => sum + canonicalize(value).length, 0);

it('reads large facts page by page, by the feed and by a snapshot', async () => {
  const scope = await aTenant(test);
  const { tenantId } = scope;
  const large = Array.from({ length: 12 }, (_, i) => largeRole(i + 1));
  await test.db.inTenant(scope, async (tx) => {
    for (const fact of large) tx.feed.append(fact);
    // One without a value, where a page is full already.
    tx.feed.append({ ...roleFact(13), value: null });
  });
  const one = bytesOf([{ seq: 1, ...(large[0] as NewFact) }]);
  expect(one).toBeGreaterThan(1_000_000);

  const { signal } = new AbortController();
  const at = { tenantId, cursor: 0, digest: FEED_START, limit: 1_000, waitMs: 0, signal };
  const page = await reader.readFeed(at);
  expect(page.entries.length).toBeGreaterThan(1);
  expect(bytesOf(page.entries)).toBeLessThan(PAGE_BYTES + one);
  expect(page).toMatchObject({ cursor: page.entries.length, head: 13 });
  const follower = createFollower(reader, { tenantId, keys });
  while (!(await follower.step(1_000)));
  expect([follower.facts.size, follower.cursor, follower.resets]).toEqual([12, 13, 0]);

  const { pages } = await readSnapshot(reader, { tenantId, keys });
  expect(pages.flat().map(({ key }) => key)).toEqual(large.map(({ key }) => key));
  for (const some of pages) expect(bytesOf(some)).toBeLessThan(PAGE_BYTES + one);
});
