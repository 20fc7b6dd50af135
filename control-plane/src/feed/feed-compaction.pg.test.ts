import type { NewFact } from '@governance/shared/channel/facts';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import {
  aFeedSigner,
  apply,
  createFollower,
  readSnapshot,
  roleFact,
} from '../testing/test-feed.ts';
import { type CompactionLimits, compactFeed, createFeedCompaction } from './feed-compaction.ts';
import { createFeedReader } from './feed-reader.ts';

const test = await testDatabase();
const { signer, keys } = aFeedSigner();
const reader = createFeedReader({
  prepareApprovals: async () => async () => new Set(),
  db: test.db,
  changes: test.changes,
  signer,
  now: () => new Date(),
  snapshots: { page: 2 },
});
afterAll(() => reader.close());

const DAY_MS = 24 * 60 * 60 * 1000;
const { signal } = new AbortController();

const append = (scope: TenantScope, ...facts: NewFact[]) =>
  test.db.inTenant(scope, async (tx) => {
    for (const fact of facts) tx.feed.append(fact);
  });
const gone = (n: number): NewFact => ({ ...roleFact(n), value: null });

/** Everything is old enough, unless said otherwise. */
const compact = (scope: TenantScope, limits: Partial<CompactionLimits> = {}) =>
  compactFeed(
    {
      db: test.db,
      now: () => new Date(Date.now() + 1_000),
      limits: { keepMs: 0, keepEntries: 0, ...limits },
    },
    scope.tenantId,
    signal,
  );

const seqsOf = async ({ tenantId }: TenantScope) => {
  const { rows } = await test.superuser.query<{ seq: string }>(
    'SELECT seq FROM feed_entries WHERE tenant_id = $1 ORDER BY seq',
    [tenantId],
  );
  return rows.map(({ seq }) => Number(seq));
};
const compactedTo = async ({ tenantId }: TenantScope) => {
  const { rows } = await test.superuser.query<{ seq: string }>(
    'SELECT compacted_seq AS seq FROM tenant_heads WHERE tenant_id = $1',
    [tenantId],
  );
  return Number(rows[0]?.seq);
};

describe('compaction', () => {
  it('removes what is superseded, and tombstones, of one tenant', async () => {
    const scope = await aTenant(test);
    const other = await aTenant(test);
    await append(scope, roleFact(1), roleFact(2), roleFact(1, 'new'), roleFact(3), gone(2));
    await append(other, roleFact(1), roleFact(1, 'new'));
    expect(await compact(scope)).toBe(5);
    expect(await seqsOf(scope)).toEqual([3, 4]);
    expect(await compactedTo(scope)).toBe(5);
    expect(await seqsOf(other)).toEqual([1, 2]);
    // What it left is superseded later.
    await append(scope, roleFact(3, 'new'), gone(1));
    expect(await compact(scope)).toBe(2);
    expect(await seqsOf(scope)).toEqual([6]);
    expect(await compact(scope)).toBe(0);
  });

  it('keeps the last entries, and what is younger than it should be', async () => {
    const scope = await aTenant(test);
    for (let i = 0; i < 6; i++) await append(scope, roleFact(1, `name ${i}`));
    expect(await compact(scope, { keepEntries: 4 })).toBe(2);
    expect(await seqsOf(scope)).toEqual([2, 3, 4, 5, 6]);
    expect(await compact(scope, { keepMs: DAY_MS })).toBe(0);
    await test.superuser.query(
      `UPDATE feed_entries SET created_at = created_at - interval '2 days'
       WHERE tenant_id = $1 AND seq <> 4`,
      [scope.tenantId],
    );
    // Not past the first young one, though the next are old.
    expect(await compact(scope, { keepMs: DAY_MS })).toBe(1);
    expect(await seqsOf(scope)).toEqual([3, 4, 5, 6]);
  });

  it('goes in steps, as far as one run may', async () => {
    const scope = await aTenant(test);
    await append(scope, ...Array.from({ length: 20 }, (_, i) => roleFact(i % 3, `name ${i}`)));
    expect(await compact(scope, { step: 4, run: 10 })).toBe(12);
    expect(await compactedTo(scope)).toBe(12);
    expect(await seqsOf(scope)).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    expect(await compact(scope, { step: 4 })).toBe(8);
    expect(await seqsOf(scope)).toEqual([18, 19, 20]);
  });

  it('goes past an entry that was made while the clock was ahead', async () => {
    const scope = await aTenant(test);
    await append(scope, ...Array.from({ length: 20 }, (_, i) => roleFact(i % 3, `name ${i}`)));
    await test.superuser.query(
      `UPDATE feed_entries SET created_at = now() + interval '1 year'
       WHERE tenant_id = $1 AND seq IN (1, 19)`,
      [scope.tenantId],
    );
    expect(await compact(scope)).toBe(20);
    expect(await seqsOf(scope)).toEqual([18, 19, 20]);
  });

  it('is done once when two replicas do it at the same moment', async () => {
    const scope = await aTenant(test);
    await append(scope, ...Array.from({ length: 50 }, (_, i) => roleFact(i % 5, `name ${i}`)));
    const both = await Promise.allSettled([compact(scope), compact(scope)]);
    expect(both.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect(await compactedTo(scope)).toBe(50);
    expect(await seqsOf(scope)).toEqual([46, 47, 48, 49, 50]);
  });

  it('is a task of the leader, over all tenants', async () => {
    const scopes = [await aTenant(test), await aTenant(test)];
    for (const scope of scopes) await append(scope, roleFact(1), roleFact(1, 'new'));
    const task = createFeedCompaction({
      db: test.db,
      now: () => new Date(Date.now() + 1_000),
      limits: { keepMs: 0, keepEntries: 0 },
    });
    await task.run(signal);
    for (const scope of scopes) expect(await seqsOf(scope)).toEqual([2]);
  });
});

type Operation =
  | { does: 'change'; facts: NewFact[] }
  | { does: 'compact'; keepEntries: number; step: number }
  | { does: 'read'; who: number; limit: number }
  | { does: 'restore' };

const READERS = 3;
const aFact = fc
  .tuple(fc.nat({ max: 3 }), fc.option(fc.nat({ max: 9 }), { nil: null, freq: 3 }))
  .map(([n, name]) => (name === null ? gone(n) : roleFact(n, `name ${name}`)));
const anOperation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('change' as const),
      facts: fc.array(aFact, { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('compact' as const),
      keepEntries: fc.nat({ max: 6 }),
      step: fc.integer({ min: 1, max: 8 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('read' as const),
      who: fc.nat({ max: READERS - 1 }),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ does: 'restore' as const }) },
);

describe('whatever changes, is compacted and read in which order', () => {
  it('every reader ends with exactly the newest facts, and the digests agree', async () => {
    let resets = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anOperation, { maxLength: 24 }), async (operations) => {
        const scope = await aTenant(test);
        const { tenantId } = scope;
        const trust = { tenantId, keys };
        const truth = new Map<string, unknown>();
        const readers = Array.from({ length: READERS }, () => createFollower(reader, trust));
        for (const operation of operations) {
          if (operation.does === 'change') {
            await append(scope, ...operation.facts);
            for (const fact of operation.facts) apply(truth, fact);
          } else if (operation.does === 'compact') await compact(scope, operation);
          else if (operation.does === 'read') await readers[operation.who]?.step(operation.limit);
          else await restoreOlder(scope, truth);
        }
        for (const follower of readers) {
          while (!(await follower.step(3)));
          expect(Object.fromEntries(follower.facts)).toEqual(Object.fromEntries(truth));
          resets += follower.resets;
        }
        const { pages } = await readSnapshot(reader, trust);
        const facts = new Map<string, unknown>();
        for (const entry of pages.flat()) apply(facts, entry);
        expect(Object.fromEntries(facts)).toEqual(Object.fromEntries(truth));
        expect(pages.flat()).toHaveLength(truth.size);
      }),
      { numRuns: 40 },
    );
    expect(resets).toBeGreaterThan(10);
  });
});

/**
 * The tenant's feed as an older backup has it (its last entry is not there), with its number given
 * away once more to another fact.
 */
async function restoreOlder(scope: TenantScope, truth: Map<string, unknown>): Promise<void> {
  const { tenantId } = scope;
  const { rows } = await test.superuser.query<{ last: string; lost: string }>(
    `SELECT e.digest AS last, l.kind || '/' || l.key AS lost FROM tenant_heads h
     JOIN feed_entries l ON l.tenant_id = h.tenant_id AND l.seq = h.feed_seq
     JOIN feed_entries e ON e.tenant_id = h.tenant_id AND e.seq = h.feed_seq - 1
     WHERE h.tenant_id = $1 AND h.compacted_seq < h.feed_seq - 1`,
    [tenantId],
  );
  const [row] = rows;
  if (!row) return;
  await test.superuser.query(
    `DELETE FROM feed_entries WHERE tenant_id = $1
       AND seq = (SELECT feed_seq FROM tenant_heads WHERE tenant_id = $1)`,
    [tenantId],
  );
  await test.superuser.query(
    'UPDATE tenant_heads SET feed_seq = feed_seq - 1, feed_digest = $2 WHERE tenant_id = $1',
    [tenantId, row.last],
  );
  const before = await test.superuser.query<{ value: string | null }>(
    `SELECT value FROM feed_entries WHERE tenant_id = $1 AND kind || '/' || key = $2
     ORDER BY seq DESC LIMIT 1`,
    [tenantId, row.lost],
  );
  const value = before.rows[0]?.value;
  if (value) truth.set(row.lost, JSON.parse(value));
  else truth.delete(row.lost);
  const other = roleFact(2, 'after the restore');
  await append(scope, other);
  apply(truth, other);
}
