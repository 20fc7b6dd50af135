import type { InboundSettings } from '@governance/shared/settings/inbound-settings';
import { raiseAlert } from '../alerts/raise-alert.ts';
import { formerValues } from '../platform/admin-details.ts';
import type { TenantScope, TenantTransaction } from '../platform/database/tenant-scope.ts';
import {
  changedSettings,
  type TenantSettings,
  type TenantSettingsPatch,
} from '../tenants/tenant-settings.ts';
import { tenantSettingsStore } from '../tenants/tenant-settings-store.ts';
import { type InboundDeps, readSourceRules } from './inbound-rule-service.ts';
import { readPins } from './pinned-tool-service.ts';

export type TenantSettingsService = ReturnType<typeof createTenantSettingsService>;

export function createTenantSettingsService({ db, bundles, applied, now }: InboundDeps) {
  return {
    get: (scope: TenantScope): Promise<TenantSettings> =>
      db.inTenant(scope, (tx) => tenantSettingsStore(tx).get()),

    /** Returns when the change is in force. */
    change: async (scope: TenantScope, patch: TenantSettingsPatch): Promise<TenantSettings> => {
      const changed = await db.inTenant(scope, async (tx) => {
        const store = tenantSettingsStore(tx);
        const before = await store.getForUpdate();
        const settings = changedSettings(before, patch);
        const at = now();
        await store.update(settings, at);
        tx.audit.append({
          action: 'tenant_settings_updated',
          target: 'tenant_settings',
          details: { ...patch, before: formerValues(before, settings) },
        });
        const wasReviewed = before.policies.require_change_requests;
        if (wasReviewed && !settings.policies.require_change_requests)
          await alertOfNoReview(tx, at);
        return settings;
      });
      const { revision } = await bundles.requestBuild(scope.tenantId);
      await applied.wait(scope.tenantId, { bundleRevision: revision });
      return changed;
    },
  };
}

/** One person may turn change requests off, but not unnoticed. */
async function alertOfNoReview(tx: TenantTransaction, now: Date): Promise<void> {
  await raiseAlert(tx, {
    alertType: 'POLICY_REVIEW_TURNED_OFF',
    severity: 'high',
    agentId: null,
    title: 'Active policies may be changed without a change request',
    details: { actor: tx.scope.actor.username },
    dedupeKey: null,
    now,
  });
}

/** Member `inbound` of the bundle's settings. */
export async function readInboundSettings(
  tx: TenantTransaction,
  now: Date,
): Promise<InboundSettings> {
  const { inbound, pinned_tools } = await tenantSettingsStore(tx).get();
  return {
    actions: inbound.actions,
    ...(inbound.untrusted_actions && { untrusted_actions: inbound.untrusted_actions }),
    rules: await readSourceRules(tx, now),
    pinned_tools: { ...pinned_tools, pins: await readPins(tx) },
  };
}
