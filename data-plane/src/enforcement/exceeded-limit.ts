import type { RateLimit, RateTier } from '@governance/shared/rate-limit-settings';

/** Of a refused call: by which limit. */
export interface ExceededLimit extends RateLimit {
  readonly tier: RateTier;
  /** Seconds, 1 or more. */
  readonly retryAfter: number;
}
