import type { McpClient } from '@governance/shared/mcp/mcp-clients';
import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { type InstallerToken, KEPT_AFTER_END_MS } from './installer-token.ts';

type Row = Awaited<ReturnType<TenantTransaction['db']['installerToken']['findFirstOrThrow']>>;

/** This feature's rows, of the transaction's tenant. */
export function installerStore({ db, scope: { tenantId } }: TenantTransaction) {
  const isOpen = (now: Date) => ({ usedAt: null, revokedAt: null, expiresAt: { gt: now } });
  return {
    insert: async (token: InstallerToken, tokenHash: string): Promise<void> => {
      await db.installerToken.create({ data: { tenantId, ...token, tokenHash } });
    },

    countOpen: (agentId: string, now: Date): Promise<number> =>
      db.installerToken.count({ where: { tenantId, agentId, ...isOpen(now) } }),

    /** Newest first. */
    list: async (agentId: string, page: Page) => {
      const where = { tenantId, agentId };
      const rows = await db.installerToken.findMany({
        where,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      return { tokens: rows.map(toToken), total: await db.installerToken.count({ where }) };
    },

    find: async (id: string): Promise<InstallerToken | undefined> => {
      const row = await db.installerToken.findUnique({ where: { tenantId_id: { tenantId, id } } });
      return row ? toToken(row) : undefined;
    },

    /** @returns false when it was already unusable */
    revoke: async (id: string, now: Date): Promise<boolean> => {
      const { count } = await db.installerToken.updateMany({
        where: { tenantId, id, ...isOpen(now) },
        data: { revokedAt: now },
      });
      return count > 0;
    },

    /** Consumes its single use, for a credential of that id. @returns false when it is used up */
    use: async (id: string, credentialId: string, now: Date): Promise<boolean> => {
      const { count } = await db.installerToken.updateMany({
        where: { tenantId, id, ...isOpen(now) },
        data: { usedAt: now, credentialId },
      });
      return count > 0;
    },

    /** Deletes tokens that ended long ago. */
    prune: async (agentId: string, now: Date): Promise<void> => {
      const before = new Date(now.getTime() - KEPT_AFTER_END_MS);
      await db.installerToken.deleteMany({
        where: { tenantId, agentId, expiresAt: { lt: before } },
      });
    },
  };
}

function toToken({ tenantId: _, tokenHash: __, ...row }: Row): InstallerToken {
  // Written only through schemas with that enum.
  return { ...row, client: row.client as McpClient };
}
