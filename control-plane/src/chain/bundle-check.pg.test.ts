/** What is stored of signed bundles is verified with the chains. */
import { beforeEach, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { BUNDLE_STREAM } from './chain-breaks.ts';

const { call, aTenantAdmin, controlPlane, test, superAdminToken } = await testControlPlane();
const superAdmin = await superAdminToken();

let token: string;
let tenantId: string;
let revision: number;
beforeEach(async () => {
  const admin = await aTenantAdmin();
  ({ token } = admin);
  ({ tenantId } = admin.scope);
  ({ revision } = await controlPlane.bundles.requestBuild(tenantId));
});

const verify = async () => (await call('/api/v1/audit/verify?fresh=true', { token })).json();

async function edit(set: string) {
  const { rowCount } = await test.superuser.query(
    `UPDATE bundle_manifests SET ${set} WHERE tenant_id = $1 AND revision = $2`,
    [tenantId, revision],
  );
  expect(rowCount).toBe(1);
}

it('what the service signed is no break, also after its key was rotated', async () => {
  expect(await verify()).toMatchObject({ valid: true, breaks: [] });
  const rotated = await call('/api/v1/admin/keys/bundle/rotate', {
    ...{ method: 'POST', token: superAdmin, body: { revoke: true, reason: 'x' } },
  });
  expect(rotated.statusCode, rotated.body).toBe(200);
  expect((await controlPlane.bundles.requestBuild(tenantId)).revision).toBeGreaterThan(revision);
  expect(await verify()).toMatchObject({ valid: true, breaks: [] });
});

it.each([
  ['the manifest', `manifest = replace(manifest, '"rego_version":1', '"rego_version":0')`],
  ['the signature', `signatures = replace(signatures, 'eyJ', 'eyK')`],
  ['the revision', 'revision = revision + 1000000'],
  ['the digest', `digest = repeat('a', 64)`],
])('%s that was edited is a break', async (_name, set) => {
  await edit(set);
  const { valid, breaks } = await verify();
  expect(valid).toBe(false);
  expect(breaks).toHaveLength(1);
  expect(breaks[0]).toMatchObject({
    ...{ stream: BUNDLE_STREAM, kind: 'bundle', check: 'policy.binding' },
    seq: set.startsWith('revision') ? revision + 1_000_000 : revision,
  });
  const { alerts } = (await call('/api/v1/monitor/alerts', { token })).json();
  expect(alerts).toMatchObject([{ title: 'The signed members of a bundle were changed' }]);
});

it('a bundle of another tenant is a break', async () => {
  const other = await aTenantAdmin();
  await controlPlane.bundles.requestBuild(other.scope.tenantId);
  await test.superuser.query(
    `UPDATE bundle_manifests m SET manifest = o.manifest, signatures = o.signatures
     FROM bundle_manifests o WHERE m.tenant_id = $1 AND o.tenant_id = $2`,
    [tenantId, other.scope.tenantId],
  );
  expect((await verify()).breaks[0]).toMatchObject({ kind: 'bundle' });
});
