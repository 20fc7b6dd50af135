/** How often an agent may call, as carried by a bundle (specification 1, section 8). */
import { z } from 'zod';

/** From the lowest to the highest. */
export const RATE_TIERS = ['low', 'medium', 'high', 'critical'] as const;
export type RateTier = (typeof RATE_TIERS)[number];

export const RATE_LIMIT_FIELDS = {
  /** Calls within a window, 1 to 10,000,000. */
  requests: z.int().min(1).max(10_000_000),
  /** Up to an hour. */
  window_seconds: z.int().min(1).max(3_600),
};

export const RateLimit = z.object(RATE_LIMIT_FIELDS);
export type RateLimit = z.infer<typeof RateLimit>;

export const RateLimitSettings = z.object({
  enabled: z.boolean(),
  limits: z.object({ low: RateLimit, medium: RateLimit, high: RateLimit, critical: RateLimit }),
});
export type RateLimitSettings = z.infer<typeof RateLimitSettings>;

/**
 * The defaults of a tenant: ten calls a second for an agent of low risk, over a minute, which is
 * more than one that works with a model makes and far less than a runaway agent.
 */
export const DEFAULT_RATE_LIMITS: RateLimitSettings = {
  enabled: true,
  limits: {
    low: { requests: 600, window_seconds: 60 },
    medium: { requests: 300, window_seconds: 60 },
    high: { requests: 120, window_seconds: 60 },
    critical: { requests: 30, window_seconds: 60 },
  },
};

/**
 * The first tier that allows more calls than the tier below it, a second or within a window;
 * undefined where none does. Both count: a long window allows a burst of all its calls at once.
 */
export function findLooserTier(
  limits: RateLimitSettings['limits'],
):
  | { readonly tier: RateTier; readonly below: RateTier; readonly by: 'rate' | 'burst' }
  | undefined {
  for (const [at, tier] of RATE_TIERS.slice(1).entries()) {
    const below = RATE_TIERS[at] as RateTier;
    const [lower, higher] = [limits[below], limits[tier]];
    const isFaster =
      higher.requests / higher.window_seconds > lower.requests / lower.window_seconds;
    if (isFaster) return { tier, below, by: 'rate' };
    if (higher.requests > lower.requests) return { tier, below, by: 'burst' };
  }
  return undefined;
}
