import { expect, it } from 'vitest';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';
import { systemScope, type TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { packageReads } from './package-reads.ts';

const plane = await testControlPlane();

it('of bundles that only records name none is looked for on its own', async () => {
  const { tenantId } = (await plane.aTenantAdmin()).scope;
  const { revision } = await plane.controlPlane.bundles.requestBuild(tenantId);
  const named = [revision, ...Array.from({ length: 40_000 }, (_, n) => revision + 1 + n)];
  let statements = 0;
  const counted = ({ db, ...tx }: TenantTransaction): TenantTransaction => ({
    ...tx,
    db: new Proxy(db, {
      get: (target, name) => {
        statements++;
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }),
  });
  const find = () =>
    plane.controlPlane.db.inTenant(systemScope(tenantId), (tx) =>
      packageReads(counted(tx)).findBundles(named),
    );
  const [bundle, ...others] = await find();
  expect(bundle).toMatchObject({ revision });
  expect(others).toEqual([]);
  expect(statements).toBe(2);
  // As it was built by a version that did not store them separately.
  await plane.test.superuser.query('DELETE FROM bundle_manifests WHERE tenant_id = $1', [tenantId]);
  expect(await find()).toEqual([bundle]);
});
