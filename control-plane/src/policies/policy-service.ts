/**
 * Policies. The active set is compiled as a whole before it is committed, so that two concurrent
 * activations that do not compile together cannot both be committed. The answer comes once the
 * change is built, signed and, in standalone mode, enforced. Proven by policy-routes.pg.test.ts ("a
 * storm of activations").
 */
import type { RegoCompiler } from '@governance/policies/contract';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import type { BundleBuilder } from '../bundles/bundle-builder.ts';
import type { TenantScope, TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { RowAttestations } from '../platform/keys/row-attestations.ts';
import { commitStep } from './commit-step.ts';
import { evaluatePolicy, toPolicyInput } from './evaluate-policy.ts';
import { createKeyedMutex } from './keyed-mutex.ts';
import { affectsDecisions, type Policy, type PolicyChange, type PolicyStatus } from './policy.ts';
import type { PolicyRecords } from './policy-records.ts';
import type { EvaluateBody, EvaluationView, NewPolicyBody } from './policy-schemas.ts';
import { isUnchanged, newPolicy, type Step, stepOf, toSource, withPolicy } from './policy-step.ts';
import { policyStore, readActivePolicies } from './policy-store.ts';
import { createStepChecks, type StepCheckDeps } from './step-checks.ts';

/** Other replicas may change the set while this one compiles; then it compiles again. */
const MAX_ROUNDS = 5;

export interface PolicyServiceDeps extends StepCheckDeps {
  compiler: Pick<RegoCompiler, 'check' | 'compile' | 'judge' | 'explain' | 'sourcesDigest'>;
  bundles: Pick<BundleBuilder, 'requestBuild'>;
  /** The tenant's enforcement settings, which policies may read. */
  readSettings(tx: TenantTransaction): Promise<BundleSettings>;
  applied: AppliedBarrier;
  attestations: Pick<RowAttestations, 'prepare'>;
  policyRecords: Pick<PolicyRecords, 'prepareSave'>;
  now(): Date;
}

export interface PolicyService {
  list(scope: TenantScope, status: PolicyStatus | undefined): Promise<Policy[]>;
  get(scope: TenantScope, id: string): Promise<Policy>;
  create(scope: TenantScope, body: NewPolicyBody): Promise<Policy>;
  change(scope: TenantScope, id: string, change: PolicyChange): Promise<Policy>;
  evaluate(scope: TenantScope, id: string, body: EvaluateBody): Promise<EvaluationView>;
  /**
   * @param field of the request's body that has the source
   * @throws AppError POLICY_DOES_NOT_COMPILE when it does not compile on its own
   */
  requireCompiles(scope: TenantScope, policy: Policy, field: string): Promise<void>;
  /** Applies a reviewed change, also where active policies change only by change requests. */
  applyReviewed(scope: TenantScope, id: string, review: Review): Promise<Policy>;
}

export interface Review {
  /**
   * The change to the policy; computed again if the policy changed meanwhile.
   *
   * @throws when the review does not apply to the present policy
   */
  plan(before: Policy): Promise<PolicyChange>;
  /** Runs in the transaction that makes the change. */
  record(tx: TenantTransaction): Promise<void>;
}

export function createPolicyService(deps: PolicyServiceDeps): PolicyService {
  const { db, compiler } = deps;
  const mutex = createKeyedMutex();
  const { checkAlone, compileStep } = createStepChecks(deps);

  const get = async (scope: TenantScope, id: string): Promise<Policy> => {
    const policy = await db.inTenant(scope, (tx) => policyStore(tx).find(id));
    if (!policy) throw new AppError('POLICY_NOT_FOUND');
    return policy;
  };

  /** Returns when the local data plane, if there is one, decides by what was committed. */
  async function putInForce({ tenantId }: TenantScope): Promise<void> {
    const { revision, feedSeq } = await deps.bundles.requestBuild(tenantId);
    await deps.applied.wait(tenantId, {
      bundleRevision: revision,
      ...(feedSeq === undefined ? {} : { feedSeq }),
    });
  }

  /**
   * Stores a new policy or a change of one.
   *
   * @param options.isContended compiles under the tenant's lock, since another replica keeps
   *   changing the set
   * @returns `build` when the bundle changes, or may not have been built since it did
   */
  async function store(
    scope: TenantScope,
    step: Step,
    options: { isContended: boolean },
  ): Promise<'done' | 'build' | 'again'> {
    const { before, after } = step;
    const isActive = after.status === 'active';
    const isSame = isUnchanged(before, after);
    const saved = await deps.policyRecords.prepareSave();
    const isAsRecorded = (tx: TenantTransaction) => saved.isAsRecorded(tx, after.id);
    if (isSame && !step.record && (await db.inTenant(scope, isAsRecorded))) {
      return isActive ? 'build' : 'done';
    }
    const decides = affectsDecisions(before, after);
    const check = await compileStep(scope, step, options);
    const attest = await deps.attestations.prepare();
    const saving = { decides, check, attest, saved };
    const committed = await commitStep(db, scope, step, saving);
    if (!committed) return 'again';
    return decides || (isSame && isActive) ? 'build' : 'done';
  }

  /**
   * Serialises a tenant's steps in this process, and repeats one when another replica was first.
   * The bundle is awaited after the turn, so that many changes share builds.
   */
  async function inTurn(scope: TenantScope, plan: () => Promise<Step>): Promise<Policy> {
    const { after, outcome } = await mutex.run(scope.tenantId, async () => {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const step = await plan();
        const outcome = await store(scope, step, { isContended: round > 0 });
        if (outcome !== 'again') return { after: step.after, outcome };
      }
      throw new AppError('UNAVAILABLE', 'The policies are being changed elsewhere: try again.');
    });
    if (outcome === 'build') await putInForce(scope);
    return after;
  }

  return {
    get,
    list: (scope, status) => db.inTenant(scope, (tx) => policyStore(tx).list(status)),

    create: (scope, body) => {
      const after = newPolicy(body, deps.now());
      return inTurn(scope, async () => ({ before: undefined, after }));
    },

    change: (scope, id, change) =>
      inTurn(scope, async () => {
        const before = await get(scope, id);
        return stepOf(before, change, deps.now());
      }),

    requireCompiles: checkAlone,

    applyReviewed: (scope, id, { plan, record }) =>
      inTurn(scope, async () => {
        const before = await get(scope, id);
        return { ...stepOf(before, await plan(before), deps.now()), record };
      }),

    evaluate: async (scope, id, body) => {
      const { policy, active, settings } = await db.inTenant(scope, async (tx) => ({
        policy: await policyStore(tx).find(id),
        active: await readActivePolicies(tx),
        settings: await deps.readSettings(tx),
      }));
      if (!policy) throw new AppError('POLICY_NOT_FOUND');
      return evaluatePolicy(compiler, {
        policyId: id,
        alone: [toSource(policy)],
        together: withPolicy(active, policy),
        input: toPolicyInput(body, deps.now()),
        settings,
        turn: scope.tenantId,
        withTrace: body.trace,
      });
    },
  };
}
