import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import type { Attestation } from '../platform/keys/row-attestations.ts';
import type { DataPlaneToken } from './data-plane-token.ts';

// The hash stays in the database; only the look-up compares it.
const SHOWN = {
  id: true,
  label: true,
  deploymentId: true,
  rootId: true,
  region: true,
  createdAt: true,
  expiresAt: true,
  revokedAt: true,
} as const;

/** The `deployment_id` of each deployment that was given tokens, all of which are revoked. */
export const withoutToken = (tenantId: string): Prisma.Sql => Prisma.sql`
  SELECT deployment_id FROM data_plane_tokens
  WHERE tenant_id = ${tenantId}::uuid AND deployment_id IS NOT NULL
  GROUP BY deployment_id HAVING bool_and(revoked_at IS NOT NULL)`;

export function dataPlaneTokenStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    create: (
      token: Omit<DataPlaneToken, 'revokedAt'>,
      kept: { tokenHash: string } & Attestation,
    ): Promise<DataPlaneToken> => {
      const data = { tenantId, ...token, issuedUntil: token.expiresAt, ...kept };
      return db.dataPlaneToken.create({ data, select: SHOWN });
    },

    /** Newest first. */
    list: async (page: Page) => {
      const where = { tenantId };
      const tokens: DataPlaneToken[] = await db.dataPlaneToken.findMany({
        where,
        select: SHOWN,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      return { tokens, total: await db.dataPlaneToken.count({ where }) };
    },

    find: async (id: string): Promise<DataPlaneToken | undefined> =>
      (await db.dataPlaneToken.findUnique({
        where: { tenantId_id: { tenantId, id } },
        select: SHOWN,
      })) ?? undefined,

    hasAny: async (deploymentId: string): Promise<boolean> => {
      const where = { tenantId, deploymentId };
      return (await db.dataPlaneToken.findFirst({ where, select: { id: true } })) !== null;
    },

    /** Whether a token of the deployment was derived from this root. */
    isChildOf: async (deploymentId: string, rootId: string): Promise<boolean> => {
      const where = { tenantId, deploymentId, rootId };
      return (await db.dataPlaneToken.findFirst({ where, select: { id: true } })) !== null;
    },

    /** @returns false when it was already revoked */
    revoke: async (id: string, now: Date): Promise<boolean> => {
      const { count } = await db.dataPlaneToken.updateMany({
        where: { tenantId, id, revokedAt: null },
        data: { revokedAt: now },
      });
      return count > 0;
    },

    /** @returns how many of a root's children, or of a deployment's tokens, were not yet revoked */
    revokeAll: async (
      of: { rootId: string } | { deploymentId: string },
      now: Date,
    ): Promise<number> => {
      const { count } = await db.dataPlaneToken.updateMany({
        where: { tenantId, ...of, revokedAt: null },
        data: { revokedAt: now },
      });
      return count;
    },

    /** Shortens the lives of the deployment's other tokens to `end` at the latest. */
    shorten: async (deploymentId: string, end: Date, except: string): Promise<void> => {
      await db.dataPlaneToken.updateMany({
        where: {
          tenantId,
          deploymentId,
          id: { not: except },
          OR: [{ expiresAt: null }, { expiresAt: { gt: end } }],
        },
        data: { expiresAt: end },
      });
    },

    /** Which of these deployments were given tokens, all of which are revoked. */
    findWithoutToken: async (deploymentIds: string[]): Promise<Set<string>> => {
      const rows = await db.$queryRaw<{ id: string }[]>`
        SELECT deployment_id AS id FROM (${withoutToken(tenantId)}) lost
        WHERE deployment_id = ANY(${deploymentIds}::uuid[])`;
      return new Set(rows.map(({ id }) => id));
    },

    /**
     * Removes children that ended before `deadline`, but never the newest of a deployment, which
     * shows whether the deployment was revoked.
     *
     * @returns how many were removed, at most `limit`
     */
    purge: (deadline: Date, limit: number): Promise<number> =>
      db.$executeRaw`
        DELETE FROM data_plane_tokens WHERE tenant_id = ${tenantId}::uuid AND id IN (
          SELECT t.id FROM data_plane_tokens t
          WHERE t.tenant_id = ${tenantId}::uuid AND t.root_id IS NOT NULL
            AND LEAST(t.expires_at, t.revoked_at) < ${deadline} AND EXISTS (
              SELECT 1 FROM data_plane_tokens newer
              WHERE newer.tenant_id = t.tenant_id AND newer.deployment_id = t.deployment_id
                AND newer.id > t.id)
          LIMIT ${limit})`,
  };
}
