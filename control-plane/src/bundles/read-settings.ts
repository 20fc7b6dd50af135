import type { BundleSettings } from '@governance/shared/bundle-format';
import { readServerSettings } from '../mcp-servers/mcp-server-service.ts';
import type { TenantTransaction } from '../platform/tenant-scope.ts';

/** The tenant's enforcement settings as they go into `data.json`, and as policies read them. */
export async function readSettings(tx: TenantTransaction): Promise<BundleSettings> {
  return { tenant_id: tx.scope.tenantId, mcp_servers: await readServerSettings(tx) };
}
