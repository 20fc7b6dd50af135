import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

/** Identifies the baseline policy *Local models*, also where a tenant renamed it. */
const DECLARATION = 'package baseline.local_models';

/**
 * Whether the tenant's policy *Local models* is active. Calls to local models then need permissions
 * for `web`, of the caller and of those in whose place it calls; else those for the runtime.
 */
export async function hasLocalModelsPolicy({
  db,
  scope: { tenantId },
}: TenantTransaction): Promise<boolean> {
  const rows = await db.$queryRaw<{ is_active: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM policies
      WHERE tenant_id = ${tenantId}::uuid AND status = 'active' AND rego_package = ${DECLARATION}
    ) AS is_active`;
  return rows[0]?.is_active === true;
}
