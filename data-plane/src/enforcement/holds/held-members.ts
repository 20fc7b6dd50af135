/** What approvers and agents are told in the same way of held calls and of held results. */
import { isoTime } from '@governance/shared/time/iso-time';
import type { Hold } from '../../holds/hold.ts';
import type { HoldEnd } from '../../holds/kept-hold.ts';
import type { DecisionFields } from '../record/audit.ts';

/**
 * Members of the record that opens a hold. Those that repeat content of the call come from the
 * decision, where data protection was applied to them.
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

/** For an answer: until when a person may decide; nothing where the hold has ended. */
export function untilWhen(kind: HoldEnd['kind'], { timeoutAt }: Hold): { timeout_at?: string } {
  return kind === 'pending' ? { timeout_at: isoTime(timeoutAt) } : {};
}
