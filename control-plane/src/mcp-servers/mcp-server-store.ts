import type { TenantTransaction } from '../platform/tenant-scope.ts';
import type { McpServer } from './mcp-server.ts';

type Row = Awaited<ReturnType<TenantTransaction['db']['mcpServer']['findFirstOrThrow']>>;

/** A row with the secret as it is stored, encrypted. */
export interface StoredServer {
  server: McpServer;
  ciphertext: Uint8Array<ArrayBuffer> | null;
}

/** This feature's rows, of the transaction's tenant. */
export function mcpServerStore({ db, scope: { tenantId } }: TenantTransaction) {
  const where = (serverId: string) => ({ tenantId_serverId: { tenantId, serverId } });
  return {
    list: async (): Promise<StoredServer[]> =>
      (await db.mcpServer.findMany({ where: { tenantId }, orderBy: { serverId: 'asc' } })).map(
        toStored,
      ),

    count: (): Promise<number> => db.mcpServer.count({ where: { tenantId } }),

    find: async (serverId: string): Promise<StoredServer | undefined> => {
      const row = await db.mcpServer.findUnique({ where: where(serverId) });
      return row ? toStored(row) : undefined;
    },

    /** The same, locked until the transaction ends. */
    findForUpdate: async (serverId: string): Promise<StoredServer | undefined> => {
      await db.$queryRaw`
        SELECT 1 FROM mcp_servers
        WHERE tenant_id = ${tenantId}::uuid AND server_id = ${serverId} FOR UPDATE`;
      const row = await db.mcpServer.findUnique({ where: where(serverId) });
      return row ? toStored(row) : undefined;
    },

    insert: async ({ server, ciphertext }: StoredServer): Promise<void> => {
      await db.mcpServer.create({
        data: { tenantId, ...server, credentialCiphertext: ciphertext },
      });
    },

    update: async ({ server, ciphertext }: StoredServer): Promise<void> => {
      const { serverId, ...fields } = server;
      await db.mcpServer.update({
        where: where(serverId),
        data: { ...fields, credentialCiphertext: ciphertext },
      });
    },

    delete: async (serverId: string): Promise<void> => {
      await db.mcpServer.delete({ where: where(serverId) });
    },
  };
}

function toStored({ tenantId: _, credentialCiphertext, ...row }: Row): StoredServer {
  // The table's CHECK constraints tie transport, url and local name together.
  return { server: row as McpServer, ciphertext: credentialCiphertext };
}
