import type { NewFact } from '@governance/shared/channel/facts';
import { verifyLink } from '@governance/shared/ledger/hash-chain';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import { describe, expect, it } from 'vitest';
import { aTenant } from '../../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../../tests/support/test-database.ts';
import type { TenantChange } from './change-bus.ts';
import { SYSTEM_ACTOR, type TenantScope } from './tenant-scope.ts';

const test = await testDatabase();
const { db, superuser } = test;

const roleFact = (id: string, name: string): NewFact => ({
  kind: 'role',
  key: id,
  value: { id, name, permissions: ['*:*'], resource_scopes: [] },
});
const ID = '0190aaaa-0000-7000-8000-000000000001';

async function ledgerOf({ tenantId }: TenantScope) {
  const { rows } = await superuser.query<{
    type: string;
    epoch: number;
    seq: string;
    position: string;
    hash: string;
    prev_hash: string;
    bytes: Buffer;
  }>('SELECT * FROM ledger_records WHERE tenant_id = $1 ORDER BY position', [tenantId]);
  return rows;
}

async function feedOf({ tenantId }: TenantScope) {
  const { rows } = await superuser.query<{ seq: string; key: string; value: string | null }>(
    'SELECT seq, key, value FROM feed_entries WHERE tenant_id = $1 ORDER BY seq',
    [tenantId],
  );
  return rows;
}

describe('inTenant', () => {
  it('commits the change, its feed entries and its audit records together', async () => {
    const scope = { ...(await aTenant(test)), requestId: 'req-1' };
    const heads = await db.inTenantWithHeads(scope, async (tx) => {
      await tx.db.role.create({ data: { tenantId: scope.tenantId, id: ID, name: 'reader' } });
      tx.feed.append(roleFact(ID, 'reader'));
      tx.audit.append({ action: 'role_created', target: ID, details: { name: 'reader' } });
      return 'done';
    });
    expect(heads).toEqual({ result: 'done', feedSeq: 1, position: 2 });
    expect(await feedOf(scope)).toEqual([
      expect.objectContaining({ seq: '1', key: ID, value: expect.stringContaining('"reader"') }),
    ]);
    const records = (await ledgerOf(scope)).map((row) => parseRecord(row.bytes));
    expect(records).toEqual([
      expect.objectContaining({ type: 'epoch_start', epoch: 1, seq: 1, reason: 'created' }),
      expect.objectContaining({
        type: 'admin_action',
        seq: 2,
        action: 'role_created',
        target: ID,
        actor: { ...scope.actor, break_glass: false },
        details: { name: 'reader', request_id: 'req-1' },
      }),
    ]);
  });

  it('leaves nothing behind when the work throws', async () => {
    const scope = await aTenant(test);
    const changes: TenantChange[] = [];
    const end = test.changes.subscribe((change) => changes.push(change), expect.unreachable);
    await expect(
      db.inTenant(scope, async (tx) => {
        await tx.db.role.create({ data: { tenantId: scope.tenantId, id: ID, name: 'reader' } });
        tx.feed.append(roleFact(ID, 'reader'));
        tx.audit.append({ action: 'role_created', target: ID });
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    end();
    expect(await feedOf(scope)).toEqual([]);
    expect(await ledgerOf(scope)).toEqual([]);
    expect(await db.inTenant(scope, (tx) => tx.db.role.count())).toBe(0);
    expect(changes).toEqual([]);
  });

  it('rolls the change back when its fact has the wrong shape', async () => {
    const scope = await aTenant(test);
    const wrong = { kind: 'role', key: ID, value: { id: 'x' } } as unknown as NewFact;
    await expect(
      db.inTenant(scope, async (tx) => {
        await tx.db.role.create({ data: { tenantId: scope.tenantId, id: ID, name: 'reader' } });
        tx.feed.append(wrong);
      }),
    ).rejects.toThrow();
    expect(await db.inTenant(scope, (tx) => tx.db.role.count())).toBe(0);
  });

  it('numbers a tenant without gaps and keeps one chain under concurrent writers', async () => {
    const scope = await aTenant(test);
    const seen: number[] = [];
    const end = test.changes.subscribe(({ tenantId, feedSeq }) => {
      if (tenantId === scope.tenantId && feedSeq) seen.push(feedSeq);
    }, expect.unreachable);
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        db.inTenant(scope, async (tx) => {
          tx.feed.append(roleFact(ID, `role-${n}`));
          tx.audit.append({ action: 'role_changed', target: ID, details: { n } });
        }),
      ),
    );
    end();
    const feed = await feedOf(scope);
    expect(feed.map((entry) => Number(entry.seq))).toEqual(feed.map((_, n) => n + 1));
    expect(seen.sort((a, b) => a - b)).toEqual(feed.map((_, n) => n + 1));

    const rows = await ledgerOf(scope);
    expect(rows.map((row) => Number(row.position))).toEqual(rows.map((_, n) => n + 1));
    let before: { epoch: number; seq: number; head: string } | null = null;
    for (const row of rows) {
      const record = parseRecord(row.bytes);
      const previous = record.type === 'epoch_start' ? { previous: record.previous } : {};
      const { after, broken }: ReturnType<typeof verifyLink> = verifyLink(
        before,
        {
          epoch: row.epoch,
          seq: Number(row.seq),
          prev_hash: row.prev_hash,
          bytes: row.bytes,
          ...previous,
        },
        row.hash,
      );
      expect(broken).toBeNull();
      before = after;
    }
    expect(rows).toHaveLength(21);
  });

  it('sees the rows of its own tenant only, and none outside a tenant', async () => {
    const [one, other] = [await aTenant(test), await aTenant(test)];
    await db.inTenant(one, (tx) =>
      tx.db.role.create({ data: { tenantId: one.tenantId, id: ID, name: 'reader' } }),
    );
    const find = { where: { tenantId: one.tenantId, id: ID } };
    expect(await db.inTenant(one, (tx) => tx.db.role.findFirst(find))).not.toBeNull();
    expect(await db.inTenant(other, (tx) => tx.db.role.findFirst(find))).toBeNull();
    expect(await test.connections.prisma.role.findFirst(find)).toBeNull();
    await expect(
      db.inTenant(other, (tx) =>
        tx.db.role.create({ data: { tenantId: one.tenantId, id: other.tenantId, name: 'x' } }),
      ),
    ).rejects.toThrow(/row-level security/);
  });

  it('the platform sees the list of tenants and no tenant rows', async () => {
    const one = await aTenant(test, 'listed');
    const { tenants, roles } = await db.inPlatform(SYSTEM_ACTOR, async (tx) => ({
      tenants: await tx.db.tenant.findMany(),
      roles: await tx.db.role.count(),
    }));
    expect(tenants.map((tenant) => tenant.id)).toContain(one.tenantId);
    expect(roles).toBe(0);
    expect(await test.connections.prisma.tenant.count()).toBe(0);
    await expect(
      db.inPlatform(SYSTEM_ACTOR, (tx) =>
        tx.db.tenant.update({ where: { id: one.tenantId }, data: { name: 'taken' } }),
      ),
    ).rejects.toThrow();
  });
});
