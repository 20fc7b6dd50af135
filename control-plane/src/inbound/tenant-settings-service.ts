import type { InboundSettings } from '@governance/shared/inbound-settings';
import type { TenantScope, TenantTransaction } from '../platform/tenant-scope.ts';
import { type InboundDeps, readSourceRules } from './inbound-rule-service.ts';
import { readPins } from './pinned-tool-service.ts';
import {
  changedSettings,
  type TenantSettings,
  type TenantSettingsPatch,
} from './tenant-settings.ts';
import { tenantSettingsStore } from './tenant-settings-store.ts';

export type TenantSettingsService = ReturnType<typeof createTenantSettingsService>;

export function createTenantSettingsService({ db, bundles, applied, now }: InboundDeps) {
  return {
    get: (scope: TenantScope): Promise<TenantSettings> =>
      db.inTenant(scope, (tx) => tenantSettingsStore(tx).get()),

    /** Returns when the change is in force. */
    change: async (scope: TenantScope, patch: TenantSettingsPatch): Promise<TenantSettings> => {
      const changed = await db.inTenant(scope, async (tx) => {
        const store = tenantSettingsStore(tx);
        const settings = changedSettings(await store.getForUpdate(), patch);
        await store.update(settings, now());
        tx.audit.append({
          action: 'tenant_settings_updated',
          target: 'tenant_settings',
          details: { ...patch },
        });
        return settings;
      });
      const { revision } = await bundles.requestBuild(scope.tenantId);
      await applied.wait(scope.tenantId, { bundleRevision: revision });
      return changed;
    },
  };
}

/** Member `inbound` of the bundle's settings. */
export async function readInboundSettings(
  tx: TenantTransaction,
  now: Date,
): Promise<InboundSettings> {
  const { inbound, pinned_tools } = await tenantSettingsStore(tx).get();
  return {
    actions: inbound.actions,
    rules: await readSourceRules(tx, now),
    pinned_tools: { ...pinned_tools, pins: await readPins(tx) },
  };
}
