/**
 * Changes of policies by two people: one proposes, another approves. The approval, the change and
 * their audit records commit together, so that a request is decided once and applied exactly as it
 * was proposed. Proven by change-request-routes.pg.test.ts.
 */
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { requireOtherHand } from '../../administrators/require-other-hand.ts';
import { damagedRow } from '../../platform/database/damaged-rows.ts';
import type { Page } from '../../platform/database/page.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../../platform/database/tenant-scope.ts';
import type { PolicyService } from '../policy-service.ts';
import { policyStore } from '../policy-store.ts';
import {
  type ChangeRequest,
  type ChangeRequestStatus,
  changesSince,
  contentOf,
  digestOf,
  type LookedAt,
  MAX_PENDING_OF_POLICY,
  MAX_PENDING_OF_TENANT,
  requireApplies,
} from './change-request.ts';
import type { DecisionBody, NewChangeRequestBody } from './change-request-schemas.ts';
import { changeRequestStore } from './change-request-store.ts';
import { differencesOf, type PolicyContent } from './difference.ts';

export interface ChangeRequestServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  now: () => Date;
}

export type ChangeRequestService = ReturnType<typeof createChangeRequestService>;

export function createChangeRequestService(
  { db, now }: ChangeRequestServiceDeps,
  policies: Pick<PolicyService, 'get' | 'requireCompiles' | 'applyReviewed'>,
) {
  return {
    /** @throws AppError POLICY_NOT_FOUND, POLICY_DOES_NOT_COMPILE, CHANGE_REQUEST_LIMIT_REACHED */
    propose: async (
      scope: TenantScope,
      policyId: string,
      body: NewChangeRequestBody,
    ): Promise<ChangeRequest> => {
      const policy = await policies.get(scope, policyId);
      const base = contentOf(policy);
      const proposed: PolicyContent = {
        name: body.proposed_name ?? base.name,
        description: body.proposed_description ?? base.description,
        regoContent: body.proposed_rego_content ?? base.regoContent,
        status: body.proposed_status ?? base.status,
      };
      if (!Object.keys(body).some((field) => field.startsWith('proposed_'))) {
        throw proposesNothing();
      }
      await policies.requireCompiles(scope, { ...policy, ...proposed }, 'proposed_rego_content');
      const at = now();
      const { actor } = scope;
      const request: ChangeRequest = {
        ...{ id: uuidv7(at.getTime()), policyId: policy.id, status: 'pending' },
        ...{ summary: body.summary, base, proposed },
        digest: digestOf({ policyId: policy.id, base, proposed }),
        ...{ authorId: actor.id, author: actor.username },
        ...{ reviewer: null, notes: null, createdAt: at, updatedAt: at, reviewedAt: null },
      };
      await db.inTenant(scope, async (tx) => {
        const store = changeRequestStore(tx);
        await store.lock();
        await requireRoom(store, policy.id);
        await store.insert(request);
        await store.prune(policy.id);
        tx.audit.append(auditOf('policy_change_proposed', request));
      });
      return request;
    },

    list: (
      scope: TenantScope,
      policyId: string,
      status: ChangeRequestStatus | undefined,
      page: Page,
    ) =>
      db.inTenant(scope, async (tx) => {
        if (!(await policyStore(tx).find(policyId))) throw new AppError('POLICY_NOT_FOUND');
        const store = changeRequestStore(tx);
        const { found, total } = await store.list(policyId, status, page);
        const replayOf = await store.readReplays(policyId);
        return { found: found.map((request) => ({ request, replay: replayOf(request) })), total };
      }),

    listPending: (scope: TenantScope) =>
      db.inTenant(scope, (tx) => changeRequestStore(tx).listPending()),

    look: (scope: TenantScope, policyId: string, id: string): Promise<LookedAt> =>
      db.inTenant(scope, async (tx) => {
        const request = await getRequest(tx, policyId, id);
        const policy = await policyStore(tx).find(policyId);
        const isOpen = request.status === 'pending' && policy !== undefined;
        return {
          request,
          changes: differencesOf(request.base, request.proposed),
          changedSince: isOpen ? changesSince(request, policy) : null,
          replay: (await changeRequestStore(tx).readReplays(policyId))(request),
        };
      }),

    /**
     * Applies the proposal, if the policy is unchanged since. Returns once it is enforced.
     *
     * @throws AppError OWN_CHANGE_REQUEST, CHANGE_REQUEST_DECIDED, CHANGE_REQUEST_OUTDATED
     */
    approve: async (
      scope: TenantScope,
      policyId: string,
      id: string,
      { notes, digest }: DecisionBody,
    ): Promise<ChangeRequest> => {
      const find = () => db.inTenant(scope, (tx) => getRequest(tx, policyId, id));
      await policies.applyReviewed(scope, policyId, {
        plan: async (policy) => {
          const request = await find();
          requirePending(request);
          requireLookedAt(request, digest);
          requireApplies(request, policy);
          return request.proposed;
        },
        record: async (tx) => {
          const request = await getRequest(tx, policyId, id);
          // The reviewer may have lost the role while the compiler ran.
          await requireOtherHand(tx, request, 'OWN_CHANGE_REQUEST');
          const decided = await changeRequestStore(tx).decide(id, {
            ...{ status: 'approved', notes, now: now() },
          });
          if (!decided) throw new AppError('CHANGE_REQUEST_DECIDED');
          tx.audit.append(auditOf('policy_change_approved', request, notes));
        },
      });
      return find();
    },

    /** @throws AppError CHANGE_REQUEST_DECIDED */
    reject: (
      scope: TenantScope,
      policyId: string,
      id: string,
      { notes, digest }: DecisionBody,
    ): Promise<ChangeRequest> =>
      db.inTenant(scope, async (tx) => {
        const request = await getRequest(tx, policyId, id);
        requireLookedAt(request, digest);
        const decision = { status: 'rejected', notes, now: now() } as const;
        if (!(await changeRequestStore(tx).decide(id, decision))) {
          throw new AppError('CHANGE_REQUEST_DECIDED');
        }
        tx.audit.append(auditOf('policy_change_rejected', request, notes));
        return getRequest(tx, policyId, id);
      }),
  };
}

async function getRequest(
  tx: TenantTransaction,
  policyId: string,
  id: string,
): Promise<ChangeRequest> {
  const request = await changeRequestStore(tx).find(policyId, id);
  if (!request) throw new AppError('CHANGE_REQUEST_NOT_FOUND');
  // Exactly what was recorded with the proposal is shown and applied.
  if (digestOf(request) !== request.digest) {
    throw damagedRow(`change_requests ${id}`, 'it differs from what was proposed');
  }
  return request;
}

async function requireRoom(
  store: ReturnType<typeof changeRequestStore>,
  policyId: string,
): Promise<void> {
  const isFull =
    (await store.countPending(policyId)) >= MAX_PENDING_OF_POLICY ||
    (await store.countPending()) >= MAX_PENDING_OF_TENANT;
  if (isFull) throw new AppError('CHANGE_REQUEST_LIMIT_REACHED');
}

function requirePending({ status }: ChangeRequest): void {
  if (status !== 'pending') throw new AppError('CHANGE_REQUEST_DECIDED');
}

/** @param digest of what the reviewer saw, if they sent it */
function requireLookedAt(request: ChangeRequest, digest: string | undefined): void {
  if (digest === undefined || digest === request.digest) return;
  const msg = 'is not the digest of this change request';
  throw new AppError('CHANGE_REQUEST_OUTDATED', `body.digest ${msg}: review it again.`, {
    errors: [{ loc: ['body', 'digest'], msg, type: 'changed_since' }],
  });
}

function auditOf(action: string, request: ChangeRequest, notes?: string) {
  return {
    action,
    target: `policy/${request.policyId}`,
    details: {
      change_request_id: request.id,
      digest: request.digest,
      author: request.author,
      changed: differencesOf(request.base, request.proposed).map(({ field }) => field),
      ...(notes !== undefined && { notes }),
    },
  };
}

function proposesNothing(): AppError {
  const msg = 'proposes nothing';
  return new AppError('VALIDATION_FAILED', `body: ${msg}`, {
    errors: [{ loc: ['body'], msg, type: 'custom' }],
  });
}
