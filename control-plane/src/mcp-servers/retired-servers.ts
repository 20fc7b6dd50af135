/**
 * The ids of deleted servers. An id that was a server's stays one: otherwise deleting `files` would
 * turn the permission `files:read` into one for the tool `files` of any other server.
 */
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

/** Ids kept per tenant; all are in its bundle. Beyond the first number, only those that a role names. */
export const MAX_RETIRED = { ofAll: 2_000, named: 5_000 };

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

/** Keeps a deleted server's id. Of too many, the oldest are dropped, first those that no role names. */
export async function retireServerId(
  { db, scope: { tenantId } }: TenantTransaction,
  serverId: string,
  at: Date,
): Promise<void> {
  await db.$executeRaw`
    INSERT INTO retired_servers (tenant_id, server_id, retired_at)
    VALUES (${tenantId}::uuid, ${serverId}, ${at})
    ON CONFLICT (tenant_id, server_id) DO UPDATE SET retired_at = EXCLUDED.retired_at`;
  const newest = await db.$queryRaw<{ id: string }[]>`
    SELECT server_id AS id FROM retired_servers WHERE tenant_id = ${tenantId}::uuid
    ORDER BY retired_at DESC, server_id`;
  const old = newest.slice(MAX_RETIRED.ofAll).map(({ id }) => id);
  if (old.length === 0) return;
  const named = new Set(await listNamed(db, tenantId));
  const kept = new Set(old.filter((id) => named.has(id)).slice(0, MAX_RETIRED.named));
  await db.retiredServer.deleteMany({
    where: { tenantId, serverId: { in: old.filter((id) => !kept.has(id)) } },
  });
}

/** The resources of the tenant's permissions: what stands before the action, after the last colon. */
async function listNamed(db: TenantTransaction['db'], tenantId: string): Promise<string[]> {
  const rows = await db.$queryRaw<{ resource: string }[]>`
    SELECT DISTINCT left(permission, length(permission) - strpos(reverse(permission), ':'))
      AS resource
    FROM roles, unnest(permissions) AS permission WHERE roles.tenant_id = ${tenantId}::uuid`;
  return rows.map(({ resource }) => resource);
}

/**
 * A registered server's id is no longer that of a deleted one.
 *
 * @returns whether it was: what was said of that one since then is not meant for this one
 */
export async function reuseServerId(
  { db, scope: { tenantId } }: TenantTransaction,
  serverId: string,
): Promise<boolean> {
  const { count } = await db.retiredServer.deleteMany({ where: { tenantId, serverId } });
  return count > 0;
}
