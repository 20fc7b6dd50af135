/** The wire shapes of /api/v1/admin/rate-limits. */
import { RATE_LIMIT_FIELDS, RATE_TIERS } from '@governance/shared/settings/rate-limit-settings';
import { GivenId, Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { listOf, pageQuery, QueryTime } from '../platform/http/schemas.ts';
import type { RateLimits } from './rate-limit-store.ts';
import type { RefusedHour } from './rate-limited-calls.ts';

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
    /** False: the defaults apply, since the tenant never changed them. */
    is_custom: z.boolean(),
  })
  .meta({ id: 'RateLimits' });

export function toView({ settings, isCustom }: RateLimits): z.input<typeof RateLimitView> {
  return { ...settings, is_custom: isCustom };
}

export const RefusedQuery = z.object({
  agent_id: GivenId.optional(),
  /** `from` and `to` apply to the beginning of the hour. */
  from: QueryTime.optional(),
  to: QueryTime.optional(),
  ...pageQuery({ default: 100, max: 1_000, offset: { max: 1_000_000 } }),
});

const RefusedView = z
  .object({
    agent_id: z.string(),
    /** The beginning of the hour. */
    hour: Timestamp,
    /** Refused calls in that hour, at all data planes. */
    refused: z.int(),
    last_at: Timestamp,
    /** The limit that refused the last one. */
    requests: z.int(),
    window_seconds: z.int(),
    risk_tier: z.enum(RATE_TIERS),
  })
  .meta({ id: 'RateLimitedCalls' });

export const RefusedList = listOf('hours', RefusedView);

export function toRefusedView(hour: RefusedHour): z.input<typeof RefusedView> {
  return {
    agent_id: hour.agentId,
    hour: hour.hour.toISOString(),
    refused: Number(hour.refused),
    last_at: hour.lastAt.toISOString(),
    requests: Number(hour.requests),
    window_seconds: Number(hour.windowSeconds),
    risk_tier: hour.riskTier as z.input<typeof RefusedView>['risk_tier'],
  };
}
