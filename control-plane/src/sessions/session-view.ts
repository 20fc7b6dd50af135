/** Agent sessions and their events on the wire (specification 1, sections 2 and 4). */
import { z } from 'zod';
import { AuditEvent, toAuditEvent } from '../audit/audit-event.ts';
import type { LedgerRow } from '../chain/ledger-row.ts';

export const SessionStatus = z.enum(['active', 'expired']);
export type SessionStatus = z.infer<typeof SessionStatus>;

/** A session as read, with its agent's present name. */
export interface SessionRow {
  id: string;
  agent_id: string;
  agent_name: string;
  requester_id: string | null;
  started_at: Date;
  last_event_at: Date;
  expires_at: Date;
  tool_call_count: bigint;
  dlp_hit_count: bigint;
  risk_score_at_close: number | null;
}

export const AgentSessionView = z
  .object({
    id: z.string(),
    agent_id: z.string(),
    agent_name: z.string(),
    /** For whom the agent acted; null where it named nobody. As recorded, so possibly a hash. */
    requester_id: z.string().nullable(),
    started_at: z.string(),
    /** When it ends unless another call follows; for an ended session, when it ended. */
    expires_at: z.string(),
    status: SessionStatus,
    /** Calls of tools, whatever was decided. */
    tool_call_count: z.int(),
    /** Events in which sensitive data was found. */
    dlp_hit_count: z.int(),
    /** The agent's risk score then; null until the session was closed. */
    risk_score_at_close: z.number().nullable(),
    last_event_at: z.string(),
  })
  .meta({ id: 'AgentSession' });
export type AgentSessionView = z.infer<typeof AgentSessionView>;

/** Exactly the fields that the specification lists. */
export const SessionEventView = AuditEvent.pick({
  id: true,
  timestamp: true,
  action: true,
  target: true,
  tool_name: true,
  mcp_server: true,
  policy_result: true,
  policy_reason: true,
  behavioral_score: true,
  dlp_action: true,
  dlp_findings_count: true,
}).meta({ id: 'SessionEvent' });
export type SessionEventView = z.infer<typeof SessionEventView>;

export function toSessionView(row: SessionRow, now: Date): AgentSessionView {
  const isOver = row.expires_at <= now;
  return {
    id: row.id,
    agent_id: row.agent_id,
    agent_name: row.agent_name,
    requester_id: row.requester_id,
    started_at: row.started_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    status: isOver ? 'expired' : 'active',
    tool_call_count: Number(row.tool_call_count),
    dlp_hit_count: Number(row.dlp_hit_count),
    risk_score_at_close: isOver ? row.risk_score_at_close : null,
    last_event_at: row.last_event_at.toISOString(),
  };
}

export function toSessionEvent(row: LedgerRow): SessionEventView {
  const event = toAuditEvent(row);
  return {
    id: event.id,
    timestamp: event.timestamp,
    action: event.action,
    target: event.target,
    tool_name: event.tool_name,
    mcp_server: event.mcp_server,
    policy_result: event.policy_result,
    policy_reason: event.policy_reason,
    behavioral_score: event.behavioral_score,
    dlp_action: event.dlp_action,
    dlp_findings_count: event.dlp_findings_count,
  };
}
