import { hash } from 'node:crypto';
import { z } from 'zod';
import { readStored } from '../../platform/database/damaged-rows.ts';
import { type Page, rowsOf } from '../../platform/database/page.ts';
import { lockInTenant } from '../../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';
import type { PolicyStatus } from '../policy.ts';
import {
  type ChangeRequest,
  type ChangeRequestStatus,
  MAX_DECIDED_OF_POLICY,
  type ReplayOfProposal,
} from './change-request.ts';

type Row = Awaited<ReturnType<TenantTransaction['db']['changeRequest']['findFirstOrThrow']>>;

export interface Decision {
  status: 'approved' | 'rejected';
  notes: string;
  now: Date;
}

/** This feature's rows, of the transaction's tenant. */
export function changeRequestStore({ db, scope }: TenantTransaction) {
  const { tenantId, actor } = scope;
  return {
    /**
     * Serialises a tenant's proposals until the transaction ends, since their number is bounded.
     */
    lock: (): Promise<void> => lockInTenant(db, 'change-requests', tenantId),

    find: async (policyId: string, id: string): Promise<ChangeRequest | undefined> => {
      const row = await db.changeRequest.findFirst({ where: { tenantId, id, policyId } });
      return row ? toChangeRequest(row) : undefined;
    },

    /** Newest first. */
    list: async (policyId: string, status: ChangeRequestStatus | undefined, page: Page) => {
      const where = { tenantId, policyId, ...(status && { status }) };
      const rows = await db.changeRequest.findMany({
        where,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      return { found: rows.map(toChangeRequest), total: await db.changeRequest.count({ where }) };
    },

    /**
     * @returns a function that finds the newest replay made for a request, or of its proposed text
     */
    readReplays: async (
      policyId: string,
    ): Promise<(request: ChangeRequest) => ReplayOfProposal | null> => {
      const rows = await db.policyReplay.findMany({
        where: { tenantId, policyId },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        omit: { regoContent: true },
      });
      return ({ id, proposed }) => {
        const digest = hash('sha256', proposed.regoContent, 'hex');
        const found = rows.find(
          (row) =>
            row.changeRequestId === id ||
            (row.changeRequestId === null && row.regoSha256 === digest),
        );
        if (!found) return null;
        const { status, fromTime, toTime } = found;
        return {
          id: found.id,
          status,
          fromTime,
          toTime,
          ...readStored(Counted, found.result, `policy_replays ${found.id}`),
        };
      };
    },

    /** All pending requests of the tenant, oldest first, without the contents. */
    listPending: () =>
      db.changeRequest.findMany({
        where: { tenantId, status: 'pending' },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        select: {
          id: true,
          policyId: true,
          proposedName: true,
          summary: true,
          author: true,
          createdAt: true,
        },
      }),

    countPending: (policyId?: string): Promise<number> =>
      db.changeRequest.count({
        where: { tenantId, status: 'pending', ...(policyId !== undefined && { policyId }) },
      }),

    insert: async ({ base, proposed, ...request }: ChangeRequest): Promise<void> => {
      await db.changeRequest.create({
        data: {
          tenantId,
          ...request,
          baseName: base.name,
          baseDescription: base.description,
          baseRegoContent: base.regoContent,
          baseStatus: base.status,
          proposedName: proposed.name,
          proposedDescription: proposed.description,
          proposedRegoContent: proposed.regoContent,
          proposedStatus: proposed.status,
        },
      });
    },

    /** @returns false when it is no longer pending */
    decide: async (id: string, { status, notes, now }: Decision): Promise<boolean> => {
      const { count } = await db.changeRequest.updateMany({
        where: { tenantId, id, status: 'pending' },
        data: {
          ...{ status, notes, reviewerId: actor.id, reviewer: actor.username },
          ...{ reviewedAt: now, updatedAt: now },
        },
      });
      return count > 0;
    },

    /** Deletes decided ones of a policy beyond the number kept. */
    prune: async (policyId: string): Promise<void> => {
      await db.$executeRaw`
        DELETE FROM change_requests WHERE tenant_id = ${tenantId}::uuid AND id IN (
          SELECT id FROM change_requests
          WHERE tenant_id = ${tenantId}::uuid AND policy_id = ${policyId}::uuid
            AND status <> 'pending'
          ORDER BY created_at DESC, id DESC OFFSET ${MAX_DECIDED_OF_POLICY})`;
    },
  };
}

/** What reviewers see of a replay's result. */
const Counted = z.object({
  judged: z.int(),
  changed: z.int(),
  transitions: z.array(z.object({ before: z.string(), after: z.string(), count: z.int() })),
});

function toChangeRequest(row: Row): ChangeRequest {
  const { id, policyId, summary, digest, authorId, author, reviewer, notes } = row;
  const { createdAt, updatedAt, reviewedAt } = row;
  return {
    ...{ id, policyId, summary, digest, authorId, author, reviewer, notes },
    ...{ createdAt, updatedAt, reviewedAt },
    // The table's CHECK constraints guarantee these values.
    status: row.status as ChangeRequestStatus,
    base: {
      name: row.baseName,
      description: row.baseDescription,
      regoContent: row.baseRegoContent,
      status: row.baseStatus as PolicyStatus,
    },
    proposed: {
      name: row.proposedName,
      description: row.proposedDescription,
      regoContent: row.proposedRegoContent,
      status: row.proposedStatus as PolicyStatus,
    },
  };
}
