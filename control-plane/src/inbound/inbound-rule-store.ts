import type { SourceRuleType } from '@governance/shared/settings/inbound-settings';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

/** An administrator's rule about a source. */
export interface InboundRule {
  tenantId: string;
  id: string;
  sourcePattern: string;
  ruleType: SourceRuleType;
  /** Null: never. */
  expiresAt: Date | null;
  /** The administrator's name. */
  createdBy: string;
  notes: string | null;
  createdAt: Date;
}

/** This feature's rows, of the transaction's tenant. */
export function inboundRuleStore({ db, scope: { tenantId } }: TenantTransaction) {
  const active = (now: Date) => ({
    tenantId,
    OR: [{ expiresAt: null }, { expiresAt: { gt: now } }],
  });
  return {
    /** The oldest first. */
    listActive: async (now: Date): Promise<InboundRule[]> => {
      const rows = await db.inboundRule.findMany({
        where: active(now),
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      });
      // The table's CHECK constraint guarantees the type.
      return rows.map((row) => row as InboundRule);
    },

    countActive: (now: Date): Promise<number> => db.inboundRule.count({ where: active(now) }),

    insert: async (rule: Omit<InboundRule, 'tenantId'>): Promise<InboundRule> =>
      (await db.inboundRule.create({ data: { tenantId, ...rule } })) as InboundRule,

    /** @returns the removed rule; undefined when no active rule has the id */
    deleteActive: async (id: string, now: Date): Promise<InboundRule | undefined> => {
      const row = await db.inboundRule.findFirst({ where: { ...active(now), id } });
      if (row === null) return undefined;
      const { count } = await db.inboundRule.deleteMany({ where: { tenantId, id } });
      return count === 0 ? undefined : (row as InboundRule);
    },

    deleteExpired: async (now: Date): Promise<void> => {
      await db.inboundRule.deleteMany({ where: { tenantId, expiresAt: { lte: now } } });
    },
  };
}
