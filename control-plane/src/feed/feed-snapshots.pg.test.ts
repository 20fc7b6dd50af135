import type { NewFact } from '@governance/shared/channel/facts';
import { FEED_START, feedDigest } from '@governance/shared/channel/feed-chain';
import { expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { systemScope, type TenantScope } from '../platform/database/tenant-scope.ts';
import { aFeedSigner, readSnapshot, roleFact } from '../testing/test-feed.ts';
import { createFeedReader } from './feed-reader.ts';
import { createFeedSnapshots, type SnapshotLimits } from './feed-snapshots.ts';

const test = await testDatabase();
const { signer, keys } = aFeedSigner();
const NOW = '2026-01-01T00:00:00.000Z';

function snapshots(limits: Partial<SnapshotLimits> = {}) {
  const { read } = createFeedSnapshots({
    prepareApprovals: async () => async () => new Set(),
    db: test.db,
    signer,
    readClock: () => ({ time: new Date(NOW), generation: 0 }),
    limits,
  });
  return { readSnapshot: read };
}
const append = (scope: TenantScope, ...facts: NewFact[]) =>
  test.db.inTenant(scope, async (tx) => {
    for (const fact of facts) tx.feed.append(fact);
  });
const roles = (from: number, to: number, name?: string) =>
  Array.from({ length: to - from }, (_, i) => roleFact(from + i, name));
const never = () => new AbortController().signal;

/** Transactions of readers that are open now. */
async function openTransactions(): Promise<number> {
  const { rows } = await test.superuser.query<{ n: string }>(
    `SELECT count(*) AS n FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'governance_app'
       AND state LIKE 'idle in transaction%'`,
  );
  return Number(rows[0]?.n);
}

it('has the newest value of each key, by kind and key, without tombstones, and a signed end', async () => {
  const scope = await aTenant(test);
  const other = await aTenant(test);
  await append(other, ...roles(1, 4, 'another tenant’s'));
  const kids = { issuer: 'https://governance.example', keys: [] };
  await append(scope, { kind: 'token_keys', key: 'current', value: kids }, ...roles(1, 6));
  await append(scope, roleFact(2, 'new'), { ...roleFact(3), value: null });
  const trust = { tenantId: scope.tenantId, keys };
  const { pages, end } = await readSnapshot(snapshots({ page: 2 }), trust);
  expect(pages).toEqual([
    [
      { seq: 2, ...roleFact(1) },
      { seq: 7, ...roleFact(2, 'new') },
    ],
    [{ seq: 5, ...roleFact(4) }],
    [
      { seq: 6, ...roleFact(5) },
      { seq: 1, kind: 'token_keys', key: 'current', value: kids },
    ],
  ]);
  const reader = createFeedReader({
    prepareApprovals: async () => async () => new Set(),
    db: test.db,
    changes: test.changes,
    signer,
    now: () => new Date(NOW),
  });
  const place = { cursor: 0, digest: FEED_START, limit: 100, waitMs: 0, signal: never() };
  const { entries } = await reader.readFeed({ tenantId: scope.tenantId, ...place });
  reader.close();
  expect(end.statement).toMatchObject({
    type: 'snapshot_end',
    feed_seq: 8,
    feed_digest: entries.reduce(feedDigest, FEED_START),
    count: 5,
    time: NOW,
  });
});

it('is an end alone where there is nothing', async () => {
  const { tenantId } = await aTenant(test);
  const { pages, end } = await readSnapshot(snapshots(), { tenantId, keys });
  expect(pages).toEqual([]);
  expect(end.statement).toMatchObject({ feed_seq: 0, feed_digest: FEED_START, count: 0 });
});

it('is of one moment while others write and the feed is compacted', async () => {
  const scope = await aTenant(test);
  const { tenantId } = scope;
  await append(scope, ...roles(0, 40, 'before'));
  const reading = snapshots({ page: 5 }).readSnapshot({ tenantId, signal: never() });
  const entries = [];
  let step = await reading.next();
  for (let i = 0; !step.done; i++, step = await reading.next()) {
    entries.push(...step.value);
    await append(scope, ...roles(0, 60, `during ${i}`), { ...roleFact(39 - i), value: null });
    await test.superuser.query('DELETE FROM feed_entries WHERE tenant_id = $1 AND seq < 41', [
      tenantId,
    ]);
  }
  expect(entries).toEqual(roles(0, 40, 'before').map((fact, i) => ({ seq: i + 1, ...fact })));
  expect(step.value.statement).toMatchObject({ feed_seq: 40, count: 40 });
});

it('reads in a transaction that cannot write', async () => {
  const { tenantId } = await aTenant(test);
  let kind: unknown;
  const inTenant: typeof test.db.inTenant = (scope, work, options) =>
    test.db.inTenant(
      scope,
      async (tx) => {
        const result = await work(tx);
        kind = await tx.db.$queryRaw`
          SELECT current_setting('transaction_read_only') AS read_only,
            current_setting('transaction_isolation') AS isolation`;
        return result;
      },
      options,
    );
  const { read } = createFeedSnapshots({
    prepareApprovals: async () => async () => new Set(),
    db: { inTenant },
    signer,
    readClock: () => ({ time: new Date(NOW), generation: 0 }),
  });
  await readSnapshot({ readSnapshot: read }, { tenantId, keys });
  await expect.poll(() => kind).toEqual([{ read_only: 'on', isolation: 'repeatable read' }]);
});

it('holds its transaction no longer than its reader is there', async () => {
  const { tenantId } = await aTenant(test);
  await append(systemScope(tenantId), ...roles(0, 10));
  const source = snapshots({ page: 2, total: 1 });

  const left = source.readSnapshot({ tenantId, signal: never() });
  await left.next();
  expect(await openTransactions()).toBe(1);
  await left.return(undefined as never);
  await expect.poll(openTransactions).toBe(0);

  const gone = new AbortController();
  const aborted = source.readSnapshot({ tenantId, signal: gone.signal });
  await aborted.next();
  gone.abort(new Error('gone'));
  await expect.poll(openTransactions).toBe(0);
  await expect(aborted.next()).rejects.toThrow('gone');
  const again = source.readSnapshot({ tenantId, signal: gone.signal });
  await expect(again.next()).rejects.toThrow('gone');
});

it('ends for a reader that is too slow, and lets the next one in', async () => {
  const { tenantId } = await aTenant(test);
  await append(systemScope(tenantId), ...roles(0, 10));
  const source = snapshots({ page: 2, total: 1, ms: 300, waitMs: 5_000 });
  const slow = source.readSnapshot({ tenantId, signal: never() });
  await slow.next();
  // It never asks again, and the next one waits for its slot.
  const { end } = await readSnapshot(source, { tenantId, keys });
  expect(end.statement.count).toBe(10);
  await expect(slow.next()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect.poll(openTransactions).toBe(0);
});

it('refuses when too many are read at once', async () => {
  const { tenantId } = await aTenant(test);
  await append(systemScope(tenantId), ...roles(0, 10));
  const source = snapshots({ page: 2, total: 1, waiting: 0 });
  const first = source.readSnapshot({ tenantId, signal: never() });
  await first.next();
  const second = source.readSnapshot({ tenantId, signal: never() });
  await expect(second.next()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await first.return(undefined as never);
  await expect
    .poll(async () => {
      const third = source.readSnapshot({ tenantId, signal: never() });
      return third.next().then(
        () => third.return(undefined as never).then(() => 'read'),
        () => 'refused',
      );
    })
    .toBe('read');
});
