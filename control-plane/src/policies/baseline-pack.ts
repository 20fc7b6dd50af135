/** The policies that a new tenant begins with, active; they are its own from then on. */
import type { BaselinePolicy } from '@governance/policies/baseline-pack';
import { uuidv7 } from '@governance/shared/ids';
import type { TenantTransaction } from '../platform/tenant-scope.ts';
import { auditOf, type Policy } from './policy.ts';
import { policyStore } from './policy-store.ts';

/** Gives a tenant the pack, in the transaction that makes the tenant. */
export async function insertBaselinePack(
  tx: TenantTransaction,
  pack: BaselinePolicy[],
  now: Date,
): Promise<void> {
  for (const { name, description, rego_content: regoContent } of pack) {
    const id = uuidv7(now.getTime());
    const times = { createdAt: now, updatedAt: now };
    const policy: Policy = {
      ...{ id, name, description, regoContent, status: 'active', origin: 'baseline' },
      ...times,
    };
    await policyStore(tx).insert(policy);
    tx.audit.append(auditOf(undefined, policy));
  }
}
