import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

export interface RememberedAnchor {
  epoch: number;
  size: number;
  root: string;
  issuedAt: Date;
}

/** The number of anchored positions that are remembered; older ones are dropped. */
const REMEMBERED_ANCHORS = 500;

export function anchorStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    findNewest: async (epoch: number): Promise<RememberedAnchor | undefined> => {
      const row = await db.logAnchor.findFirst({
        where: { tenantId, epoch },
        orderBy: { size: 'desc' },
      });
      if (!row) return undefined;
      return { epoch, size: Number(row.size), root: row.root, issuedAt: row.issuedAt };
    },

    /** One row per size; beyond the limit, the oldest are dropped. */
    remember: async ({ epoch, size, root, issuedAt }: RememberedAnchor): Promise<void> => {
      await db.logAnchor.createMany({
        data: [{ tenantId, epoch, size: BigInt(size), root, issuedAt }],
        skipDuplicates: true,
      });
      await db.$executeRaw`
        DELETE FROM log_anchors WHERE tenant_id = ${tenantId}::uuid AND (epoch, size) IN (
          SELECT epoch, size FROM log_anchors WHERE tenant_id = ${tenantId}::uuid
          ORDER BY epoch DESC, size DESC OFFSET ${REMEMBERED_ANCHORS})`;
    },

    /**
     * The sizes of the remembered anchors of all epochs: the current tree continues the tree of
     * each.
     */
    listSizes: async (): Promise<number[]> => {
      const rows = await db.logAnchor.findMany({
        where: { tenantId, size: { gt: 0 } },
        select: { size: true },
      });
      return rows.map(({ size }) => Number(size));
    },
  };
}
