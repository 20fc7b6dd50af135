/** Stores a policy with its audit record, in the transaction that checks that nothing has changed. */
import { AppError } from '@governance/shared/errors';
import { isUniqueViolation } from '../platform/database.ts';
import type { TenantDatabase, TenantScope, TenantTransaction } from '../platform/tenant-scope.ts';
import { requiresChangeRequests } from '../tenants/tenant-settings-store.ts';
import { auditOf, changedFields, isAboutActive } from './policy.ts';
import { tooLargeInAll } from './policy-errors.ts';
import { isLarger, isUnchanged, type Step } from './policy-step.ts';
import { policyStore } from './policy-store.ts';
import type { StepCheck } from './step-checks.ts';

/** @returns false when the state has changed since the step was prepared */
export function commitStep(
  db: Pick<TenantDatabase, 'inTenant'>,
  scope: TenantScope,
  { before, after, record }: Step,
  { decides, check }: { decides: boolean; check: StepCheck },
): Promise<boolean> {
  const work = async (tx: TenantTransaction) => {
    const policies = policyStore(tx);
    if (!record && isAboutActive(before, after) && (await requiresChangeRequests(tx))) {
      throw new AppError('CHANGE_REQUEST_REQUIRED');
    }
    if (decides) await policies.lockActiveSet();
    if (!(await check(tx))) return false;
    if (before) {
      const current = await policies.findForUpdate(after.id);
      if (!current || changedFields(current, before).length > 0) return false;
      await policies.update(after);
    } else {
      await policies.insert(after);
    }
    if (isLarger(before, after) && (await policies.isTooLarge())) throw tooLargeInAll();
    if (!isUnchanged(before, after)) tx.audit.append(auditOf(before, after));
    await record?.(tx);
    return true;
  };
  return db.inTenant(scope, work).catch((error) => {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError('DUPLICATE_NAME', 'Another policy has this name.', { cause: error });
  });
}
