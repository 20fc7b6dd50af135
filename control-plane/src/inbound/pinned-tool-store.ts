import type { TenantTransaction } from '../platform/tenant-scope.ts';

/** A tool whose definition has changed since it was seen first. */
export interface PinnedTool {
  serverId: string;
  toolName: string;
  pinnedHash: string;
  seenHash: string;
  changed: string[];
  firstSeenAt: Date;
  changedAt: Date;
  approvedBy: string | null;
  approvedAt: Date | null;
}

/** This feature's rows, of the transaction's tenant. */
export function pinnedToolStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    /** By name. */
    listOf: (serverId: string): Promise<PinnedTool[]> =>
      db.pinnedTool.findMany({ where: { tenantId, serverId }, orderBy: { toolName: 'asc' } }),

    listAll: (): Promise<PinnedTool[]> =>
      db.pinnedTool.findMany({
        where: { tenantId },
        orderBy: [{ serverId: 'asc' }, { toolName: 'asc' }],
      }),

    /** Locked until the transaction ends. */
    findForUpdate: async (serverId: string, toolName: string): Promise<PinnedTool | undefined> => {
      await db.$queryRaw`
        SELECT 1 FROM pinned_tools WHERE tenant_id = ${tenantId}::uuid
          AND server_id = ${serverId} AND tool_name = ${toolName} FOR UPDATE`;
      const where = { tenantId_serverId_toolName: { tenantId, serverId, toolName } };
      return (await db.pinnedTool.findUnique({ where })) ?? undefined;
    },

    approve: (tool: PinnedTool, approvedBy: string, approvedAt: Date): Promise<PinnedTool> => {
      const { serverId, toolName, seenHash: pinnedHash } = tool;
      return db.pinnedTool.update({
        where: { tenantId_serverId_toolName: { tenantId, serverId, toolName } },
        data: { pinnedHash, approvedBy, approvedAt },
      });
    },
  };
}
