import type { AgentCall, Continue, Deny } from '../calls.ts';
import { type EligibilityDeps, findAgentIneligibility } from '../eligibility.ts';
import { proceed } from '../pipeline-builder.ts';
import { countDenied, type RateLimitDeps } from './rate-limit.ts';

/**
 * Right after authentication: a suspended or deprovisioned agent, or one that the tenant's kill
 * switch caught, gets nowhere. Its calls are recorded, since it is known whose they are, as far as
 * its rate limit goes.
 */
export function checkKillSwitch<C extends AgentCall>(
  call: C,
  deps: { replica: Pick<EligibilityDeps['replica'], 'findKillSwitch'> } & RateLimitDeps,
): Continue<C> | Deny {
  const denial = findAgentIneligibility(call.caller.tenantId, call.agent, deps);
  return denial === undefined ? proceed(call) : countDenied(call, denial, deps);
}
