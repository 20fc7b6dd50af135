/**
 * Delegations: one agent allows another to act on its behalf, within one workflow session and with
 * a part of its own rights. A delegation must lie within the delegator's rights when it is issued;
 * data planes check that again at every call (enforcement/steps/scope-probe.ts).
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { type AgentStatus, effectiveAgentStatus } from '@governance/shared/channel/facts';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import {
  completeScope,
  type DelegationScope,
  findExceedingRoles,
  findExceedingScope,
} from '@governance/shared/tokens/delegation-scope';
import { readKillSwitch } from '../kill-switch/kill-switch-store.ts';
import type { Page } from '../platform/database/page.ts';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { databaseTime, requireRightClock } from '../platform/keys/right-clock.ts';
import { hasLocalModelsPolicy } from '../policies/local-models-policy.ts';
import {
  type Delegation,
  delegationStore,
  toDelegationFact,
} from '../workflows/delegation-store.ts';
import { getSession } from '../workflows/session-service.ts';
import { sessionStore, type WorkflowSession } from '../workflows/session-store.ts';
import type { SessionTokens } from '../workflows/session-tokens.ts';
import { type Workflow, workflowStore } from '../workflows/workflow-store.ts';
import type { NewDelegationBody } from './delegation-schemas.ts';

/** Limits per tenant, since each is a fact at every data plane. */
const MAX_ACTIVE_DELEGATIONS = 10_000;
const MAX_BYTES_OF_TENANT = 32 * 1024 * 1024;

export interface DelegationServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  applied: AppliedBarrier;
  tokens: Pick<SessionTokens, 'sign'>;
  now: () => Date;
}

export type DelegationService = ReturnType<typeof createDelegationService>;

export function createDelegationService({ db, applied, tokens, now }: DelegationServiceDeps) {
  return {
    /** @returns the delegation and its token, which is shown only here */
    issue: async (scope: TenantScope, body: NewDelegationBody) => {
      const { tenantId } = scope;
      const { result: delegation, feedSeq } = await db.inTenantWithHeads(scope, (tx) =>
        issue(tx, body, now()),
      );
      if (feedSeq !== undefined) await applied.wait(tenantId, { feedSeq });
      const { id: subject, expiresAt } = delegation;
      const token = { tenantId, subject, expiresAt, feedSeq: feedSeq ?? 0 };
      return { delegation, dToken: await tokens.sign('delegation', token) };
    },

    get: (scope: TenantScope, id: string): Promise<Delegation> =>
      db.inTenant(scope, (tx) => getDelegation(tx, id)),

    listOfSession: (
      scope: TenantScope,
      { workflowId, sessionId }: { workflowId: string; sessionId: string },
      page: Page,
    ) =>
      db.inTenant(scope, async (tx) => {
        await getSession(tx, workflowId, sessionId);
        return delegationStore(tx).listOfSession(sessionId, page);
      }),

    /** Revokes a delegation and all that derive from it. Revoking it again changes nothing. */
    revoke: async (scope: TenantScope, id: string): Promise<Delegation> => {
      const { result, feedSeq } = await db.inTenantWithHeads(scope, async (tx) => {
        const { workflowSessionId } = await getDelegation(tx, id);
        // The session's lock prevents new delegations from deriving from it meanwhile.
        await sessionStore(tx).lock(workflowSessionId);
        for (const key of await delegationStore(tx).revokeChain(id, now())) {
          tx.feed.append({ kind: 'delegation', key, value: null });
          tx.audit.append({
            action: 'delegation_revoked',
            target: `delegation/${key}`,
            details: {
              workflow_session_id: workflowSessionId,
              ...(key !== id && { because_of: id }),
            },
          });
        }
        return getDelegation(tx, id);
      });
      if (feedSeq !== undefined) await applied.wait(scope.tenantId, { feedSeq });
      return result;
    },
  };
}

async function getDelegation(tx: TenantTransaction, id: string): Promise<Delegation> {
  const delegation = await delegationStore(tx).find(id);
  if (!delegation) throw new AppError('DELEGATION_NOT_FOUND');
  return delegation;
}

async function issue(
  tx: TenantTransaction,
  body: NewDelegationBody,
  at: Date,
): Promise<Delegation> {
  const { delegator_agent_id: delegatorId, delegatee_agent_id: delegateeId } = body;
  if (delegatorId === delegateeId) throw invalid('delegatee_agent_id', 'is the delegator itself');
  requireRightClock(await databaseTime(tx), at, 'delegated');
  await lockInTenant(tx.db, 'delegations', tx.scope.tenantId);
  const { session, workflow } = await lockRunningSession(tx, body.workflow_session_id, at);
  const delegator = await getActiveAgent(tx, delegatorId);
  await getActiveAgent(tx, delegateeId);
  const store = delegationStore(tx);
  const active = await store.countActive();
  if (active.count >= MAX_ACTIVE_DELEGATIONS || active.bytes >= MAX_BYTES_OF_TENANT) {
    throw new AppError('DELEGATION_LIMIT_REACHED');
  }
  const parent = await findParent(tx, body, at);
  const depth = (parent?.delegationDepth ?? 0) + 1;
  if (depth > workflow.maxDepth) throw new AppError('DEPTH_EXCEEDS_MAX');
  const scope = completeScope(body.scope);
  if (parent === undefined && !takesPart(workflow, delegatorId)) {
    throw exceeding('the delegator takes no part in the workflow');
  }
  requireWithin(scope, delegator.roles, parent, await hasLocalModelsPolicy(tx));

  const delegation = await store.create({
    id: uuidv7(at.getTime()),
    workflowSessionId: session.id,
    delegatorAgentId: delegatorId,
    delegateeAgentId: delegateeId,
    delegationDepth: depth,
    parentDelegationId: parent?.id ?? null,
    tools: [...scope.tools],
    resources: [...scope.resources],
    requester: body.requester ?? delegatorId,
    reason: body.reason,
    status: 'active',
    createdAt: at,
    expiresAt: session.expiresAt,
    revokedAt: null,
  });
  const fact = toDelegationFact(delegation);
  tx.feed.append({ kind: 'delegation', key: delegation.id, value: fact });
  const { id: _, ...details } = fact;
  tx.audit.append({
    action: 'delegation_issued',
    target: `delegation/${delegation.id}`,
    details: { ...details, reason: body.reason },
  });
  return delegation;
}

/** The lock prevents delegation in a session that is being ended. */
async function lockRunningSession(
  tx: TenantTransaction,
  id: string,
  at: Date,
): Promise<{ session: WorkflowSession; workflow: Workflow }> {
  const session = await sessionStore(tx).lock(id);
  const workflow = session && (await workflowStore(tx).find(session.workflowId));
  if (!session || !workflow) throw new AppError('WORKFLOW_SESSION_NOT_FOUND');
  if (session.status !== 'active' || session.expiresAt <= at) {
    throw new AppError('WORKFLOW_SESSION_ENDED');
  }
  if (workflow.status === 'suspended') throw new AppError('WORKFLOW_SUSPENDED');
  return { session, workflow };
}

async function getActiveAgent(tx: TenantTransaction, id: string) {
  const { tenantId } = tx.scope;
  const agent = await tx.db.agent.findUnique({
    where: { tenantId_id: { tenantId, id } },
    include: { roles: { include: { role: true } } },
  });
  if (!agent) throw new AppError('AGENT_NOT_FOUND');
  const status = effectiveAgentStatus(
    {
      status: agent.status as AgentStatus,
      kill_released_generation: agent.killReleasedGeneration,
    },
    await readKillSwitch(tx),
  );
  if (status !== 'active') throw new AppError('AGENT_SUSPENDED', `The agent ${id} is ${status}.`);
  return { roles: agent.roles.map(({ role }) => role) };
}

/** The delegation under which the delegator acts, if any. */
async function findParent(
  tx: TenantTransaction,
  body: NewDelegationBody,
  at: Date,
): Promise<Delegation | undefined> {
  const { parent_delegation_id: given, workflow_session_id, delegator_agent_id } = body;
  const store = delegationStore(tx);
  if (given === null) return undefined;
  if (given === undefined) return store.findHeld(workflow_session_id, delegator_agent_id);
  const parent = await store.find(given);
  const isHeld =
    parent?.workflowSessionId === workflow_session_id &&
    parent.delegateeAgentId === delegator_agent_id;
  if (!isHeld) throw new AppError('DELEGATION_NOT_FOUND');
  if (parent.status === 'active' && parent.expiresAt > at) return parent;
  throw exceeding('the parent delegation was revoked');
}

function takesPart({ ownerAgentId, participants }: Workflow, agentId: string): boolean {
  return ownerAgentId === agentId || participants.some(({ agent_id }) => agent_id === agentId);
}

/** @throws AppError SCOPE_EXCEEDS_DELEGATOR */
function requireWithin(
  scope: DelegationScope,
  roles: readonly { permissions: string[]; resourceScopes: string[] }[],
  parent: Delegation | undefined,
  hasModelsPolicy: boolean,
): void {
  const granting = roles.map(({ permissions, resourceScopes: resource_scopes }) => ({
    permissions,
    resource_scopes,
  }));
  const entry =
    findExceedingRoles(scope, granting, hasModelsPolicy) ??
    (parent && findExceedingScope(scope, parent));
  if (entry !== undefined) throw exceeding(`the delegator may not pass on ${entry}`);
}

function exceeding(why: string): AppError {
  return new AppError('SCOPE_EXCEEDS_DELEGATOR', `SCOPE_EXCEEDS_DELEGATOR: ${why}.`);
}

function invalid(field: string, msg: string): AppError {
  return new AppError('VALIDATION_FAILED', `body.${field}: ${msg}`, {
    errors: [{ loc: ['body', field], msg, type: 'custom' }],
  });
}
