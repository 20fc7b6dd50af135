import { expect, it } from 'vitest';
import { aTenant } from '../../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../../tests/support/test-database.ts';
import { forEachTenant } from './each-tenant.ts';

const test = await testDatabase();
const { signal } = new AbortController();

it('serves the tenants behind one that fails, and then says so', async () => {
  for (let made = 0; made < 3; made++) await aTenant(test);
  const served: string[] = [];
  const run = forEachTenant(test.db, signal, async (tenantId) => {
    served.push(tenantId);
    if (served.length < 3) throw new Error(`number ${served.length} failed`);
  });
  await expect(run).rejects.toThrow('number 1 failed');
  expect(served.length).toBeGreaterThanOrEqual(3);
  expect(served).toEqual([...served].sort());
});

it('ends between two tenants where it is stopped', async () => {
  const stopping = new AbortController();
  let served = 0;
  await forEachTenant(test.db, stopping.signal, async () => {
    served++;
    stopping.abort();
  });
  expect(served).toBe(1);
});
