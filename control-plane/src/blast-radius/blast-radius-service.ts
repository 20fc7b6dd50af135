/** A tenant's blast radius. A change goes into the bundle; the answer comes once it is enforced. */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import type { BundleBuilder } from '../bundles/bundle-builder.ts';
import { formerValues } from '../platform/admin-details.ts';
import type { TenantDatabase, TenantScope } from '../platform/database/tenant-scope.ts';
import type { BlastRadiusPatch } from './blast-radius-schemas.ts';
import { type BlastRadius, blastRadiusStore } from './blast-radius-store.ts';

export interface BlastRadiusServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  bundles: Pick<BundleBuilder, 'requestBuild'>;
  applied: AppliedBarrier;
}

export type BlastRadiusService = ReturnType<typeof createBlastRadiusService>;

export function createBlastRadiusService({ db, bundles, applied }: BlastRadiusServiceDeps) {
  return {
    get: (scope: TenantScope): Promise<BlastRadius> =>
      db.inTenant(scope, (tx) => blastRadiusStore(tx).get()),

    change: async (scope: TenantScope, patch: BlastRadiusPatch): Promise<BlastRadius> => {
      const changed = await db.inTenant(scope, async (tx) => {
        const store = blastRadiusStore(tx);
        // What changes nothing makes nothing the tenant's own.
        if (Object.keys(patch).length === 0) return store.get();
        const { settings: before } = await store.getForUpdate();
        const settings = { ...before, ...patch };
        await store.put(settings);
        tx.audit.append({
          action: 'blast_radius_updated',
          target: 'blast_radius',
          details: {
            ...settings,
            fields: Object.keys(patch).sort(),
            before: formerValues(before, settings),
          },
        });
        return { settings, isCustom: true };
      });
      const { revision } = await bundles.requestBuild(scope.tenantId);
      await applied.wait(scope.tenantId, { bundleRevision: revision });
      return changed;
    },
  };
}
