/** How many recorded breaks are open, whatever number of them an answer shows. */
import { uuidv7 } from '@governance/shared/ids';
import { beforeEach, expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import type { RecordedBreakKind } from './chain-breaks.ts';
import { readStanding } from './standing-breaks.ts';
import { newMark } from './stream-mark.ts';

const test = await testDatabase();
const { db } = test;
const EARLIER = '2026-01-01T10:00:00.000Z';
const RESTORED = '2026-01-02T10:00:00.000Z';
const LATER = '2026-01-02T10:00:00.001Z';

let scope: TenantScope;
let seq: number;

async function record(
  count: number,
  row: { kind: RecordedBreakKind; signedAt?: string; isAcknowledged?: boolean },
): Promise<void> {
  const { kind, signedAt, isAcknowledged } = row;
  const breaks = Array.from({ length: count }, () => ({
    ...{ tenantId: scope.tenantId, id: uuidv7(), stream: scope.tenantId, epoch: 1, kind },
    seq: BigInt(++seq),
    signedAt: signedAt ? new Date(signedAt) : null,
    acknowledgedAt: isAcknowledged ? new Date(LATER) : null,
  }));
  await db.inTenant(scope, (tx) => tx.db.chainBreak.createMany({ data: breaks }));
}

function read(restoredAt: readonly string[]) {
  const restores = restoredAt.map((at, i) => ({ seq: i + 1, at, reason: 'a disk died' }));
  const marks = new Map([[scope.tenantId, { ...newMark('admin'), restores }]]);
  return db.inTenant(scope, (tx) => readStanding(tx, marks));
}

beforeEach(async () => {
  scope = await aTenant(test);
  seq = 0;
});

it('counts no break that an announced restore explains, also beyond those that are shown', async () => {
  await record(130, { kind: 'log_went_back', signedAt: EARLIER });
  await record(20, { kind: 'admin_head_went_back', signedAt: RESTORED });
  expect(await read([])).toMatchObject({ count: 150, open: 150 });
  const { breaks, count, open } = await read([EARLIER, RESTORED]);
  expect([breaks.length, count, open]).toEqual([100, 150, 0]);
});

it('counts every other break that nobody acknowledged', async () => {
  await record(110, { kind: 'log_went_back', signedAt: EARLIER });
  await record(3, { kind: 'log_went_back', signedAt: LATER });
  await record(5, { kind: 'fork' });
  await record(7, { kind: 'content' });
  await record(11, { kind: 'content', signedAt: EARLIER });
  for (const kind of ['log_went_back', 'fork', 'content'] as const) {
    await record(1, { kind, signedAt: LATER, isAcknowledged: true });
  }
  expect((await read([RESTORED])).open).toBe(3 + 5 + 7 + 11);
});
