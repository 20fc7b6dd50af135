/**
 * A tenant's rate limits. A change is published in the bundle, and the request is answered once it
 * is enforced.
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import {
  findLooserTier,
  RATE_TIERS,
  type RateLimitSettings,
} from '@governance/shared/settings/rate-limit-settings';
import type { BundleBuilder } from '../bundles/bundle-builder.ts';
import { formerValues } from '../platform/admin-details.ts';
import type { Page } from '../platform/database/page.ts';
import type { TenantDatabase, TenantScope } from '../platform/database/tenant-scope.ts';
import type { RateLimitPatch } from './rate-limit-schemas.ts';
import { type RateLimits, rateLimitStore } from './rate-limit-store.ts';
import { listRefused, type RefusedFilter } from './rate-limited-calls.ts';

export interface RateLimitServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  bundles: Pick<BundleBuilder, 'requestBuild'>;
  applied: AppliedBarrier;
}

export type RateLimitService = ReturnType<typeof createRateLimitService>;

export function createRateLimitService({ db, bundles, applied }: RateLimitServiceDeps) {
  return {
    get: (scope: TenantScope): Promise<RateLimits> =>
      db.inTenant(scope, (tx) => rateLimitStore(tx).get()),

    /** Refused calls, by agent and hour. */
    listRefused: (scope: TenantScope, filter: RefusedFilter, page: Page) =>
      listRefused(db, scope, filter, page),

    /** @throws AppError VALIDATION_FAILED where a higher tier would be allowed more */
    change: async (scope: TenantScope, patch: RateLimitPatch): Promise<RateLimits> => {
      const changed = await db.inTenant(scope, async (tx) => {
        const store = rateLimitStore(tx);
        // What changes nothing makes nothing the tenant's own.
        if (Object.keys(patch).length === 0) return store.get();
        const { settings: before } = await store.getForUpdate();
        const settings = changedLimits(before, patch);
        await store.put(settings);
        tx.audit.append({
          action: 'rate_limits_updated',
          target: 'rate_limits',
          details: { ...settings, before: formerValues(before, settings) },
        });
        return { settings, isCustom: true };
      });
      const { revision } = await bundles.requestBuild(scope.tenantId);
      await applied.wait(scope.tenantId, { bundleRevision: revision });
      return changed;
    },
  };
}

const MORE = { rate: 'a second', burst: 'requests in a window' } as const;

function changedLimits(before: RateLimitSettings, patch: RateLimitPatch): RateLimitSettings {
  const limits = { ...before.limits };
  for (const tier of RATE_TIERS) limits[tier] = { ...limits[tier], ...patch.limits?.[tier] };
  // Limits that an earlier version took stay until they are changed.
  const looser = patch.limits && findLooserTier(limits);
  if (looser === undefined) return { enabled: patch.enabled ?? before.enabled, limits };
  const { tier, below, by } = looser;
  const ofTier = (name: typeof tier) =>
    `${limits[name].requests} in ${limits[name].window_seconds} s`;
  const msg = `${ofTier(tier)} allows more ${MORE[by]} than ${below} with ${ofTier(below)}; change both together`;
  throw new AppError('VALIDATION_FAILED', `body.limits.${tier}: ${msg}`, {
    errors: [{ loc: ['body', 'limits', tier], msg, type: 'custom' }],
  });
}
