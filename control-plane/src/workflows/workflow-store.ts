import type { WorkflowFact } from '@governance/shared/channel/facts';
import { z } from 'zod';
import { readStored } from '../platform/database/damaged-rows.ts';
import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import { requireFits } from '../platform/http/page-bytes.ts';

const Participants = z.array(
  z.object({ agent_id: z.string(), role: z.string(), allowed_actions: z.array(z.string()) }),
);
export type Participant = z.infer<typeof Participants>[number];

export interface Workflow {
  id: string;
  name: string;
  ownerAgentId: string;
  maxDepth: number;
  maxParticipants: number;
  participants: Participant[];
  status: WorkflowFact['status'];
  createdAt: Date;
  updatedAt: Date;
}

export type WorkflowChange = Partial<Omit<Workflow, 'id' | 'createdAt' | 'updatedAt'>>;

type Row = Prisma.WorkflowGetPayload<object>;

/** Workflows of the transaction's tenant, except deleted ones. */
export function workflowStore({ db, scope: { tenantId } }: TenantTransaction) {
  const find = async (id: string): Promise<Workflow | undefined> => {
    const row = await db.workflow.findUnique({ where: { tenantId_id: { tenantId, id } } });
    return row && row.deletedAt === null ? toWorkflow(row) : undefined;
  };
  return {
    find,
    /** Locked until the transaction ends, so that its facts have the order of its changes. */
    lock: async (id: string): Promise<Workflow | undefined> => {
      await db.$queryRaw`
        SELECT 1 FROM workflows WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid FOR UPDATE`;
      return find(id);
    },
    create: async (workflow: Workflow): Promise<Workflow> =>
      toWorkflow(await db.workflow.create({ data: { tenantId, ...workflow } })),
    update: async (id: string, change: WorkflowChange, now: Date): Promise<Workflow> =>
      toWorkflow(
        await db.workflow.update({
          where: { tenantId_id: { tenantId, id } },
          data: { ...change, updatedAt: now },
        }),
      ),
    delete: async (id: string, deletedAt: Date): Promise<void> => {
      await db.workflow.update({ where: { tenantId_id: { tenantId, id } }, data: { deletedAt } });
    },
    count: () => db.workflow.count({ where: { tenantId, deletedAt: null } }),
    /** Bytes of all workflows together, with what this transaction wrote. */
    countBytes: async (): Promise<number> => {
      const [row] = await db.$queryRaw<{ bytes: bigint }[]>`
        SELECT sum(octet_length(participants::text) + octet_length(name)) AS bytes FROM workflows
        WHERE tenant_id = ${tenantId}::uuid AND deleted_at IS NULL`;
      return Number(row?.bytes ?? 0);
    },
    /** Newest first. @throws AppError VALIDATION_FAILED where the page is too large for memory */
    list: async (status: Workflow['status'] | undefined, page: Page) => {
      const where = { tenantId, deletedAt: null, ...(status && { status }) };
      const sizes = Prisma.sql`
        SELECT octet_length(participants::text) AS bytes FROM workflows
        WHERE tenant_id = ${tenantId}::uuid AND deleted_at IS NULL
          AND (${status ?? null}::text IS NULL OR status = ${status ?? null})
        ORDER BY created_at DESC, id DESC LIMIT ${page.limit} OFFSET ${page.offset}`;
      await requireFits(db, sizes, 'workflows');
      const rows = await db.workflow.findMany({
        where,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      return { workflows: rows.map(toWorkflow), total: await db.workflow.count({ where }) };
    },
  };
}

export function toWorkflowFact(workflow: Workflow): WorkflowFact {
  return {
    id: workflow.id,
    status: workflow.status,
    owner_agent_id: workflow.ownerAgentId,
    max_depth: workflow.maxDepth,
    participants: workflow.participants,
  };
}

function toWorkflow({ tenantId: _, deletedAt: __, ...row }: Row): Workflow {
  // The table's CHECK constraint guarantees these values.
  const status = row.status as Workflow['status'];
  return {
    ...row,
    status,
    participants: readStored(Participants, row.participants, `workflows ${row.id}`),
  };
}
