/** What is said alike of a held call and of a held result: to those who decide, and to its agent. */
import { isoTime } from '@governance/shared/iso-time';
import type { HoldEnd } from '../holds/held-calls.ts';
import type { Hold } from '../holds/hold.ts';
import type { DecisionFields } from './audit.ts';

/** Of the record that opens a hold. What a decision repeats of its call is as data protection left it. */
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

/** Of an answer: how long a person may still decide, where one may. */
export function untilWhen(kind: HoldEnd['kind'], { timeoutAt }: Hold): { timeout_at?: string } {
  return kind === 'pending' ? { timeout_at: isoTime(timeoutAt) } : {};
}
