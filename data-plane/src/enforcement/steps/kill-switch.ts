import type { AgentCall, Continue, Deny } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';
import { type EligibilityDeps, findAgentIneligibility } from '../permission/eligibility.ts';
import { countDenied, type RateLimitDeps } from './rate-limit.ts';

/**
 * Denies calls of an agent that is suspended or deprovisioned, or stopped by the tenant's kill
 * switch. Directly after authentication and standing. The denials are recorded, since the agent is
 * known, but only within its rate limit.
 */
export function checkKillSwitch<C extends AgentCall>(
  call: C,
  deps: { replica: Pick<EligibilityDeps['replica'], 'findKillSwitch'> } & RateLimitDeps,
): Continue<C> | Deny {
  const denial = findAgentIneligibility(call.caller.tenantId, call.agent, deps);
  return denial === undefined ? proceed(call) : countDenied(call, denial, deps);
}
