import type { NewFact } from '@governance/shared/channel/facts';
import { FEED_START, feedDigest } from '@governance/shared/channel/feed-chain';
import { verifyStatement } from '@governance/shared/channel/signed-statement';
import { afterAll, describe, expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { aFeedSigner, roleFact as role } from '../testing/test-feed.ts';
import { createFeedReader } from './feed-reader.ts';

let time = Date.parse('2026-01-01T00:00:00.000Z');
const test = await testDatabase();
let reads = 0;
const db: typeof test.db = {
  ...test.db,
  inTenant: (...args) => {
    reads++;
    return test.db.inTenant(...args);
  },
};
const { signer, keys: feedKeys } = aFeedSigner();
const prepareApprovals = async () => async () => new Set<number>();
const deps = { db, changes: test.changes, signer, prepareApprovals, now: () => new Date(time) };
const reader = createFeedReader(deps);
afterAll(() => reader.close());

const append = (scope: TenantScope, ...facts: NewFact[]) =>
  test.db.inTenant(scope, async (tx) => {
    for (const fact of facts) tx.feed.append(fact);
  });

interface Reading {
  digest?: string;
  limit?: number;
  waitMs?: number;
  signal?: AbortSignal;
}

const read = (scope: TenantScope, cursor: number, more: Reading = {}, from = reader) =>
  from.readFeed({
    tenantId: scope.tenantId,
    cursor,
    digest: FEED_START,
    limit: 100,
    waitMs: 0,
    signal: new AbortController().signal,
    ...more,
  });
const digestOf = async (scope: TenantScope) =>
  (await read(scope, 0)).entries.reduce(feedDigest, FEED_START);

describe('readFeed', () => {
  it('says with each page where the admin chain stands, signed', async () => {
    const scope = await aTenant(test);
    const { tenantId } = scope;
    const trust = { tenantId, keys: feedKeys };
    expect((await read(scope, 0)).admin_head).toBeUndefined();
    const act = (target: string) =>
      test.db.inTenant(scope, async (tx) => tx.audit.append({ action: 'thing_done', target }));
    await act('one');
    // What is known of a feed that did not change is looked at again after ten seconds.
    const fresh = createFeedReader({ ...deps, recheckAfterMs: 0 });
    const first = (await read(scope, 0, {}, fresh)).admin_head;
    if (!first) throw new Error('there is no head');
    const { rows } = await test.superuser.query(
      'SELECT stream, epoch, seq::int, hash FROM ledger_records WHERE tenant_id = $1 ORDER BY seq DESC LIMIT 1',
      [tenantId],
    );
    const named = { type: 'admin_head', v: 1, tenant_id: tenantId };
    const at = new Date(time).toISOString();
    expect(verifyStatement(first, trust)).toEqual({ ...named, ...rows[0], time: at });
    expect((await read(scope, 0, {}, fresh)).admin_head).toBe(first);
    await act('two');
    const second = (await read(scope, 0, {}, fresh)).admin_head?.statement;
    expect(second).toMatchObject({ seq: 3, stream: rows[0].stream });
    fresh.close();
  });

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
    const digest = first.entries.reduce(feedDigest, FEED_START);
    const second = await read(scope, first.cursor, { digest });
    expect(second).toMatchObject({
      entries: [{ seq: 3, kind: 'role', key: 'gone', value: null }],
      cursor: 3,
      head: 3,
    });
    const atEnd = { digest: second.entries.reduce(feedDigest, digest) };
    expect(await read(scope, 3, atEnd)).toMatchObject({ entries: [], cursor: 3, head: 3 });
    expect((await read(other, 0)).entries).toEqual([{ seq: 1, ...role(3) }]);
  });

  it('says with each page where the tenant stands, signed', async () => {
    const scope = await aTenant(test);
    await append(scope, role(1), role(2));
    const page = await read(scope, 0, { limit: 1 });
    const trust = { tenantId: scope.tenantId, keys: feedKeys };
    expect(verifyStatement(page.statement, trust)).toEqual({
      type: 'freshness',
      v: 1,
      tenant_id: scope.tenantId,
      bundle: null,
      feed_seq: 2,
      feed_digest: await digestOf(scope),
      time: new Date(time).toISOString(),
    });
  });

  it.each([
    ['a cursor beyond the head', 50, undefined],
    ['another digest at the head', 3, 'a'.repeat(64)],
    ['another digest before the head', 2, 'a'.repeat(64)],
    ['another digest at the start', 0, 'a'.repeat(64)],
    ['the digest of another place', 3, FEED_START],
  ])('refuses %s at once', async (_, cursor, digest) => {
    const scope = await aTenant(test);
    await append(scope, role(1), role(2), role(3));
    const options = { waitMs: 60_000, ...(digest ? { digest } : {}) };
    await expect(read(scope, cursor, options)).rejects.toMatchObject({ code: 'FEED_RESET' });
  });

  it('refuses a cursor before the compaction, and goes on at and after it', async () => {
    const scope = await aTenant(test);
    await append(scope, role(1), role(2), role(3));
    const { entries } = await read(scope, 0);
    const digests = [FEED_START];
    for (const entry of entries) digests.push(feedDigest(digests.at(-1) ?? '', entry));
    await test.superuser.query(
      'UPDATE tenant_heads SET compacted_seq = 2, compacted_digest = $2 WHERE tenant_id = $1',
      [scope.tenantId, digests[2]],
    );
    await test.superuser.query('DELETE FROM feed_entries WHERE tenant_id = $1 AND seq < 3', [
      scope.tenantId,
    ]);
    const at = (cursor: number) => read(scope, cursor, { digest: digests[cursor] ?? '' });
    await expect(at(0)).rejects.toMatchObject({ code: 'FEED_RESET' });
    await expect(at(1)).rejects.toMatchObject({ code: 'FEED_RESET' });
    expect((await at(2)).entries).toMatchObject([{ seq: 3 }]);
    expect((await at(3)).entries).toEqual([]);
  });

  it('wakes those who wait, with one read for all of them', async () => {
    const scope = await aTenant(test);
    reads = 0;
    const waiting = Array.from({ length: 1_000 }, () => read(scope, 0, { waitMs: 30_000 }));
    await expect.poll(() => reads).toBe(1);
    await append(scope, role(1));
    const pages = await Promise.all(waiting);
    expect(new Set(pages.map((page) => page.cursor))).toEqual(new Set([1]));
    expect(reads).toBe(2);
    // Who has everything costs no read, and no signature.
    const digest = pages[0]?.statement.statement.feed_digest ?? '';
    const again = Array.from({ length: 1_000 }, () => read(scope, 1, { digest }));
    for (const page of await Promise.all(again)) expect(page.statement).toBe(pages[0]?.statement);
    expect(reads).toBe(2);
  });

  it('answers an empty page when the time is up, or the reader has gone', async () => {
    const scope = await aTenant(test);
    expect(await read(scope, 0, { waitMs: 20 })).toMatchObject({ entries: [], cursor: 0, head: 0 });
    const gone = new AbortController();
    const waiting = read(scope, 0, { waitMs: 30_000, signal: gone.signal });
    gone.abort();
    expect(await waiting).toMatchObject({ entries: [] });
  });

  it('finds a change without a notification when the time is up', async () => {
    const scope = await aTenant(test);
    const deaf = createFeedReader({
      ...deps,
      changes: { subscribe: () => () => {} },
      recheckAfterMs: 10,
    });
    const waiting = read(scope, 0, { waitMs: 100 }, deaf);
    await append(scope, role(1));
    expect((await waiting).entries).toHaveLength(1);
    const digest = await digestOf(scope);
    expect(await read(scope, 1, { digest }, deaf)).toMatchObject({ entries: [], head: 1 });
    await append(scope, role(2));
    await expect.poll(async () => (await read(scope, 1, { digest }, deaf)).entries.length).toBe(1);
  });

  it('signs again after a minute, and for what it has just read', async () => {
    const scope = await aTenant(test);
    const hasty = createFeedReader({ ...deps, recheckAfterMs: 0 });
    const statement = async () => (await read(scope, 0, {}, hasty)).statement;
    const first = await statement();
    time += 59_000;
    expect(await statement()).toBe(first);
    time += 2_000;
    expect((await statement()).statement.time).toBe(new Date(time).toISOString());
    hasty.close();
  });

  it('lets only so many wait', async () => {
    const scope = await aTenant(test);
    const small = createFeedReader({
      ...deps,
      listeners: { total: 1, perTenant: 1, perDeployment: 1 },
    });
    const waiting = read(scope, 0, { waitMs: 30_000 }, small);
    await expect(read(scope, 0, { waitMs: 30_000 }, small)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect((await read(scope, 0, {}, small)).entries).toEqual([]);
    small.close();
    expect((await waiting).entries).toEqual([]);
  });
});
