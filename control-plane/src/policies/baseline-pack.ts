/**
 * The policies that a new tenant begins with, active; they are its own from then on. A tenant that
 * was there before one of them is given it as a draft: an update changes no decision by itself.
 */
import type { BaselinePolicy } from '@governance/policies/baseline-pack';
import { uuidv7 } from '@governance/shared/ids';
import { forEachTenant } from '../platform/each-tenant.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/tenant-scope.ts';
import { auditOf, type Policy } from './policy.ts';
import { policyStore } from './policy-store.ts';

/** Gives a tenant the pack, in the transaction that makes the tenant. */
export async function insertBaselinePack(
  tx: TenantTransaction,
  pack: BaselinePolicy[],
  now: Date,
): Promise<void> {
  for (const one of pack) await insert(tx, one, 'active', now);
}

/**
 * Gives every tenant that began with a pack, as a draft, what it has not of this one: no policy of
 * the name, in any state, and none of the package. Several replicas may do so at once.
 */
export async function completeBaselinePacks(
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>,
  pack: BaselinePolicy[],
  now: Date,
): Promise<void> {
  await forEachTenant(db, new AbortController().signal, (tenantId) =>
    db.inTenant(systemScope(tenantId), async (tx) => {
      const policies = policyStore(tx);
      await policies.lockActiveSet();
      const there = await policies.list(undefined);
      // Who began without a pack is not given one.
      if (!there.some(({ origin }) => origin === 'baseline')) return;
      for (const one of pack) {
        const declared = packageOf(one.rego_content);
        const isThere = there.some(
          ({ name, regoContent }) => name === one.name || packageOf(regoContent) === declared,
        );
        if (!isThere) await insert(tx, one, 'draft', now);
      }
    }),
  );
}

/** `package baseline.local_models`: what a renamed policy still says. */
function packageOf(rego: string): string | undefined {
  return /^package [\w.]+/m.exec(rego)?.[0];
}

async function insert(
  tx: TenantTransaction,
  { name, description, rego_content: regoContent }: BaselinePolicy,
  status: 'active' | 'draft',
  now: Date,
): Promise<void> {
  const id = uuidv7(now.getTime());
  const times = { createdAt: now, updatedAt: now };
  const policy: Policy = {
    ...{ id, name, description, regoContent, status, origin: 'baseline' },
    ...times,
  };
  await policyStore(tx).insert(policy);
  tx.audit.append(auditOf(undefined, policy));
}
