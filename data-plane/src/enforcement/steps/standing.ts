import type { AgentCall, Continue, Deny } from '../calls.ts';
import { type EligibilityDeps, findTenantIneligibility } from '../eligibility.ts';
import { proceed } from '../pipeline-builder.ts';
import { countDenied, type RateLimitDeps } from './rate-limit.ts';

/**
 * Whether this data plane may serve the tenant at all: its rules are not too old, it was not
 * revoked, its stream is its own, and the operator did not engage the local kill switch.
 */
export function checkStanding<C extends AgentCall>(
  call: C,
  deps: Pick<EligibilityDeps, 'findDenial'> & RateLimitDeps,
): Continue<C> | Deny {
  const denial = call.bar ?? findTenantIneligibility(call.caller.tenantId, deps);
  return denial === undefined ? proceed(call) : countDenied(call, denial, deps);
}
