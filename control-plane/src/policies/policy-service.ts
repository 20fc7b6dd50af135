/**
 * Policies. The active set is compiled as a whole before it is committed, so that two concurrent
 * activations that do not compile together cannot both be committed. The answer comes once the
 * change is built, signed and, in standalone mode, enforced. Proven by policy-routes.pg.test.ts ("a
 * storm of activations").
 */
import type { PolicySource, RegoCompiler } from '@governance/policies/contract';
import type { BundleSettings } from '@governance/shared/bundle-format';
import type { AppliedBarrier } from '@governance/shared/channels';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import type { BundleBuilder } from '../bundles/bundle-builder.ts';
import { compiledBytes, MAX_COMPILED_BYTES } from '../bundles/bundle-content.ts';
import { isUniqueViolation } from '../platform/database.ts';
import type { TenantDatabase, TenantScope, TenantTransaction } from '../platform/tenant-scope.ts';
import { requiresChangeRequests } from '../tenants/tenant-settings-store.ts';
import { evaluatePolicy, toPolicyInput } from './evaluate-policy.ts';
import { createKeyedMutex } from './keyed-mutex.ts';
import {
  affectsDecisions,
  auditOf,
  changedFields,
  isAboutActive,
  type Policy,
  type PolicyChange,
  type PolicyStatus,
} from './policy.ts';
import {
  doesNotCompile,
  tooLargeInAll,
  tooLargeTogether,
  tooManyPolicies,
} from './policy-errors.ts';
import type { EvaluateBody, EvaluationView, NewPolicyBody } from './policy-schemas.ts';
import { policyStore, readActivePolicies } from './policy-store.ts';

/** Other replicas may change the set while this one compiles; then it compiles again. */
const MAX_ROUNDS = 5;

export interface PolicyServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  compiler: Pick<RegoCompiler, 'check' | 'compile' | 'judge' | 'explain' | 'sourcesDigest'>;
  bundles: Pick<BundleBuilder, 'requestBuild'>;
  /** The tenant's enforcement settings, which policies may read. */
  readSettings(tx: TenantTransaction): Promise<BundleSettings>;
  applied: AppliedBarrier;
  /** Active policies a tenant may have. */
  maxActive: number;
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
    if (joins && candidate.length > deps.maxActive) throw tooManyPolicies(deps.maxActive);
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

  /**
   * Compiles what a step has to prove to compile.
   *
   * @returns the check in the step's transaction: whether the set is still the one that compiled
   */
  async function compileStep(
    scope: TenantScope,
    step: Step,
    { isContended }: { isContended: boolean },
  ): Promise<(tx: TenantTransaction) => Promise<boolean>> {
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
    if (isSame && !step.record) return isActive ? 'build' : 'done';
    const decides = affectsDecisions(before, after);
    const check = await compileStep(scope, step, options);
    const committed = await commit(scope, step, { decides, check });
    if (!committed) return 'again';
    return decides || (isSame && isActive) ? 'build' : 'done';
  }

  /** @returns false when the state has changed since the step was prepared */
  function commit(
    scope: TenantScope,
    { before, after, record }: Step,
    { decides, check }: { decides: boolean; check: (tx: TenantTransaction) => Promise<boolean> },
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
        return { before, after: changed(before, change, deps.now()) };
      }),

    requireCompiles: checkAlone,

    applyReviewed: (scope, id, { plan, record }) =>
      inTurn(scope, async () => {
        const before = await get(scope, id);
        return { before, after: changed(before, await plan(before), deps.now()), record };
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

/** A policy before (undefined when it is new) and after a change. */
interface Step {
  before: Policy | undefined;
  after: Policy;
  /** What else the transaction of a reviewed change writes. */
  record?: (tx: TenantTransaction) => Promise<void>;
}

/** An approved change request may propose what the policy is already. */
function isUnchanged(before: Policy | undefined, after: Policy): boolean {
  return before !== undefined && changedFields(before, after).length === 0;
}

function isLarger(before: Policy | undefined, after: Policy): boolean {
  const sizeOf = ({ regoContent, description }: Policy) =>
    Buffer.byteLength(regoContent) + Buffer.byteLength(description);
  return before === undefined || sizeOf(after) > sizeOf(before);
}

function changed(before: Policy, change: PolicyChange, now: Date): Policy {
  const after = { ...before, ...definedFields(change) };
  return changedFields(before, after).length > 0 ? { ...after, updatedAt: now } : before;
}

function newPolicy(body: NewPolicyBody, now: Date): Policy {
  return {
    id: uuidv7(now.getTime()),
    name: body.name,
    description: body.description,
    regoContent: body.rego_content,
    status: body.status,
    origin: 'custom',
    createdAt: now,
    updatedAt: now,
  };
}

function definedFields(change: PolicyChange): PolicyChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

function toSource({ id, name, regoContent }: Policy): PolicySource {
  return { id, name, rego: regoContent };
}

function withPolicy(active: PolicySource[], policy: Policy): PolicySource[] {
  return [...active.filter(({ id }) => id !== policy.id), toSource(policy)];
}
