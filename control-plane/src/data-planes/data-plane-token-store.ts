import type { TenantTransaction } from '../platform/tenant-scope.ts';
import type { DataPlaneToken } from './data-plane-token.ts';

// The hash stays in the database: nothing but the look-up compares it.
const SHOWN = {
  id: true,
  label: true,
  deploymentId: true,
  region: true,
  createdAt: true,
  expiresAt: true,
  revokedAt: true,
} as const;

export function dataPlaneTokenStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    create: (
      token: Pick<DataPlaneToken, 'id' | 'label' | 'region' | 'createdAt' | 'expiresAt'>,
      tokenHash: string,
    ): Promise<DataPlaneToken> =>
      db.dataPlaneToken.create({ data: { tenantId, ...token, tokenHash }, select: SHOWN }),

    /** Newest first. */
    list: async (page: { limit: number; offset: number }) => {
      const where = { tenantId };
      const tokens: DataPlaneToken[] = await db.dataPlaneToken.findMany({
        where,
        select: SHOWN,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: page.limit,
        skip: page.offset,
      });
      return { tokens, total: await db.dataPlaneToken.count({ where }) };
    },

    find: async (id: string): Promise<DataPlaneToken | undefined> =>
      (await db.dataPlaneToken.findUnique({
        where: { tenantId_id: { tenantId, id } },
        select: SHOWN,
      })) ?? undefined,

    /** @returns false when it was revoked before */
    revoke: async (id: string, now: Date): Promise<boolean> => {
      const { count } = await db.dataPlaneToken.updateMany({
        where: { tenantId, id, revokedAt: null },
        data: { revokedAt: now },
      });
      return count > 0;
    },
  };
}
