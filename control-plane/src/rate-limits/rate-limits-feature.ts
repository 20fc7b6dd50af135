import type { TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { Feature } from '../platform/feature.ts';
import { rateLimitRoutes } from './rate-limit-routes.ts';
import { createRateLimitService, type RateLimitServiceDeps } from './rate-limit-service.ts';
import { rateLimitStore } from './rate-limit-store.ts';
import { createRefusedPurge, rateLimitedProjection } from './rate-limited-calls.ts';

export interface RateLimitsDeps extends RateLimitServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  now: () => Date;
  settledNow: () => Date;
}

export const rateLimitsFeature = (core: RateLimitsDeps): Feature => ({
  routes: [rateLimitRoutes(createRateLimitService(core))],
  settings: { rate_limits: async (tx) => (await rateLimitStore(tx).get()).settings },
  projections: [rateLimitedProjection(core.now)],
  tasks: [createRefusedPurge({ ...core, now: core.settledNow })],
});
