/** The policies that a new tenant begins with, active; they are its own from then on. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assetPath } from '@governance/shared/assets';
import { uuidv7 } from '@governance/shared/ids';
import type { TenantTransaction } from '../platform/tenant-scope.ts';
import { auditOf, type Policy } from './policy.ts';
import { policyStore } from './policy-store.ts';

export type BaselinePolicy = Pick<Policy, 'name' | 'description' | 'regoContent'>;

/**
 * Reads policies/rego/baseline; names and descriptions are those of each module's annotations.
 *
 * @throws Error when the installation lacks them or one has no title
 */
export function readBaselinePack(): BaselinePolicy[] {
  const folder = assetPath('policies/rego/baseline');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.rego') && !file.endsWith('_test.rego'))
    .sort()
    .map((file) => {
      const regoContent = readFileSync(join(folder, file), 'utf8');
      const name = /^# title: (.+)$/m.exec(regoContent)?.[1];
      if (!name) throw new Error(`${file} has no title`);
      const description = /^# description: (.+)$/m.exec(regoContent)?.[1] ?? '';
      return { name, description, regoContent };
    });
}

/** Gives a tenant the pack, in the transaction that makes the tenant. */
export async function insertBaselinePack(
  tx: TenantTransaction,
  pack: BaselinePolicy[],
  now: Date,
): Promise<void> {
  for (const baseline of pack) {
    const id = uuidv7(now.getTime());
    const times = { createdAt: now, updatedAt: now };
    const policy: Policy = { ...baseline, ...times, id, status: 'active', origin: 'baseline' };
    await policyStore(tx).insert(policy);
    tx.audit.append(auditOf(undefined, policy));
  }
}
