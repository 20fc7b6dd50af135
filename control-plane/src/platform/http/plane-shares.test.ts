import { expect, it } from 'vitest';
import { createPlaneShares } from './plane-shares.ts';

const LIMITS = { total: 6, perTenant: 4, perSender: 2 };

function aSender(over: object = {}) {
  return { tenantId: 'a', tokenId: 't', deploymentId: 'd', hasEnded: false, ...over };
}

it('leaves room for the other data planes of the tenant, and for other tenants', () => {
  const shares = createPlaneShares(LIMITS);
  const first = shares.take(aSender(), 2);
  expect(shares.take(aSender({ tokenId: 'its other one' }), 1)).toBeUndefined();
  const second = shares.take(aSender({ deploymentId: 'e' }), 2);
  expect(second).toBeDefined();
  expect(shares.take(aSender({ deploymentId: 'f' }), 1)).toBeUndefined();
  expect(shares.take(aSender({ tenantId: 'b' }), 2)).toBeDefined();
  expect(shares.taken()).toBe(6);
  first?.();
  first?.();
  expect(shares.taken()).toBe(4);
  expect(shares.take(aSender(), 2)).toBeDefined();
});

it('takes nothing of a sender where its tenant has nothing left', () => {
  const shares = createPlaneShares(LIMITS);
  const others = ['e', 'f'].map((deploymentId) => shares.take(aSender({ deploymentId }), 2));
  expect(shares.take(aSender(), 2)).toBeUndefined();
  for (const giveBack of others) giveBack?.();
  expect(shares.take(aSender(), 2)).toBeDefined();
});

it('counts a tenant’s ended tokens as one sender, and roots by their token', () => {
  const shares = createPlaneShares(LIMITS);
  expect(shares.take(aSender({ hasEnded: true }), 2)).toBeDefined();
  expect(shares.take(aSender({ hasEnded: true, deploymentId: 'e' }), 1)).toBeUndefined();
  expect(shares.take(aSender({ deploymentId: null }), 2)).toBeDefined();
  expect(shares.take(aSender({ deploymentId: null }), 1)).toBeUndefined();
});
