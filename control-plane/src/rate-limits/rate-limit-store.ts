import {
  DEFAULT_RATE_LIMITS,
  RateLimitSettings,
} from '@governance/shared/settings/rate-limit-settings';
import { readStored } from '../platform/database/damaged-rows.ts';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

/** A tenant's rate limits, and whether the tenant set them. */
export interface RateLimits {
  settings: RateLimitSettings;
  isCustom: boolean;
}

/** This feature's row, of the transaction's tenant. */
export function rateLimitStore({ db, scope: { tenantId } }: TenantTransaction) {
  const get = async (): Promise<RateLimits> => {
    const row = await db.rateLimitSetting.findUnique({ where: { tenantId } });
    if (!row) return { settings: DEFAULT_RATE_LIMITS, isCustom: false };
    return { settings: readStored(RateLimitSettings, row, 'rate_limit_settings'), isCustom: true };
  };
  return {
    get,

    /** The settings, locked until the transaction ends. */
    getForUpdate: async (): Promise<RateLimits> => {
      // Before the first change there is no row to lock.
      await lockInTenant(db, 'rate-limits', tenantId);
      return get();
    },

    put: async ({ enabled, limits }: RateLimitSettings): Promise<void> => {
      await db.rateLimitSetting.upsert({
        where: { tenantId },
        create: { tenantId, enabled, limits },
        update: { enabled, limits },
      });
    },
  };
}
