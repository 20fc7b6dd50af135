/** How long a call waits for a person, as carried by a bundle (specification 1, section 3). */
import { z } from 'zod';

/** One minute to seven days. */
export const HoldMinutes = z
  .int()
  .min(1)
  .max(7 * 24 * 60);

export const HoldSettings = z.looseObject({
  /** By the risk tier of the agent. */
  timeout_minutes: z.object({
    low: HoldMinutes,
    medium: HoldMinutes,
    high: HoldMinutes,
    critical: HoldMinutes,
  }),
});
export type HoldSettings = z.infer<typeof HoldSettings>;

/** The defaults of a tenant: the riskier the agent, the shorter the time. */
export const DEFAULT_HOLD_SETTINGS: HoldSettings = {
  timeout_minutes: { low: 60, medium: 30, high: 15, critical: 5 },
};

/** How long an approval can be used by its call. */
export const GRANT_MS = 10 * 60_000;
