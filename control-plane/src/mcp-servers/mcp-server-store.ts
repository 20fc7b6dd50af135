import { ToolActionSetting } from '@governance/shared/bundle/bundle-format';
import { z } from 'zod';
import { damagedRow, readStored } from '../platform/database/damaged-rows.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import type { McpServer } from './mcp-server.ts';

type Row = Awaited<ReturnType<TenantTransaction['db']['mcpServer']['findFirstOrThrow']>>;

/** A row with the secret as it is stored, encrypted. */
export interface StoredServer {
  server: McpServer;
  ciphertext: Uint8Array<ArrayBuffer> | null;
}

/** As text; several times what a request can store. Larger ones would take seconds to read. */
const MAX_STORED_ACTIONS = 512 * 1024;
/** Compressed, none below this size has so much text. */
const LEAST_LARGE = 2_048;

const StoredActions = z.record(z.string(), ToolActionSetting);

/** This feature's rows, of the transaction's tenant. */
export function mcpServerStore({ db, scope: { tenantId } }: TenantTransaction) {
  const where = (serverId: string) => ({ tenantId_serverId: { tenantId, serverId } });

  /** @returns the id of the first of these rows that is larger than this service writes it */
  async function findLarge(rows: Prisma.Sql): Promise<string | undefined> {
    const [large] = await db.$queryRaw<{ server_id: string }[]>`
      SELECT server_id FROM mcp_servers WHERE tenant_id = ${tenantId}::uuid AND ${rows}
        AND CASE WHEN pg_column_size(tool_actions) < ${LEAST_LARGE} THEN false
          ELSE octet_length(tool_actions::text) > ${MAX_STORED_ACTIONS} END
      ORDER BY server_id LIMIT 1`;
    return large?.server_id;
  }

  /** @throws AppError STORED_ROW_DAMAGED */
  async function refuseLarge(rows: Prisma.Sql): Promise<void> {
    const large = await findLarge(rows);
    if (large === undefined) return;
    const fault = 'tool_actions is larger than anything that can be stored there';
    throw damagedRow(`mcp_servers ${large}`, fault);
  }

  return {
    list: async (): Promise<StoredServer[]> => {
      await refuseLarge(Prisma.sql`true`);
      const where = { tenantId };
      return (await db.mcpServer.findMany({ where, orderBy: { serverId: 'asc' } })).map(toChecked);
    },

    count: (): Promise<number> => db.mcpServer.count({ where: { tenantId } }),

    countActionsOfOthers: async (serverId: string): Promise<number> => {
      const [row] = await db.$queryRaw<{ count: bigint }[]>`
        SELECT count(*) AS count FROM mcp_servers, jsonb_object_keys(
          CASE jsonb_typeof(tool_actions) WHEN 'object' THEN tool_actions ELSE '{}' END) name
        WHERE tenant_id = ${tenantId}::uuid AND server_id <> ${serverId}`;
      return Number(row?.count ?? 0);
    },

    find: async (serverId: string): Promise<StoredServer | undefined> => {
      await refuseLarge(Prisma.sql`server_id = ${serverId}`);
      const row = await db.mcpServer.findUnique({ where: where(serverId) });
      return row ? toChecked(row) : undefined;
    },

    /**
     * Finds a server and locks it until the transaction ends. A change that keeps none of the
     * `tool_actions` works even if they are damaged; then too large ones are not read.
     */
    findForUpdate: async (
      serverId: string,
      { keepsActions }: { keepsActions: boolean },
    ): Promise<StoredServer | undefined> => {
      await db.$queryRaw`
        SELECT 1 FROM mcp_servers
        WHERE tenant_id = ${tenantId}::uuid AND server_id = ${serverId} FOR UPDATE`;
      const one = Prisma.sql`server_id = ${serverId}`;
      if (keepsActions) await refuseLarge(one);
      const isLarge = !keepsActions && (await findLarge(one)) !== undefined;
      const row = await db.mcpServer.findUnique({
        where: where(serverId),
        omit: { toolActions: isLarge },
      });
      if (!row) return undefined;
      const whole = { ...row, toolActions: row.toolActions ?? {} };
      return keepsActions ? toChecked(whole) : toStored(whole);
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

function toChecked(row: Row): StoredServer {
  readStored(StoredActions, row.toolActions, `mcp_servers ${row.serverId}`);
  return toStored(row);
}

function toStored({ tenantId: _, credentialCiphertext, ...row }: Row): StoredServer {
  // The table's CHECK constraints tie transport, url and local name together.
  return { server: row as McpServer, ciphertext: credentialCiphertext };
}
