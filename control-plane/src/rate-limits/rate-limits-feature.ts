import type { Feature } from '../platform/feature.ts';
import { rateLimitRoutes } from './rate-limit-routes.ts';
import { createRateLimitService, type RateLimitServiceDeps } from './rate-limit-service.ts';
import { rateLimitStore } from './rate-limit-store.ts';

export const rateLimitsFeature = (core: RateLimitServiceDeps): Feature => ({
  routes: [rateLimitRoutes(createRateLimitService(core))],
  settings: { rate_limits: async (tx) => (await rateLimitStore(tx).get()).settings },
});
