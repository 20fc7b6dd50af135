import { uuidv7 } from '@governance/shared/ids';
import { expect, it, vi } from 'vitest';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';
import { systemScope, type TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { findCauses } from './causes.ts';
import { packageReads } from './package-reads.ts';

vi.setConfig({ testTimeout: 30_000 });

const plane = await testControlPlane({ env: { SERVICE_CHECKPOINT_SECONDS: '1' } });

it('many delegations are found by as few statements as one', async () => {
  const { tenantId } = (await plane.aTenantAdmin()).scope;
  const inTenant = <T>(work: (tx: TenantTransaction) => Promise<T>) =>
    plane.controlPlane.db.inTenant(systemScope(tenantId), work);
  const delegations = Array.from({ length: 600 }, () => uuidv7());
  const [unsaid = '', ...issued] = delegations;
  const { superuser } = plane.test;
  await superuser.query('SET session_replication_role = replica');
  await superuser.query(
    `INSERT INTO delegations (tenant_id, id, workflow_session_id, delegator_agent_id,
       delegatee_agent_id, delegation_depth, tools, resources, requester, reason, created_at,
       expires_at)
     SELECT $1, id, id, id, id, 1, '{}', '{}', '', '', now(), now() FROM unnest($2::uuid[]) id`,
    [tenantId, delegations],
  );
  await superuser.query('SET session_replication_role = DEFAULT');
  for (const part of [issued.slice(0, 200), issued.slice(200)]) {
    await inTenant(async ({ audit }) => {
      for (const id of part) {
        const target = `delegation/${id}`;
        audit.append({ action: 'delegation_revoked', target, details: {} });
        const details = { target: `delegation/${unsaid}`, reason: '"target":"' };
        audit.append({ action: 'delegation_issued', target, details });
      }
    });
  }

  let statements = 0;
  const find = (ids: string[], size: number) =>
    inTenant(({ db, ...tx }) => {
      statements = 0;
      const $queryRaw = (...asked: Parameters<typeof db.$queryRaw>) => {
        statements++;
        return db.$queryRaw(...asked);
      };
      const counted = { ...tx, db: { $queryRaw } as unknown as typeof db };
      return findCauses(counted, { grants: new Set(), delegations: new Set(ids) }, size);
    });
  const causes = await vi.waitFor(
    async () => {
      const found = await find(delegations, 1_000);
      expect(found).toHaveLength(issued.length);
      return found;
    },
    { timeout: 20_000 },
  );
  const used = statements;
  await find(delegations.slice(1, 2), 1_000);
  expect(statements).toBe(used);

  expect(causes.map(({ record }) => JSON.parse(record).target)).toEqual(
    issued.map((id) => `delegation/${id}`),
  );
  for (const { record, leaf, index } of [causes[0], causes.at(-1)].filter((one) => !!one)) {
    const records = await inTenant((tx) => packageReads(tx).readLeaf(leaf));
    expect(records[index]?.text).toBe(record);
  }
  expect(await find(delegations, causes[0]?.leaf ?? 0)).toEqual([]);
});
