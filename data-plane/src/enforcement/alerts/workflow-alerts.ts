/** Alerts about agents in workflows. */
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import type { AgentCall } from '../call/calls.ts';

export type WorkflowAlerts = ReturnType<typeof createWorkflowAlerts>;

export function createWorkflowAlerts({ raiseAlert }: { raiseAlert: RaiseAlert }) {
  const about = (call: AgentCall) => ({
    event_id: call.id,
    mcp_server: cut(call.ask.serverId),
    tool_name: cut(call.ask.name),
  });
  return {
    /** An agent calls in a session of a workflow without being a participant. */
    unexpectedParticipant: (call: AgentCall, workflow_id: string, session_id: string): void =>
      raiseAlert(call.caller.tenantId, {
        alert_type: 'WORKFLOW_PARTICIPANT_UNEXPECTED',
        severity: 'high',
        title: 'An agent calls in a workflow that it takes no part in',
        agent_id: call.agent.id,
        details: { ...about(call), workflow_id, workflow_session_id: session_id },
        dedupe_key: `workflow-participant:${workflow_id}:${call.agent.id}`,
      }),
    /** The parent that a call names does not belong to its session. */
    parentIgnored: (call: AgentCall, session_id: string | null, why: string): void =>
      raiseAlert(call.caller.tenantId, {
        alert_type: 'WORKFLOW_PARENT_IGNORED',
        severity: 'low',
        title: 'A call names a parent event outside its workflow session',
        agent_id: call.agent.id,
        details: { ...about(call), workflow_session_id: session_id, reason: why },
        dedupe_key: `workflow-parent:${session_id}:${call.agent.id}`,
      }),
  };
}

function cut(text: string): string {
  return text.slice(0, 256);
}
