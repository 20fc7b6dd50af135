import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { ChainBreak } from '../platform/generated/client.ts';

export interface BreakFilter {
  acknowledged?: boolean | undefined;
}

export function breakStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    /** Newest first. */
    list: async (
      { acknowledged }: BreakFilter,
      page: Page,
    ): Promise<{ breaks: ChainBreak[]; total: number }> => {
      const where = {
        tenantId,
        ...(acknowledged === undefined
          ? {}
          : { acknowledgedAt: acknowledged ? { not: null } : null }),
      };
      const breaks = await db.chainBreak.findMany({
        where,
        orderBy: [{ detectedAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      return { breaks, total: await db.chainBreak.count({ where }) };
    },

    find: async (id: string): Promise<ChainBreak | undefined> =>
      (await db.chainBreak.findUnique({ where: { tenantId_id: { tenantId, id } } })) ?? undefined,

    /** @returns whether this call was the one that acknowledged it */
    acknowledge: async (
      id: string,
      { by, notes, at }: { by: string; notes: string | null; at: Date },
    ): Promise<boolean> => {
      const { count } = await db.chainBreak.updateMany({
        where: { tenantId, id, acknowledgedAt: null },
        data: { acknowledgedAt: at, acknowledgedBy: by, notes },
      });
      return count > 0;
    },
  };
}
