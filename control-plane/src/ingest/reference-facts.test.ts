import { expect, it } from 'vitest';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { createReferenceFacts } from './reference-facts.ts';

/** More than memory keeps of either. */
const MANY = 20_001;

it('what a full memory drops while it looks up is known all the same', async () => {
  const facts = createReferenceFacts();
  const tx = {
    scope: { tenantId: 't' },
    db: {
      bundleManifest: {
        findMany: async ({ where }: { where: { revision: { in: bigint[] } } }) =>
          where.revision.in.map((revision) => ({ revision })),
      },
      $queryRaw: async (_query: TemplateStringsArray, _tenantId: string, ids: string[]) =>
        ids.map((id) => ({ id, expires_at: new Date(), created_at: new Date() })),
    },
  } as unknown as TenantTransaction;
  const named = (from: number, count: number) => {
    const all = Array.from({ length: count }, (_, n) => from + n);
    return {
      ...{ revisions: new Set(all), delegations: new Set(all.map((n) => `d${n}`)) },
      grants: new Set<string>(),
    };
  };
  const has = await facts.lookUp(tx, named(0, MANY));
  expect(has.hasRevision(0)).toBe(true);
  expect(has.findDelegation('d0')).toBeDefined();
  // The newest are in memory, and make room for the rest.
  const both = await facts.lookUp(tx, named(1, MANY));
  expect(both.hasRevision(MANY - 1)).toBe(true);
  expect(both.findDelegation('d1')).toBeDefined();
});
