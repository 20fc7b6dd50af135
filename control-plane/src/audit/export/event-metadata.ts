/**
 * The part of an event that leaves the service (specification 2, "Delivered event metadata"): who
 * did what and what was decided, never a call's content. Fields that the tenant's data protection
 * changed are left out too.
 */
import {
  type DecisionRecord,
  PolicyResult,
  RiskTier,
  Severity,
} from '@governance/shared/ledger/ledger-record';
import { z } from 'zod';
import { ALERT_RAISED } from '../../alerts/raise-alert.ts';
import { type LedgerRow, readRecord } from '../../chain/ledger-row.ts';
import { decisionEventType } from '../audit-event.ts';

export const EventMetadata = z
  .object({
    event_id: z.string(),
    /** By the writer's clock. */
    timestamp: z.string(),
    event_type: z.enum(['tool_call', 'policy_deny', 'policy_escalate', 'admin_action', 'alert']),
    agent_id: z.string().nullable(),
    session_id: z.string().nullable(),
    tool_name: z.string().nullable(),
    mcp_server: z.string().nullable(),
    action: z.string().nullable(),
    policy_result: PolicyResult.nullable(),
    /** Also null where data protection changed it. */
    policy_reason: z.string().nullable(),
    behavioral_score: z.number(),
    risk_tier: RiskTier.nullable(),
    dlp_findings_count: z.int(),
    causal_depth: z.int(),
    alert_type: z.string().nullable(),
    severity: Severity.nullable(),
  })
  .meta({ id: 'EventMetadata' });
export type EventMetadata = z.infer<typeof EventMetadata>;

/** The record types whose events leave the service. */
export const EXPORTED_TYPES = ['decision', 'admin_action', 'alert'] as const;

/**
 * @param row of one of EXPORTED_TYPES
 * @returns the event; made from the row's columns alone where its bytes can no longer be read
 */
export function toEventMetadata(row: LedgerRow): EventMetadata {
  const record = readRecord(row.bytes);
  const event = fromColumns(row);
  if (record?.type === 'decision') return { ...event, ...fromDecision(record) };
  if (record?.type === 'alert') {
    const { agent_id, alert_type, severity } = record;
    return { ...event, agent_id, alert_type, severity };
  }
  if (record?.type !== 'admin_action') return event;
  if (record.action !== ALERT_RAISED) return { ...event, action: record.action };
  const alert = RaisedAlert.safeParse(record.details).data;
  return { ...event, event_type: 'alert', ...alert };
}

/** What the control plane's own alerts carry in the admin chain. */
const RaisedAlert = z.object({
  alert_type: z.string(),
  severity: Severity,
  agent_id: z.string().nullable().default(null),
});

function fromColumns(row: LedgerRow): EventMetadata {
  const result = PolicyResult.safeParse(row.policyResult).data ?? null;
  return {
    event_id: row.id,
    timestamp: row.eventTime.toISOString(),
    event_type: eventTypeOf(row.type, result),
    agent_id: row.agentId,
    session_id: null,
    tool_name: null,
    mcp_server: null,
    action: null,
    policy_result: result,
    policy_reason: null,
    behavioral_score: 0,
    risk_tier: null,
    dlp_findings_count: 0,
    causal_depth: 0,
    alert_type: null,
    severity: null,
  };
}

function eventTypeOf(type: string, result: PolicyResult | null): EventMetadata['event_type'] {
  if (type === 'decision') return decisionEventType(result);
  return type === 'alert' ? 'alert' : 'admin_action';
}

function fromDecision(record: DecisionRecord) {
  const isChanged = record.v === 2 && record.protected_fields.includes('policy_reason');
  return {
    session_id: record.session_id,
    tool_name: record.tool_name,
    mcp_server: record.mcp_server,
    action: record.action,
    // The record's own result is a denial; deliveries tell it from one by a policy.
    policy_result: isBlockedByDlp(record) ? 'dlp_block' : record.policy_result,
    policy_reason: isChanged ? null : record.policy_reason,
    behavioral_score: record.behavioral_score,
    risk_tier: record.risk_tier,
    dlp_findings_count: record.dlp_findings_count,
    causal_depth: record.causal_depth,
  } satisfies Partial<EventMetadata>;
}

const isBlockedByDlp = ({ policy_result, dlp_action }: DecisionRecord): boolean =>
  policy_result === 'deny' && dlp_action === 'blocked';

const OF_TIER: Record<RiskTier, number> = { critical: 10, high: 7, medium: 5, low: 3 };
const OF_RESULT: Record<PolicyResult, number> = { dlp_block: 8, deny: 7, escalate: 5, allow: 3 };
const INFO = 1;
const OF_SEVERITY: Record<Severity, number> = {
  critical: 10,
  high: 7,
  medium: 5,
  low: 3,
  info: INFO,
};

/**
 * From 1 to 10, by specification 2 ("LEEF severity map"): the highest of risk tier, result and
 * alert severity; 1 without any.
 */
export function severityOf({ risk_tier, policy_result, severity }: EventMetadata): number {
  return Math.max(
    INFO,
    risk_tier ? OF_TIER[risk_tier] : INFO,
    policy_result ? OF_RESULT[policy_result] : INFO,
    severity ? OF_SEVERITY[severity] : INFO,
  );
}
