import type { NewFact, TokenKeysFact } from '@governance/shared/facts';
import { afterAll, describe, expect, it } from 'vitest';
import { aTenant } from '../../../tests/a-tenant.ts';
import { testDatabase } from '../../../tests/test-database.ts';
import type { TenantScope } from '../platform/tenant-scope.ts';
import { createFeedReader } from './feed-reader.ts';
import { publishTokenKeys, publishTokenKeysToAll } from './token-keys.ts';

const test = await testDatabase();
let reads = 0;
const db: typeof test.db = {
  ...test.db,
  inTenant: (...args) => {
    reads++;
    return test.db.inTenant(...args);
  },
};
const reader = createFeedReader({ db, changes: test.changes });
afterAll(() => reader.close());

const role = (n: number): NewFact => {
  const id = `0190aaaa-0000-7000-8000-00000000000${n}`;
  const value = { id, name: `role ${n}`, permissions: [], resource_scopes: [] };
  return { kind: 'role', key: id, value };
};
const append = (scope: TenantScope, ...facts: NewFact[]) =>
  test.db.inTenant(scope, async (tx) => {
    for (const fact of facts) tx.feed.append(fact);
  });
const read = (scope: TenantScope, cursor: number, more: { limit?: number; waitMs?: number } = {}) =>
  reader.readFeed({
    tenantId: scope.tenantId,
    cursor,
    limit: 100,
    waitMs: 0,
    signal: new AbortController().signal,
    ...more,
  });
const keys = (...kids: string[]): TokenKeysFact => ({
  issuer: 'https://governance.example',
  keys: kids.map((kid) => ({ kty: 'RSA', kid, alg: 'RS256' })),
});

describe('readFeed', () => {
  it('answers page after page in order, each tenant its own', async () => {
    const scope = await aTenant(test);
    const other = await aTenant(test);
    await append(scope, role(1), role(2));
    await append(scope, { kind: 'role', key: 'gone', value: null });
    await append(other, role(3));
    const first = await read(scope, 0, { limit: 2 });
    expect(first).toMatchObject({ cursor: 2, head: 3 });
    expect(first.entries).toEqual([
      { seq: 1, ...role(1) },
      { seq: 2, ...role(2) },
    ]);
    expect(await read(scope, first.cursor)).toEqual({
      entries: [{ seq: 3, kind: 'role', key: 'gone', value: null }],
      cursor: 3,
      head: 3,
    });
    expect(await read(scope, 3)).toEqual({ entries: [], cursor: 3, head: 3 });
    expect((await read(other, 0)).entries).toEqual([{ seq: 1, ...role(3) }]);
  });

  it('answers a cursor beyond the head at once, with the head', async () => {
    const scope = await aTenant(test);
    expect(await read(scope, 50, { waitMs: 60_000 })).toEqual({ entries: [], cursor: 50, head: 0 });
  });

  it('wakes those who wait, with one read for all of them', async () => {
    const scope = await aTenant(test);
    reads = 0;
    const waiting = Array.from({ length: 200 }, () => read(scope, 0, { waitMs: 60_000 }));
    await expect.poll(() => reads).toBe(1);
    await append(scope, role(1));
    const pages = await Promise.all(waiting);
    expect(new Set(pages.map((page) => page.cursor))).toEqual(new Set([1]));
    expect(reads).toBeLessThanOrEqual(3);
  });

  it('answers an empty page when the time is up', async () => {
    const scope = await aTenant(test);
    expect(await read(scope, 0, { waitMs: 20 })).toEqual({ entries: [], cursor: 0, head: 0 });
  });
});

describe('the keys of tokens', () => {
  it('are published to a tenant only when they differ from what it has', async () => {
    const scope = await aTenant(test);
    expect(await publishTokenKeys(test.db, scope, keys('a', 'b'))).toBe(true);
    expect(await publishTokenKeys(test.db, scope, keys('b', 'a'))).toBe(false);
    expect(await publishTokenKeys(test.db, scope, keys('b', 'c'))).toBe(true);
    const other = await aTenant(test);
    await publishTokenKeysToAll(test.db, keys('c', 'b'));
    expect((await read(scope, 0)).entries.map((entry) => entry.value)).toEqual([
      keys('a', 'b'),
      keys('b', 'c'),
    ]);
    expect((await read(other, 0)).entries).toEqual([
      { seq: 1, kind: 'token_keys', key: 'current', value: keys('c', 'b') },
    ]);
  });
});
