/**
 * An audit event as the API shows it (specification 1, section 2): a decision joined with what is
 * recorded about it, or what an administrator did. Made from the record's bytes, since these are
 * what was hashed.
 */
import {
  type AdminActionRecord,
  type DecisionRecord,
  HttpStatus,
  type LedgerRecord,
  type OutcomeRecord,
  PolicyResult,
  RiskTier,
  Severity,
} from '@governance/shared/ledger/ledger-record';
import { z } from 'zod';
import { type LedgerRow, readRecord } from '../chain/ledger-row.ts';
import { isTimeImpossible } from '../platform/database/record-time.ts';

export const AuditEvent = z.object({
  id: z.string(),
  event_type: z.enum(['tool_call', 'policy_deny', 'policy_escalate', 'admin_action']),
  /** By the writer's clock. */
  timestamp: z.string(),
  received_at: z.string(),
  agent_id: z.string().nullable(),
  action: z.string().nullable(),
  target: z.string().nullable(),
  method: z.string().nullable(),
  tool_name: z.string().nullable(),
  mcp_server: z.string().nullable(),
  policy_result: PolicyResult.nullable(),
  policy_reason: z.string().nullable(),
  decided_by: z.string().nullable(),
  behavioral_score: z.number(),
  risk_tier: RiskTier.nullable(),
  dlp_action: z.enum(['blocked', 'warned', 'logged']).nullable(),
  dlp_findings_count: z.int(),
  dlp_findings: z.array(z.looseObject({ severity: Severity })),
  /** Latency of the whole call; of the decision alone until the outcome is known. */
  latency_ms: z.number().nullable(),
  session_id: z.string().nullable(),
  workflow_session_id: z.string().nullable(),
  causal_depth: z.int(),
  parent_event_id: z.string().nullable(),
  delegation_chain: z.array(z.string()),
  requester_id: z.string().nullable(),
  requester_verified: z.boolean(),
  instruction_hash: z.string().nullable(),
  region: z.string().nullable(),
  bundle_revision: z.int().nullable(),
  /** Outcome of the call; null until it is known, and for a call that was not allowed. */
  outcome: z.string().nullable(),
  outcome_detail: z.string().nullable(),
  /** SHA-256 of the result's bytes, after the event's salt where `result_digest_salted`. */
  result_digest: z.string().nullable(),
  /** False in records of version 1, null where there is no digest. */
  result_digest_salted: z.boolean().nullable(),
  inbound_findings_count: z.int().nullable(),
  /** What happened to the result on its way back: allowed, blocked, replaced or held. */
  result_action: z.string().nullable(),
  /** What inspection found in the result. */
  inspection: z.record(z.string(), z.unknown()).nullable(),
  /** The escalation that the call opened, or that it waits for. */
  escalation_id: z.string().nullable(),
  /** The approval that the call redeemed. */
  grant_id: z.string().nullable(),
  /** The exception that covered the call. */
  exception_id: z.string().nullable(),
  /** Only for calls to a language model. */
  model: z.record(z.string(), z.unknown()).nullable(),
  model_usage: z.record(z.string(), z.unknown()).nullable(),
  /** Digest of the call's payload, which is stored beside the chain; null where none was kept. */
  payload_digest: z.string().nullable(),
  /** As `payload_digest`, for the result. */
  result_payload_digest: z.string().nullable(),
  /** What the tenant's data protection changed in this event before it was recorded. */
  protected_fields: z.array(z.string()),
  /** Who acted, when the event is an administrator's or the service's own action. */
  actor: z
    .object({ id: z.string(), username: z.string(), role: z.string(), break_glass: z.boolean() })
    .nullable(),
  details: z.record(z.string(), z.unknown()).nullable(),
  stream: z.string(),
  epoch: z.int(),
  seq: z.int(),
  prev_hash: z.string(),
  hash: z.string(),
  /**
   * Claims that no honest data plane makes: an agent that the tenant never had, a time after the
   * receipt.
   */
  violations: z.array(z.enum(['agent_unknown', 'time_impossible'])),
  /** False when the stored bytes can no longer be read: see chain verification. */
  readable: z.boolean(),
});
export type AuditEvent = z.infer<typeof AuditEvent>;

/** The records about a call, beside its decision; null where there is none. */
export interface AboutCall {
  outcomeBytes: Uint8Array | null;
  /** Of the start of a model's streamed answer, where no outcome was received before it. */
  startedBytes: Uint8Array | null;
}

export function toAuditEvent(
  row: LedgerRow,
  { outcomeBytes = null, startedBytes = null }: Partial<AboutCall> = {},
): AuditEvent {
  const record = readRecord(row.bytes);
  const outcome = outcomeBytes ? readRecord(outcomeBytes) : undefined;
  const started = startedBytes ? readRecord(startedBytes) : undefined;
  const event = fromColumns(row);
  if (record?.type === 'decision') {
    return {
      ...event,
      ...fromDecision(record),
      violations: violationsOf(row, record),
      ...(started?.type === 'answer_started' && isOfModel(record) ? fromStarted(started) : {}),
      ...(outcome?.type === 'outcome' ? fromOutcome(outcome, record) : {}),
    };
  }
  if (record?.type === 'admin_action') {
    const violations = violationsOf(row, record);
    return { ...event, ...fromAdminAction(record), violations };
  }
  // A damaged row does not end the list: its columns are shown instead.
  return { ...event, readable: false };
}

function fromColumns(row: LedgerRow): AuditEvent {
  const result = PolicyResult.safeParse(row.policyResult).data ?? null;
  return {
    id: row.id,
    event_type: row.type === 'admin_action' ? 'admin_action' : decisionEventType(result),
    timestamp: row.eventTime.toISOString(),
    received_at: row.receivedAt.toISOString(),
    agent_id: row.agentId,
    action: null,
    target: null,
    method: null,
    tool_name: null,
    mcp_server: null,
    policy_result: result,
    policy_reason: null,
    decided_by: null,
    behavioral_score: 0,
    risk_tier: null,
    dlp_action: null,
    dlp_findings_count: 0,
    dlp_findings: [],
    latency_ms: null,
    session_id: null,
    workflow_session_id: null,
    causal_depth: 0,
    parent_event_id: null,
    delegation_chain: [],
    requester_id: null,
    requester_verified: false,
    instruction_hash: null,
    region: null,
    bundle_revision: null,
    outcome: null,
    outcome_detail: null,
    result_digest: null,
    result_digest_salted: null,
    inbound_findings_count: null,
    result_action: null,
    inspection: null,
    escalation_id: null,
    grant_id: null,
    exception_id: null,
    model: null,
    model_usage: null,
    payload_digest: null,
    result_payload_digest: null,
    protected_fields: [],
    actor: null,
    details: null,
    stream: row.stream,
    epoch: row.epoch,
    seq: row.seq,
    prev_hash: row.prevHash,
    hash: row.hash,
    violations: [],
    readable: true,
  };
}

export function violationsOf(row: LedgerRow, record: LedgerRecord): AuditEvent['violations'] {
  const isOurs = record.type === 'admin_action' && record.actor.role !== 'data_plane';
  // The control plane writes its own chain with the clock that also gives the time of receipt.
  if (isOurs) return [];
  const isAhead = isTimeImpossible(Date.parse(record.timestamp), row.receivedAt.getTime());
  return [
    ...(row.isAgentUnknown ? (['agent_unknown'] as const) : []),
    ...(isAhead ? (['time_impossible'] as const) : []),
  ];
}

export function decisionEventType(
  result: PolicyResult | null,
): 'tool_call' | 'policy_deny' | 'policy_escalate' {
  if (result === 'allow') return 'tool_call';
  return result === 'escalate' ? 'policy_escalate' : 'policy_deny';
}

function fromDecision(record: DecisionRecord) {
  return {
    event_type: decisionEventType(record.policy_result),
    timestamp: record.timestamp,
    agent_id: record.agent_id,
    action: record.action,
    target: record.target,
    method: record.method,
    tool_name: record.tool_name,
    mcp_server: record.mcp_server,
    policy_result: record.policy_result,
    policy_reason: record.policy_reason,
    decided_by: record.decided_by,
    behavioral_score: record.behavioral_score,
    risk_tier: record.risk_tier,
    dlp_action: record.dlp_action,
    dlp_findings_count: record.dlp_findings_count,
    dlp_findings: record.dlp_findings,
    latency_ms: record.latency_ms,
    session_id: record.session_id,
    workflow_session_id: record.workflow_session_id,
    causal_depth: record.causal_depth,
    parent_event_id: record.parent_event_id,
    delegation_chain: record.delegation_chain,
    requester_id: record.requester_id,
    requester_verified: record.requester_verified,
    instruction_hash: record.instruction_hash,
    region: record.region,
    bundle_revision: record.bundle_revision,
    ...(record.v === 2 && fromDecisionV2(record)),
  } satisfies Partial<AuditEvent>;
}

type OfVersion<R, V> = Extract<R, { v: V }>;

function fromDecisionV2(record: OfVersion<DecisionRecord, 2>) {
  const { escalation_id, grant_id, exception_id, model } = record;
  const { payload_digest, protected_fields } = record;
  return { escalation_id, grant_id, exception_id, model, payload_digest, protected_fields };
}

function fromOutcome(outcome: OutcomeRecord, decision: DecisionRecord) {
  return {
    latency_ms: outcome.latency_ms ?? decision.latency_ms,
    outcome: outcome.outcome,
    outcome_detail: outcome.detail,
    result_digest: outcome.result_digest,
    result_digest_salted: outcome.result_digest === null ? null : outcome.v >= 2,
    inbound_findings_count: outcome.inbound_findings_count,
    ...(outcome.v === 2 && fromOutcomeV2(outcome)),
  } satisfies Partial<AuditEvent>;
}

function fromOutcomeV2(outcome: OfVersion<OutcomeRecord, 2>) {
  const { result_action, inspection, model_usage, payload_digest } = outcome;
  return {
    result_action,
    inspection,
    // After a crash in the middle of an answer, its start is all that is known.
    ...(model_usage !== null && { model_usage }),
    result_payload_digest: payload_digest,
  };
}

type AnswerStarted = Extract<LedgerRecord, { type: 'answer_started' }>;

/** Only a call to a model that was allowed has an answer that is streamed. */
const isOfModel = (decision: DecisionRecord) =>
  decision.v === 2 && decision.model !== null && decision.policy_result === 'allow';

function fromStarted({ status }: AnswerStarted): Partial<AuditEvent> {
  // Records have a status that is none: it was written once, and a data plane may lie.
  if (!HttpStatus.safeParse(status).success) return {};
  const unknown = { input_tokens: null, output_tokens: null, finish_reason: null };
  return { model_usage: { status, ...unknown } };
}

function fromAdminAction(record: AdminActionRecord) {
  return {
    timestamp: record.timestamp,
    action: record.action,
    target: record.target,
    actor: record.actor,
    details: record.details,
  } satisfies Partial<AuditEvent>;
}
