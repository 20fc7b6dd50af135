import type { RateLimitSettings } from '@governance/shared/settings/rate-limit-settings';

const UNREACHED = { requests: 10_000_000, window_seconds: 1 };

/** Limits that count each call, as a tenant's do, and refuse none. */
export const UNREACHED_LIMITS: RateLimitSettings = {
  enabled: true,
  limits: { low: UNREACHED, medium: UNREACHED, high: UNREACHED, critical: UNREACHED },
};
