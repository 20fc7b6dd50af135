import { MAX_RECORD_BYTES } from '@governance/shared/ledger/ledger-record';
import { expect, it } from 'vitest';
import { aShippingPlane } from '../../../tests/support/a-shipping-plane.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { systemScope, type TenantTransaction } from '../platform/database/tenant-scope.ts';
import { findUsedAgain } from './used-approvals.ts';

const plane = await testControlPlane();
const { superuser } = plane.test;
const GRANT = '0190aaaa-0000-7000-8000-00000000000a';

async function aPlane() {
  const admin = await plane.aTenantAdmin();
  const { tenantId } = admin.scope;
  const { deploymentId: stream } = await aShippingPlane(plane, admin);
  const at = new Date().toISOString();
  const approval = { grant_id: GRANT, agent_id: GRANT, at, grant_expires_at: at };
  const findApproval = () => approval;
  const facts = { findApproval } as unknown as Parameters<typeof findUsedAgain>[2];
  return {
    /** @returns how many of so many calls under one approval have a fault, and a doubt */
    use: async (
      count: number,
      watch: (tx: TenantTransaction) => TenantTransaction = (tx) => tx,
    ) => {
      const uses = Array.from({ length: count }, (_, n) => ({
        ...{ seq: 2 + n, hash: '', decision: { v: 2, grant_id: GRANT } },
      })) as unknown as Parameters<typeof findUsedAgain>[1]['uses'];
      const found = await plane.controlPlane.db.inTenant(systemScope(tenantId), (tx) =>
        findUsedAgain(watch(tx), { stream, uses, faults: [], from: 2 }, facts),
      );
      return { faults: found.faults.length, doubts: found.doubts.length };
    },
    keepInQuarantine: (text: string, bytes: number, rows: number) =>
      superuser.query(
        `INSERT INTO ledger_quarantine
           (tenant_id, id, stream, epoch, seq, kind, hash, reason, bytes)
         SELECT $1, gen_random_uuid(), $2, 1, n, 'unreadable', $3, '',
           convert_to(rpad($3, $4), 'UTF8')
         FROM generate_series(1, $5) n`,
        [tenantId, stream, text, bytes, rows],
      ),
  };
}

it('an approval is looked for once, in however many records a batch names it', async () => {
  const one = await aPlane();
  const lists: unknown[] = [];
  const watch = (tx: TenantTransaction): TenantTransaction => {
    const $queryRaw = (...asked: unknown[]) => {
      const values = asked.flatMap((part) => (part as { values?: unknown[] }).values ?? [part]);
      // A tagged template has its strings before its values.
      lists.push(...values.filter((value) => Array.isArray(value) && !('raw' in value)));
      return (tx.db.$queryRaw as (...asked: unknown[]) => Promise<unknown>)(...asked);
    };
    return { ...tx, db: { $queryRaw } as unknown as TenantTransaction['db'] };
  };
  expect(await one.use(499, watch)).toEqual({ faults: 498, doubts: 0 });
  expect(lists.length).toBeGreaterThan(0);
  for (const list of lists) expect(list).toHaveLength(1);
});

it('what no verifier reads of a quarantine is not searched', async () => {
  const one = await aPlane();
  await one.keepInQuarantine(`"grant_id":"${GRANT}"`, MAX_RECORD_BYTES + 1, 65);
  expect(await one.use(1)).toEqual({ faults: 0, doubts: 0 });
  await one.keepInQuarantine(`{"grant_id":"${GRANT}"}`, MAX_RECORD_BYTES, 1);
  expect(await one.use(1)).toEqual({ faults: 1, doubts: 0 });
});

it('beside more in quarantine than is searched each use is a doubt', async () => {
  const one = await aPlane();
  await one.keepInQuarantine('"', MAX_RECORD_BYTES, 4);
  expect(await one.use(1)).toEqual({ faults: 0, doubts: 0 });
  await one.keepInQuarantine('é', 1_000, 1);
  expect(await one.use(1)).toEqual({ faults: 0, doubts: 1 });
});
