import { ExceptionLifts } from '@governance/shared/channel/exceptions';
import { readStored } from '../platform/database/damaged-rows.ts';
import { type Page, rowsOf } from '../platform/database/page.ts';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { Exception, Prisma } from '../platform/generated/client.ts';
import { ExceptionStatus, type ExceptionTarget, type StandingException } from './exception.ts';

/** Rows that one transaction of the task changes. */
const BATCH = 100;

export interface ExceptionFilter {
  status: ExceptionStatus;
  agentId?: string | undefined;
}

type Where = Prisma.ExceptionWhereInput;

const OPEN = { in: ['pending', 'active'] };

/** This feature's rows, of the transaction's tenant. */
export function exceptionStore({ db, scope: { tenantId } }: TenantTransaction) {
  async function lockAll(where: Where, take?: number): Promise<StandingException[]> {
    const found = await db.exception.findMany({
      where: { ...where, tenantId },
      select: { id: true },
      orderBy: { id: 'asc' },
      ...(take !== undefined && { take }),
    });
    const ids = found.map(({ id }) => id);
    if (ids.length === 0) return [];
    await db.$queryRaw`
      SELECT 1 FROM exceptions WHERE tenant_id = ${tenantId}::uuid AND id = ANY(${ids}::uuid[])
      ORDER BY id FOR UPDATE`;
    // Read again now that the rows are locked.
    const rows = await db.exception.findMany({ where: { ...where, tenantId, id: { in: ids } } });
    return rows.map(toException);
  }

  return {
    /**
     * Serialises creation until the transaction ends, since the number of exceptions is bounded.
     */
    lockCount: (): Promise<void> => lockInTenant(db, 'exceptions', tenantId),

    /** Active and pending ones. */
    countOpen: (at: Date, target?: Omit<ExceptionTarget, 'resource' | 'policyId'>) =>
      db.exception.count({
        where: { tenantId, status: OPEN, expiresAt: { gt: at }, ...target },
      }),

    /** All that were made for an agent, whatever their status. */
    countCreated: (agentId: string, { from, to }: { from: Date; to: Date }) =>
      db.exception.count({ where: { tenantId, agentId, createdAt: { gt: from, lt: to } } }),

    insert: async (exception: StandingException): Promise<void> => {
      await db.exception.create({ data: { tenantId, ...exception } });
    },

    find: async (id: string): Promise<StandingException | undefined> => {
      const row = await db.exception.findUnique({ where: { tenantId_id: { tenantId, id } } });
      return row ? toException(row) : undefined;
    },

    /** Finds an exception and locks it until the transaction ends. */
    lock: async (id: string): Promise<StandingException | undefined> => (await lockAll({ id }))[0],

    /** Newest first. */
    list: async ({ status, agentId }: ExceptionFilter, at: Date, page: Page) => {
      const where = { tenantId, ...ofStatus(status, at), ...(agentId && { agentId }) };
      const rows = await db.exception.findMany({
        where,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      return { exceptions: rows.map(toException), total: await db.exception.count({ where }) };
    },

    update: async ({ id, ...fields }: StandingException): Promise<void> => {
      await db.exception.update({ where: { tenantId_id: { tenantId, id } }, data: fields });
    },

    /** A batch of exceptions whose time is over, locked. */
    lockOverdue: (at: Date) => lockAll({ status: OPEN, expiresAt: { lte: at } }, BATCH),

    /** The active and pending exceptions of a server, locked. */
    lockOfServer: (mcpServer: string) => lockAll({ status: OPEN, mcpServer }),

    /** Deletes exceptions that ended long ago. */
    prune: async (before: Date): Promise<void> => {
      await db.exception.deleteMany({
        where: { tenantId, status: { notIn: OPEN.in }, updatedAt: { lte: before } },
      });
    },
  };
}

/** An exception whose time is over counts as expired even before the task marks it. */
function ofStatus(status: ExceptionStatus, at: Date): Where {
  if (status === 'expired') {
    return { OR: [{ status }, { status: OPEN, expiresAt: { lte: at } }] };
  }
  return OPEN.in.includes(status) ? { status, expiresAt: { gt: at } } : { status };
}

function toException({ tenantId: _, ...row }: Exception): StandingException {
  const name = `exceptions ${row.id}`;
  return {
    ...row,
    status: readStored(ExceptionStatus, row.status, name),
    lifts: readStored(ExceptionLifts, row.lifts, name),
  };
}
