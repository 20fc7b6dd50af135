import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { rolesFor } from '../platform/http/role-table.ts';

/**
 * The ids of the users who may decide escalations and change requests, as the transaction sees
 * them.
 */
export async function findResolvers({
  db,
  scope: { tenantId },
}: TenantTransaction): Promise<string[]> {
  const rows = await db.administrator.findMany({
    where: { tenantId, status: 'active', role: { in: [...rolesFor('resolve')] } },
    select: { id: true },
  });
  return rows.map(({ id }) => id);
}
