/**
 * Whoever owns the database puts back a policy that was saved once, with its record and its
 * attestation: the service does not sign it again. What an older replica saves meanwhile it takes.
 */
import { uuidv7 } from '@governance/shared/ids';
import { beforeEach, describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { ROLL_OUT_MS } from '../platform/keys/row-attestations.ts';
import { auditOf } from './policy.ts';
import { createPolicyRecords } from './policy-records.ts';
import { readActivePolicies } from './policy-store.ts';

const service = await testControlPlane();
const { call, aTenantAdmin, controlPlane, test } = service;

const OLD = 'package p\n\nallow if true\n';
const RULE = 'package p\n\ndeny contains "no" if input.request.action == "write"\n';

let token: string;
let scope: TenantScope;
let id: string;

beforeEach(async () => {
  ({ token, scope } = await aTenantAdmin());
  id = await aPolicy('one', OLD);
});

async function aPolicy(name: string, rego: string, status = 'active'): Promise<string> {
  const body = { name, rego_content: rego, status };
  const answer = await call('/api/v1/policies', { token, body });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json().id;
}

const patch = (body: object, of = id) =>
  call(`/api/v1/policies/${of}`, { method: 'PATCH', token, body });
const build = () => controlPlane.bundles.requestBuild(scope.tenantId);
const attack = (sql: string, values: unknown[] = []) =>
  test.superuser.query(
    sql.replaceAll('$tenant', `'${scope.tenantId}'`).replaceAll('$id', `'${id}'`),
    values,
  );

async function inspect(elapsed = ROLL_OUT_MS): Promise<string[]> {
  const find = await createPolicyRecords({
    compiler: controlPlane.compiler,
    attestations: controlPlane.attestations,
    findBundleKeys: async () => (await controlPlane.evidenceKeys()).bundle,
    elapsed: () => elapsed,
  }).prepareBuild();
  return test.db.inTenant(scope, async (tx) => {
    const check = await find(tx);
    const { unrecorded } = await check(await readActivePolicies(tx));
    return unrecorded.map(
      ({ name, fault, isDoubtful }) => `${name} ${fault}${isDoubtful ? '?' : ''}`,
    );
  });
}

/** @returns what puts the policy's row back to what it is now */
async function keep(): Promise<() => Promise<unknown>> {
  const { rows } = await attack('SELECT * FROM policies WHERE tenant_id = $tenant AND id = $id');
  const { name, rego_content, status, record_id, attestation } = rows[0];
  return () =>
    attack(
      `UPDATE policies SET name = $1, rego_content = $2, status = $3, record_id = $4,
         attestation = $5 WHERE tenant_id = $tenant AND id = $id`,
      [name, rego_content, status, record_id, attestation],
    );
}

describe('a policy that was put back as it once was', () => {
  it.each([
    [
      'its later record is gone',
      `DELETE FROM ledger_records WHERE tenant_id = $tenant AND id = $1`,
    ],
    [
      'its later record is said to be older',
      `UPDATE ledger_records SET position = 0 WHERE tenant_id = $tenant AND id = $1`,
    ],
    [
      'its later record is said to be none',
      `UPDATE ledger_records SET type = 'alert' WHERE tenant_id = $tenant AND id = $1`,
    ],
  ])('is not believed where %s', async (_, sql) => {
    for (const change of [{ rego_content: RULE }, { status: 'archived' }]) {
      const putBack = await keep();
      expect((await patch(change)).statusCode).toBe(200);
      const { rows } = await attack(
        'SELECT record_id FROM policies WHERE tenant_id = $tenant AND id = $id',
      );
      await putBack();
      await attack(sql, [rows[0].record_id]);
      expect.soft(await inspect()).toEqual(['one put_back']);
      await expect.soft(build()).rejects.toThrow('not in force');
      // Not by accident; and saved again as it stands, it counts.
      expect((await patch({ description: 'more' })).statusCode).toBe(500);
      expect((await patch({ rego_content: OLD })).statusCode).toBe(200);
      expect(await inspect()).toEqual([]);
    }
  });

  it('is not believed where the manifests that say otherwise are gone', async () => {
    const putBack = await keep();
    expect((await patch({ rego_content: RULE })).statusCode).toBe(200);
    await attack(`DELETE FROM bundle_manifests m WHERE tenant_id = $tenant
      AND revision = (SELECT max(revision) FROM bundle_manifests WHERE tenant_id = $tenant)`);
    await putBack();
    expect(await inspect()).toEqual(['one record_differs']);
  });

  it('is not believed for its draft', async () => {
    const draft = await aPolicy('draft', RULE, 'draft');
    await attack('UPDATE policies SET rego_content = $2 WHERE tenant_id = $tenant AND id = $1', [
      draft,
      OLD,
    ]);
    const refused = await patch({ description: 'more' }, draft);
    expect.soft(refused.statusCode).toBe(500);
    expect.soft((await patch({ status: 'active' }, draft)).statusCode).toBe(500);
  });
});

describe('what an older replica saves while an upgrade is rolled out', () => {
  it('is taken, though the row has the attestation of what a newer one saved before', async () => {
    const at = await attack('SELECT * FROM policies WHERE tenant_id = $tenant AND id = $id');
    const {
      rows: [row],
    } = at;
    const before = {
      id,
      name: row.name,
      description: row.description,
      regoContent: OLD,
      status: 'active',
      origin: 'custom',
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    } as const;
    await test.db.inTenant(scope, async (tx) => {
      await tx.db.policy.update({
        where: { tenantId_id: { tenantId: scope.tenantId, id } },
        data: { regoContent: RULE },
      });
      tx.audit.append(auditOf(before, { ...before, regoContent: RULE }));
    });
    expect(await inspect(ROLL_OUT_MS - 1)).toEqual(['one attestation_wrong?']);
    expect(await inspect()).toEqual(['one attestation_wrong']);
  });
});

describe('what was saved by another clock', () => {
  it('counts after the clock went back, and a time that was written by hand stops nothing', async () => {
    const named = async () =>
      (await attack('SELECT record_id FROM policies WHERE tenant_id = $tenant AND id = $id'))
        .rows[0].record_id;
    const ahead = uuidv7(Date.now() + 3_600_000);
    const other = await aPolicy('other', RULE);
    await attack('UPDATE policies SET record_id = $1 WHERE tenant_id = $tenant AND id = $2', [
      ahead,
      other,
    ]);
    expect((await patch({ rego_content: RULE })).statusCode).toBe(200);
    expect((await named()) > ahead).toBe(true);
    await attack('UPDATE policies SET record_id = $1 WHERE tenant_id = $tenant AND id = $2', [
      'ffffffff-ffff-7fff-bfff-ffffffffffff',
      other,
    ]);
    for (const rego of [OLD, RULE]) {
      expect((await patch({ rego_content: rego })).statusCode).toBe(200);
      expect(await inspect()).toEqual([]);
    }
    expect((await patch({ status: 'archived', rego_content: OLD }, other)).statusCode).toBe(200);
  });
});
