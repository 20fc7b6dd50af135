import { readStored } from '../platform/database/damaged-rows.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { TenantSettings } from './tenant-settings.ts';

/** The settings row of the transaction's tenant; the first change creates it. */
export function tenantSettingsStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    get: async (): Promise<TenantSettings> => {
      const row = await db.tenantSettings.findUnique({ where: { tenantId } });
      return readStored(TenantSettings, row?.settings ?? {}, 'tenant_settings');
    },

    /** The settings, locked until the transaction ends; creates the row if there is none. */
    getForUpdate: async (): Promise<TenantSettings> => {
      await db.$executeRaw`
        INSERT INTO tenant_settings (tenant_id) VALUES (${tenantId}::uuid) ON CONFLICT DO NOTHING`;
      const [row] = await db.$queryRaw<{ settings: unknown }[]>`
        SELECT settings FROM tenant_settings WHERE tenant_id = ${tenantId}::uuid FOR UPDATE`;
      return readStored(TenantSettings, row?.settings ?? {}, 'tenant_settings');
    },

    update: async (settings: TenantSettings, updatedAt: Date): Promise<void> => {
      await db.tenantSettings.update({ where: { tenantId }, data: { settings, updatedAt } });
    },
  };
}

/** Whether the tenant's active policies change only by change requests. */
export async function requiresChangeRequests(tx: TenantTransaction): Promise<boolean> {
  return (await tenantSettingsStore(tx).get()).policies.require_change_requests;
}
