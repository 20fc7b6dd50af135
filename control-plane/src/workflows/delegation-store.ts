import type { DelegationFact } from '@governance/shared/channel/facts';
import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import { requireFits } from '../platform/http/page-bytes.ts';

export interface Delegation {
  id: string;
  workflowSessionId: string;
  delegatorAgentId: string;
  delegateeAgentId: string;
  delegationDepth: number;
  parentDelegationId: string | null;
  tools: string[];
  resources: string[];
  requester: string;
  reason: string;
  status: 'active' | 'revoked';
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
}

/** This feature's rows, of the transaction's tenant. */
export function delegationStore({ db, scope: { tenantId } }: TenantTransaction) {
  const revoke = async (at: Date, ids: string[]) => {
    await db.delegation.updateMany({
      where: { tenantId, id: { in: ids }, status: 'active' },
      data: { status: 'revoked', revokedAt: at },
    });
    return ids;
  };
  return {
    create: async (delegation: Delegation): Promise<Delegation> =>
      toDelegation(await db.delegation.create({ data: { tenantId, ...delegation } })),

    find: async (id: string): Promise<Delegation | undefined> => {
      const row = await db.delegation.findUnique({ where: { tenantId_id: { tenantId, id } } });
      return row ? toDelegation(row) : undefined;
    },

    /** Newest first. @throws AppError VALIDATION_FAILED where the page is too large for memory */
    listOfSession: async (sessionId: string, page: Page) => {
      const where = { tenantId, workflowSessionId: sessionId };
      const sizes = Prisma.sql`
        SELECT octet_length(array_to_string(tools, '')) + octet_length(reason)
          + octet_length(array_to_string(resources, '')) AS bytes
        FROM delegations
        WHERE tenant_id = ${tenantId}::uuid AND workflow_session_id = ${sessionId}::uuid
        ORDER BY created_at DESC, id DESC LIMIT ${page.limit} OFFSET ${page.offset}`;
      await requireFits(db, sizes, 'delegations');
      const rows = await db.delegation.findMany({
        where,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      const total = await db.delegation.count({ where });
      return { delegations: rows.map(toDelegation), total };
    },

    /** The newest delegation that an agent received in a session and still holds. */
    findHeld: async (sessionId: string, agentId: string): Promise<Delegation | undefined> => {
      const row = await db.delegation.findFirst({
        where: {
          tenantId,
          workflowSessionId: sessionId,
          delegateeAgentId: agentId,
          status: 'active',
        },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      });
      return row ? toDelegation(row) : undefined;
    },

    /** Those in force, and the bytes of their scopes and reasons. */
    countActive: async (): Promise<{ count: number; bytes: number }> => {
      const [row] = await db.$queryRaw<{ count: bigint; bytes: bigint | null }[]>`
        SELECT count(*) AS count, sum(octet_length(array_to_string(tools, ''))
          + octet_length(array_to_string(resources, '')) + octet_length(reason)) AS bytes
        FROM delegations WHERE tenant_id = ${tenantId}::uuid AND status = 'active'`;
      return { count: Number(row?.count ?? 0), bytes: Number(row?.bytes ?? 0) };
    },

    /** Revokes one and all derived from it. @returns their ids */
    revokeChain: async (id: string, at: Date): Promise<string[]> => {
      const rows = await db.$queryRaw<{ id: string }[]>`
        WITH RECURSIVE chain AS (
          SELECT id FROM delegations WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid
          UNION
          SELECT d.id FROM delegations d JOIN chain ON d.parent_delegation_id = chain.id
          WHERE d.tenant_id = ${tenantId}::uuid
        )
        SELECT d.id FROM delegations d JOIN chain ON chain.id = d.id
        WHERE d.tenant_id = ${tenantId}::uuid AND d.status = 'active' ORDER BY d.id FOR UPDATE OF d`;
      return revoke(
        at,
        rows.map((row) => row.id),
      );
    },

    /** Revokes all delegations of some sessions. @returns their ids */
    revokeOfSessions: async (sessionIds: string[], at: Date): Promise<string[]> => {
      const rows = await db.delegation.findMany({
        where: { tenantId, workflowSessionId: { in: sessionIds }, status: 'active' },
        select: { id: true },
      });
      return revoke(
        at,
        rows.map((row) => row.id),
      );
    },
  };
}

/** Ends the delegations of sessions that end, in the same transaction. */
export async function endDelegationsOf(
  tx: TenantTransaction,
  sessionIds: string[],
  at: Date,
): Promise<void> {
  for (const key of await delegationStore(tx).revokeOfSessions(sessionIds, at)) {
    tx.feed.append({ kind: 'delegation', key, value: null });
  }
}

export function toDelegationFact(delegation: Delegation): DelegationFact {
  return {
    id: delegation.id,
    workflow_session_id: delegation.workflowSessionId,
    parent_delegation_id: delegation.parentDelegationId,
    delegator_agent_id: delegation.delegatorAgentId,
    delegatee_agent_id: delegation.delegateeAgentId,
    depth: delegation.delegationDepth,
    tools: delegation.tools,
    resources: delegation.resources,
    requester: delegation.requester,
    expires_at: delegation.expiresAt.toISOString(),
  };
}

function toDelegation({ tenantId: _, ...row }: Prisma.DelegationGetPayload<object>): Delegation {
  // The table's CHECK constraint guarantees these values.
  return { ...row, status: row.status as Delegation['status'] };
}
