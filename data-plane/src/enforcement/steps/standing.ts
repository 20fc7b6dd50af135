import type { AgentCall, Continue, Deny } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';
import { type EligibilityDeps, findTenantIneligibility } from '../permission/eligibility.ts';
import { countDenied, type RateLimitDeps } from './rate-limit.ts';

/**
 * Denies all calls of a tenant that this data plane may not serve now, for one of the reasons of
 * `PlaneDenial`.
 */
export function checkTenantEligibility<C extends AgentCall>(
  call: C,
  deps: Pick<EligibilityDeps, 'findDenial'> & RateLimitDeps,
): Continue<C> | Deny {
  const denial = call.ineligibility ?? findTenantIneligibility(call.caller.tenantId, deps);
  return denial === undefined ? proceed(call) : countDenied(call, denial, deps);
}
