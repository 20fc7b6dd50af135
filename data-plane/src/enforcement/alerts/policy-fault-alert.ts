import type { PolicyFault } from '@governance/policies/contract';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import { shownName } from '../call/call-kinds.ts';
import type { ClassifiedCall, ScannedCall } from '../call/calls.ts';

const OUT_OF_FUEL = {
  alert_type: 'POLICY_OUT_OF_FUEL',
  title: 'A policy used up its computing budget and its calls are denied',
  dedupe: 'policy-out-of-fuel',
} as const;
const FAILED = {
  alert_type: 'POLICY_FAILED',
  title: 'A policy failed and the calls it failed on are denied',
  dedupe: 'policy-failed',
} as const;

/**
 * Raises POLICY_OUT_OF_FUEL (a policy exceeded its fuel) or POLICY_FAILED (conflicting values, too
 * much memory, a failed built-in). The calls are denied and recorded anyway; the alert tells a
 * person that a policy has to be changed.
 */
export function createPolicyFaultAlert(raise: RaiseAlert) {
  return (call: ClassifiedCall & Partial<ScannedCall>, fault: PolicyFault): void => {
    const { alert_type, title, dedupe } = fault === 'out_of_fuel' ? OUT_OF_FUEL : FAILED;
    const revision = call.rules?.revision ?? null;
    raise(call.caller.tenantId, {
      alert_type,
      severity: 'high',
      title,
      bundle_revision: revision,
      agent_id: call.agent.id,
      details: {
        fault,
        event_id: call.id,
        mcp_server: call.ask.serverId,
        tool_name: shownName(call),
        bundle_revision: revision,
      },
      // One open alert for each bundle: a new bundle may have fixed the policy.
      dedupe_key: `${dedupe}:${call.rules?.digest ?? 'none'}`,
    });
  };
}
