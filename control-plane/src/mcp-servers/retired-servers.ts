/**
 * The ids of deleted servers. An id that was a server's stays one: otherwise deleting `files` would
 * turn the permission `files:read` into one for the tool `files` of any other server.
 */
import type { TenantTransaction } from '../platform/tenant-scope.ts';

/** Ids kept per tenant whether or not a role names them; all are in its bundle. */
export const MAX_RETIRED = 2_000;

/**
 * The ids of the servers that data planes may not use, disabled or deleted. They have to know them:
 * a permission that names one covers no tool of another server that is called like it.
 */
export async function readOtherServerIds({ db, scope }: TenantTransaction): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT server_id AS id FROM mcp_servers
    WHERE tenant_id = ${scope.tenantId}::uuid AND NOT enabled
    UNION SELECT server_id FROM retired_servers WHERE tenant_id = ${scope.tenantId}::uuid
    ORDER BY id`;
  return rows.map(({ id }) => id);
}

/** Keeps a deleted server's id. Of more than MAX_RETIRED, the oldest that no role names are dropped. */
export async function retireServerId(
  { db, scope: { tenantId } }: TenantTransaction,
  serverId: string,
  at: Date,
): Promise<void> {
  await db.$executeRaw`
    INSERT INTO retired_servers (tenant_id, server_id, retired_at)
    VALUES (${tenantId}::uuid, ${serverId}, ${at})
    ON CONFLICT (tenant_id, server_id) DO UPDATE SET retired_at = EXCLUDED.retired_at`;
  // A permission ends with its action, after the last colon.
  await db.$executeRaw`
    DELETE FROM retired_servers old
    WHERE tenant_id = ${tenantId}::uuid
      AND server_id IN (
        SELECT server_id FROM retired_servers WHERE tenant_id = ${tenantId}::uuid
        ORDER BY retired_at DESC, server_id OFFSET ${MAX_RETIRED})
      AND NOT EXISTS (
        SELECT FROM roles, unnest(permissions) AS permission
        WHERE roles.tenant_id = ${tenantId}::uuid
          AND left(permission, length(permission) - strpos(reverse(permission), ':'))
            = old.server_id)`;
}

/** A registered server's id is no longer that of a deleted one. */
export async function reuseServerId(
  { db, scope: { tenantId } }: TenantTransaction,
  serverId: string,
): Promise<void> {
  await db.retiredServer.deleteMany({ where: { tenantId, serverId } });
}
