/**
 * Compiles what a change has to prove to compile: a draft on its own, an active policy with all
 * others that are active.
 */
import type { PolicySource, RegoCompiler } from '@governance/policies/contract';
import { compiledBytes, MAX_COMPILED_BYTES } from '../bundles/bundle-content.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { affectsDecisions, type Policy } from './policy.ts';
import { doesNotCompile, tooLargeTogether, tooManyPolicies } from './policy-errors.ts';
import { type Step, toSource, withPolicy } from './policy-step.ts';
import { readActivePolicies } from './policy-store.ts';

export interface StepCheckDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  compiler: Pick<RegoCompiler, 'check' | 'compile' | 'sourcesDigest'>;
  /** Active policies a tenant may have. */
  maxActive: number;
}

/** Tells, in the step's transaction, whether the set is still the one that compiled. */
export type StepCheck = (tx: TenantTransaction) => Promise<boolean>;

export function createStepChecks({ db, compiler, maxActive }: StepCheckDeps) {
  async function checkAlone({ tenantId }: TenantScope, policy: Policy, field?: string) {
    const { diagnostics } = await compiler.check(toSource(policy), tenantId);
    if (diagnostics.length > 0) throw doesNotCompile(diagnostics, policy.id, field);
  }

  /**
   * Compiles the active set as it would be with this policy.
   *
   * @returns the digest of the compiled set
   */
  async function checkTogether(
    { tenantId }: TenantScope,
    active: PolicySource[],
    { before, after }: Step,
  ): Promise<string> {
    const candidate = withPolicy(active, after);
    const joins = before?.status !== 'active';
    if (joins && candidate.length > maxActive) throw tooManyPolicies(maxActive);
    const result = await compiler.compile(candidate, tenantId);
    if (!result.ok) throw doesNotCompile(result.diagnostics, after.id);
    if (compiledBytes(result) > MAX_COMPILED_BYTES) throw tooLargeTogether();
    return result.digest;
  }

  /** Whether the set in this transaction is the one that was compiled. */
  async function isCompiledSet(tx: TenantTransaction, after: Policy, digest: string) {
    const candidate = withPolicy(await readActivePolicies(tx), after);
    return compiler.sourcesDigest(candidate) === digest;
  }

  /** @param options.isContended compiles under the tenant's lock, in the step's transaction */
  async function compileStep(
    scope: TenantScope,
    step: Step,
    { isContended }: { isContended: boolean },
  ): Promise<StepCheck> {
    const { before, after } = step;
    if (!affectsDecisions(before, after) || after.status !== 'active') {
      if (before?.regoContent !== after.regoContent) await checkAlone(scope, after);
      return async () => true;
    }
    if (isContended) {
      return async (tx) => {
        await checkTogether(scope, await readActivePolicies(tx), step);
        return true;
      };
    }
    const active = await db.inTenant(scope, readActivePolicies);
    const digest = await checkTogether(scope, active, step);
    return (tx) => isCompiledSet(tx, after, digest);
  }

  return { checkAlone, compileStep };
}
