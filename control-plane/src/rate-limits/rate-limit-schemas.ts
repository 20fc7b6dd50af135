/** The wire shapes of /api/v1/admin/rate-limits. */
import { RATE_LIMIT_FIELDS } from '@governance/shared/rate-limit-settings';
import { z } from 'zod';
import type { RateLimits } from './rate-limit-store.ts';

const LimitPatch = z.strictObject(RATE_LIMIT_FIELDS).partial().optional();

export const RateLimitPatch = z.strictObject({
  enabled: z.boolean().optional(),
  limits: z
    .strictObject({ low: LimitPatch, medium: LimitPatch, high: LimitPatch, critical: LimitPatch })
    .optional(),
});
export type RateLimitPatch = z.infer<typeof RateLimitPatch>;

const LimitView = z.object({ requests: z.int(), window_seconds: z.int() });

export const RateLimitView = z
  .object({
    enabled: z.boolean(),
    limits: z.object({ low: LimitView, medium: LimitView, high: LimitView, critical: LimitView }),
    /** False: the defaults, since the tenant never changed any. */
    is_custom: z.boolean(),
  })
  .meta({ id: 'RateLimits' });

export function toView({ settings, isCustom }: RateLimits): z.input<typeof RateLimitView> {
  return { ...settings, is_custom: isCustom };
}
