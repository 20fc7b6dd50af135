import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { Prisma } from '../platform/generated/client.ts';

export type WorkflowSessionStatus = 'active' | 'completed' | 'aborted';

export interface WorkflowSession {
  id: string;
  workflowId: string;
  initiatedBy: string;
  status: WorkflowSessionStatus;
  metadata: Record<string, unknown>;
  startedAt: Date;
  completedAt: Date | null;
  expiresAt: Date;
}

type Row = Prisma.WorkflowSessionGetPayload<object>;

/** Workflow sessions of the transaction's tenant. */
export function sessionStore({ db, scope: { tenantId } }: TenantTransaction) {
  const at = (id: string) => ({ tenantId_id: { tenantId, id } });
  const find = async (id: string): Promise<WorkflowSession | undefined> => {
    const row = await db.workflowSession.findUnique({ where: at(id) });
    return row ? toSession(row) : undefined;
  };
  return {
    find,
    /** Locked until the transaction ends. */
    lock: async (id: string): Promise<WorkflowSession | undefined> => {
      await db.$queryRaw`
        SELECT 1 FROM workflow_sessions
        WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid FOR UPDATE`;
      return find(id);
    },
    create: async ({ metadata, ...session }: WorkflowSession): Promise<WorkflowSession> =>
      toSession(
        await db.workflowSession.create({
          data: { tenantId, ...session, metadata: metadata as Prisma.InputJsonObject },
        }),
      ),
    end: async (
      id: string,
      status: Exclude<WorkflowSessionStatus, 'active'>,
      completedAt: Date,
    ): Promise<WorkflowSession> =>
      toSession(await db.workflowSession.update({ where: at(id), data: { status, completedAt } })),
    countActive: () => db.workflowSession.count({ where: { tenantId, status: 'active' } }),
    /** Locked until the transaction ends, oldest first. */
    lockActiveOf: async (workflowId: string): Promise<string[]> => {
      const rows = await db.$queryRaw<{ id: string }[]>`
        SELECT id FROM workflow_sessions WHERE tenant_id = ${tenantId}::uuid
          AND workflow_id = ${workflowId}::uuid AND status = 'active' ORDER BY id FOR UPDATE`;
      return rows.map(({ id }) => id);
    },
    /** Locked until the transaction ends; skips those that another transaction is ending. */
    lockExpired: async (now: Date, limit: number): Promise<string[]> => {
      const rows = await db.$queryRaw<{ id: string }[]>`
        SELECT id FROM workflow_sessions WHERE tenant_id = ${tenantId}::uuid
          AND status = 'active' AND expires_at <= ${now}
        ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
      return rows.map(({ id }) => id);
    },
    /** Newest first. */
    list: async (workflowId: string, page: Page) => {
      const where = { tenantId, workflowId };
      const rows = await db.workflowSession.findMany({
        where,
        orderBy: [{ startedAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      return { sessions: rows.map(toSession), total: await db.workflowSession.count({ where }) };
    },
  };
}

function toSession({ tenantId: _, comparedAt: __, metadata, ...row }: Row): WorkflowSession {
  return {
    ...row,
    // The table's CHECK constraint guarantees these values; the route admits only an object.
    status: row.status as WorkflowSessionStatus,
    metadata: metadata as Record<string, unknown>,
  };
}
