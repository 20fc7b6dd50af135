import type { AgentCall, Continue, Deny } from '../calls.ts';
import { type EligibilityDeps, findAgentIneligibility } from '../eligibility.ts';
import { proceed } from '../pipeline-builder.ts';
import { countDenied, type RateLimitDeps } from './rate-limit.ts';

/**
 * Right after authentication: a suspended or deprovisioned agent, or one that the tenant's kill
 * switch caught, gets no further. Its calls are recorded, since their agent is known, within its
 * rate limit.
 */
export function checkKillSwitch<C extends AgentCall>(
  call: C,
  deps: { replica: Pick<EligibilityDeps['replica'], 'findKillSwitch'> } & RateLimitDeps,
): Continue<C> | Deny {
  const denial = findAgentIneligibility(call.caller.tenantId, call.agent, deps);
  return denial === undefined ? proceed(call) : countDenied(call, denial, deps);
}
