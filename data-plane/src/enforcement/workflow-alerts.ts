/** What a person is told of agents in workflows. */
import { LRUCache } from 'lru-cache';
import type { RaiseAlert } from '../alerts/raise-alert.ts';
import type { AgentCall } from './calls.ts';

/** The window in which requesters that do not match count as one matter. */
const MISMATCH_WINDOW_MS = 15 * 60_000;
const PROBES = 3;
const MAX_COUNTED = 10_000;
const MAX_NAMES = 10;

export interface WorkflowAlerts {
  /** An agent calls in a session of a workflow that it takes no part in. */
  unexpectedParticipant(call: AgentCall, workflowId: string, sessionId: string): void;
  /** The parent that a call names is none of its session. */
  parentIgnored(call: AgentCall, sessionId: string | null, why: string): void;
  /** Another requester is named than the delegation's. */
  requesterMismatch(call: AgentCall, delegationId: string): void;
  /** A call leaves its delegation's scope. */
  scopeProbe(call: AgentCall, delegationId: string, probe: Record<string, unknown>): void;
}

/** Builds it. */
export function createWorkflowAlerts(deps: {
  raiseAlert: RaiseAlert;
  /** Unix milliseconds. */
  now(): number;
}): WorkflowAlerts {
  const { raiseAlert, now } = deps;
  const probes = new LRUCache<string, number>({ max: MAX_COUNTED });
  const mismatches = new LRUCache<string, { since: number; names: Set<string> }>({
    max: MAX_COUNTED,
  });
  const about = (call: AgentCall) => ({
    event_id: call.id,
    mcp_server: storable(call.ask.serverId),
    tool_name: storable(call.ask.name),
  });
  return {
    unexpectedParticipant: (call, workflow_id, session_id) =>
      raiseAlert(call.caller.tenantId, {
        alert_type: 'WORKFLOW_PARTICIPANT_UNEXPECTED',
        severity: 'high',
        title: 'An agent calls in a workflow that it takes no part in',
        agent_id: call.agent.id,
        details: { ...about(call), workflow_id, workflow_session_id: session_id },
        dedupe_key: `workflow-participant:${workflow_id}:${call.agent.id}`,
      }),
    parentIgnored: (call, session_id, why) =>
      raiseAlert(call.caller.tenantId, {
        alert_type: 'WORKFLOW_PARENT_IGNORED',
        severity: 'low',
        title: 'A call names a parent event that is none of its workflow session',
        agent_id: call.agent.id,
        details: { ...about(call), workflow_session_id: session_id, reason: why },
        dedupe_key: `workflow-parent:${session_id}:${call.agent.id}`,
      }),
    requesterMismatch(call, delegation_id) {
      const { tenantId, requesterId } = call.caller;
      const key = `${tenantId} ${call.agent.id} ${delegation_id}`;
      const at = now();
      const known = mismatches.get(key);
      const isOpen = known !== undefined && known.since + MISMATCH_WINDOW_MS > at;
      const window = isOpen ? known : { since: at, names: new Set<string>() };
      if (!isOpen) mismatches.set(key, window);
      const name = requesterId ?? '';
      if (window.names.has(name) || window.names.size >= MAX_NAMES) return;
      window.names.add(name);
      raiseAlert(tenantId, {
        alert_type: 'REQUESTER_IDENTITY_MISMATCH',
        severity: 'high',
        title: 'A delegated call names another requester than its delegation',
        agent_id: call.agent.id,
        // How many, and not who: the tenant's data protection may keep names out of records.
        details: { ...about(call), delegation_id, names: window.names.size },
        dedupe_key: `requester-mismatch:${delegation_id}:${call.agent.id}`,
      });
    },
    scopeProbe(call, delegation_id, probe) {
      const key = `${call.caller.tenantId} ${delegation_id}`;
      const count = (probes.get(key) ?? 0) + 1;
      probes.set(key, count);
      if (count < PROBES) return;
      raiseAlert(call.caller.tenantId, {
        alert_type: 'DELEGATION_SCOPE_PROBE',
        severity: 'high',
        title: 'An agent tries again and again what its delegation does not cover',
        agent_id: call.agent.id,
        details: { ...about(call), delegation_id, probes: count, ...probe },
        dedupe_key: `delegation-probe:${delegation_id}`,
      });
    },
  };
}

function storable(text: string): string {
  return text.slice(0, 256).replaceAll('\u0000', '\ufffd').toWellFormed();
}
