import { uuidv7 } from '@governance/shared/ids';
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

it('keeps half of a tenant’s share for older data planes while they send, whatever registers meanwhile', () => {
  const NOW = Date.parse('2026-03-01T12:00:00Z');
  const HOUR = 3_600_000;
  let now = NOW;
  const shares = createPlaneShares({ total: 20, perTenant: 8, perSender: 2 }, () => now);
  const old = aSender({ deploymentId: uuidv7(NOW - 25 * HOUR) });
  const newcomers = Array.from({ length: 6 }, () => aSender({ deploymentId: uuidv7(NOW - HOUR) }));
  const takeAll = () => newcomers.map((sender) => shares.take(sender, 2));

  // A tenant that has none but new ones has its whole share.
  const alone = takeAll();
  expect(alone.filter(Boolean)).toHaveLength(4);
  for (const giveBack of alone) giveBack?.();

  shares.take(old, 2)?.();
  const beside = takeAll();
  expect(beside.filter(Boolean)).toHaveLength(2);
  expect(shares.take(old, 2)).toBeDefined();
  const another = aSender({ deploymentId: uuidv7(NOW - 24 * HOUR) });
  expect(shares.take(another, 2)).toBeDefined();
  expect(shares.taken()).toBe(8);
  for (const giveBack of beside) giveBack?.();
  expect(shares.taken()).toBe(4);

  // Nor does it count as new for years what registered while the clock showed them.
  const ofYearsAhead = aSender({ deploymentId: uuidv7(NOW + 40_000 * HOUR) });
  const others = newcomers.map((sender) => shares.take({ ...sender, tenantId: 'c' }, 2));
  for (const giveBack of others) giveBack?.();
  shares.take({ ...ofYearsAhead, tenantId: 'c' }, 2)?.();
  const besideIt = newcomers.map((sender) => shares.take({ ...sender, tenantId: 'c' }, 2));
  expect(besideIt.filter(Boolean)).toHaveLength(2);
  for (const giveBack of besideIt) giveBack?.();

  // Nor are older ones thought to send until the time that a clock far ahead has shown.
  now += 40_000 * HOUR;
  shares.take({ ...old, tenantId: 'd' }, 2)?.();
  now = NOW;
  const afterIt = newcomers.map((sender) => shares.take({ ...sender, tenantId: 'd' }, 2));
  expect(afterIt.filter(Boolean)).toHaveLength(4);
  for (const giveBack of afterIt) giveBack?.();

  // Another tenant's are not concerned, and nothing is kept for those that send no more.
  const stranger = newcomers.map((sender) => shares.take({ ...sender, tenantId: 'b' }, 2));
  expect(stranger.filter(Boolean)).toHaveLength(4);
  now += HOUR / 6;
  expect(takeAll().filter(Boolean)).toHaveLength(2);
  expect(shares.taken()).toBe(16);
});
