import type { ReachFinding } from '@governance/shared/detect/reach/reach-finding';
import { pointerWithoutText } from '@governance/shared/json/json-pointer';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import { shownName } from '../call/call-kinds.ts';
import type { ClassifiedCall, ScannedCall } from '../call/calls.ts';
import { coverMatched, NO_MARKS } from '../call/cover-texts.ts';

/**
 * Raises BLAST_RADIUS_ESCALATION for a call that exceeds its blast radius, whether it is denied or
 * escalated (`details.verdict`). There is one open alert for each agent and rule.
 */
export function createBlastRadiusAlert(
  raise: RaiseAlert,
  count: (rule: ReachFinding['rule'], verdict: ReachFinding['verdict']) => void,
) {
  return (call: ClassifiedCall & Partial<ScannedCall>, findings: readonly ReachFinding[]): void => {
    const { agent, ask, caller, rules, dlp } = call;
    // A member may be named by a path, by an address, or by what DLP warned of.
    const shown = (place: string) =>
      pointerWithoutText(coverMatched(place, dlp?.matched ?? NO_MARKS));
    for (const { rule, verdict, message, place } of findings) {
      count(rule, verdict);
      raise(caller.tenantId, {
        alert_type: 'BLAST_RADIUS_ESCALATION',
        severity: verdict === 'deny' ? 'high' : 'medium',
        title: 'A call exceeds its blast radius',
        bundle_revision: rules?.revision ?? null,
        agent_id: agent.id,
        details: {
          rule,
          verdict,
          message,
          place: shown(place),
          event_id: call.id,
          mcp_server: ask.serverId,
          tool_name: shownName(call),
        },
        dedupe_key: `blast-radius:${agent.id}:${rule}`,
      });
    }
  };
}
