/** What held calls and held results tell approvers and agents alike. */
import { isoTime } from '@governance/shared/iso-time';
import type { Hold } from '../holds/hold.ts';
import type { HoldEnd } from '../holds/kept-hold.ts';
import type { DecisionFields } from './audit.ts';

/**
 * The members of the record that opens a hold. Data protection was applied to what the decision
 * repeats of its call.
 */
export function heldMembers(hold: Hold, decision: DecisionFields) {
  return {
    bundle_revision: decision.bundle_revision,
    escalation_id: hold.id,
    event_id: decision.id,
    agent_id: decision.agent_id,
    requester_id: decision.requester_id,
    mcp_server: decision.mcp_server ?? '',
    method: decision.method,
    tool_name: decision.tool_name ?? '',
    instruction_hash: decision.instruction_hash,
    target: decision.target,
    risk_tier: decision.risk_tier,
    timeout_at: isoTime(hold.timeoutAt),
  };
}

/** For an answer: how long a person may still decide, if at all. */
export function untilWhen(kind: HoldEnd['kind'], { timeoutAt }: Hold): { timeout_at?: string } {
  return kind === 'pending' ? { timeout_at: isoTime(timeoutAt) } : {};
}
