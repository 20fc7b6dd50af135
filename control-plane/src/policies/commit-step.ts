/** Stores a policy with its audit record, in the transaction that checks that nothing has changed. */
import { AppError } from '@governance/shared/errors';
import { isUniqueViolation } from '../platform/database/database.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { Attest } from '../platform/keys/row-attestations.ts';
import { requiresChangeRequests } from '../tenants/tenant-settings-store.ts';
import {
  auditOf,
  changedFields,
  isAboutActive,
  type Policy,
  recordedOf,
  targetOf,
} from './policy.ts';
import { changedByHand, tooLargeInAll } from './policy-errors.ts';
import type { SavedCheck } from './policy-records.ts';
import { isLarger, isUnchanged, type Step } from './policy-step.ts';
import { policyStore } from './policy-store.ts';
import type { StepCheck } from './step-checks.ts';

export interface Saving {
  decides: boolean;
  check: StepCheck;
  attest: Attest;
  saved: SavedCheck;
}

/** @returns false when the state has changed since the step was prepared */
export function commitStep(
  db: Pick<TenantDatabase, 'inTenant'>,
  scope: TenantScope,
  { before, after, hasSource, record }: Step,
  { decides, check, attest, saved }: Saving,
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
      // Whoever activates or renames it, a draft too, would vouch for a source that a hand put there.
      const isSourceKept = after.status !== 'archived' && !hasSource;
      if (isSourceKept && (await saved.isByHand(tx, after.id))) throw changedByHand(after.id);
    }
    // What was not saved through here is recorded when it is saved again as it is.
    if (!isUnchanged(before, after) || !(await saved.isAsRecorded(tx, after.id))) {
      await savePolicy(tx, before, after, attest);
    }
    if (isLarger(before, after) && (await policies.isTooLarge())) throw tooLargeInAll();
    await record?.(tx);
    return true;
  };
  return db.inTenant(scope, work).catch((error) => {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError('DUPLICATE_NAME', 'Another policy has this name.', { cause: error });
  });
}

/** Writes a policy (new where `before` is undefined), its audit record, and the word that they agree. */
export async function savePolicy(
  tx: TenantTransaction,
  before: Policy | undefined,
  after: Policy,
  attest: Attest,
): Promise<void> {
  const { tenantId } = tx.scope;
  const policies = policyStore(tx);
  const recordId = await policies.nextRecordId();
  const about = targetOf(after.id);
  const attested = attest({ tenantId, about, states: { ...recordedOf(after) }, recordId });
  if (before) await policies.update(after, attested);
  else await policies.insert(after, attested);
  tx.audit.append({ ...auditOf(before, after), id: recordId });
}
