/** The signed statements that begin the log epochs after the first. */
import { LogEpoch, type SignedLogEpoch } from '@governance/shared/evidence/evidence-keys';
import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

export function logEpochStore({ db, scope: { tenantId } }: TenantTransaction) {
  const toSigned = (row: { statement: string; kid: string; signature: string }): SignedLogEpoch => {
    const { statement, kid, signature } = row;
    return { statement: LogEpoch.parse(JSON.parse(statement)), kid, signature };
  };
  return {
    insert: async ({ statement, kid, signature }: SignedLogEpoch): Promise<void> => {
      const { epoch, time } = statement;
      await db.logEpoch.create({
        data: {
          ...{ tenantId, epoch, kid, signature },
          statement: JSON.stringify(statement),
          begunAt: new Date(time),
        },
      });
    },

    count: (): Promise<number> => db.logEpoch.count({ where: { tenantId } }),

    /** All epochs from the beginning, oldest first; at most MAX_LOG_EPOCHS. */
    listAll: async (): Promise<SignedLogEpoch[]> => {
      const rows = await db.logEpoch.findMany({ where: { tenantId }, orderBy: { epoch: 'asc' } });
      return rows.map(toSigned);
    },

    /** Newest first. */
    listPage: async (page: Page): Promise<SignedLogEpoch[]> => {
      const rows = await db.logEpoch.findMany({
        where: { tenantId },
        orderBy: { epoch: 'desc' },
        ...rowsOf(page),
      });
      return rows.map(toSigned);
    },
  };
}
