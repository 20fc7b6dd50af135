import { expect, it } from 'vitest';
import { aShippingPlane } from '../../../../tests/support/a-shipping-plane.ts';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';
import { systemScope } from '../../platform/database/tenant-scope.ts';
import { findDisputes } from './disputes.ts';

const plane = await testControlPlane();

it('disputes of streams that the volume does not have are not read', async () => {
  const admin = await plane.aTenantAdmin();
  const [honest, lying, other] = [
    await aShippingPlane(plane, admin),
    await aShippingPlane(plane, admin),
    await aShippingPlane(plane, admin),
  ];
  await honest.ship();
  for (const { decide, ship } of [lying, other]) {
    decide({ bundle_revision: 999 });
    await ship();
  }
  const find = async (...streams: string[]) => {
    const asked: string[] = [];
    const found: string[] = [];
    await plane.controlPlane.db.inTenant(systemScope(admin.scope.tenantId), async (tx) => {
      const isHeld = (stream: string) => asked.push(stream) > 0;
      for await (const { record } of findDisputes(tx, [1_000], streams, isHeld)) {
        found.push(JSON.parse(record).target);
      }
    });
    expect(found).toEqual(asked.map((stream) => `data_plane/${stream}`));
    return asked;
  };
  expect(await find(honest.deploymentId)).toEqual([]);
  expect(await find(honest.deploymentId, lying.deploymentId)).toEqual([lying.deploymentId]);
  expect(await find(lying.deploymentId, other.deploymentId)).toHaveLength(2);
});
