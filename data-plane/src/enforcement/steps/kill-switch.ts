import type { AgentCall, Continue, Deny } from '../calls.ts';
import { type EligibilityDeps, findAgentIneligibility } from '../eligibility.ts';
import { proceed } from '../pipeline-builder.ts';

/**
 * Right after authentication: a suspended or deprovisioned agent, or one that the tenant's kill
 * switch caught, gets nowhere. Its calls are recorded, since it is known whose they are.
 */
export function checkKillSwitch<C extends AgentCall>(
  call: C,
  deps: { replica: Pick<EligibilityDeps['replica'], 'findKillSwitch'> },
): Continue<C> | Deny {
  return findAgentIneligibility(call.caller.tenantId, call.agent, deps) ?? proceed(call);
}
