/** Records as a data plane writes them, for tests: each member has a value, and most are plain. */
import { uuidv7 } from '../ids.ts';
import type { UnchainedRecord } from '../ledger/ledger-record.ts';

export type Unchained<T extends UnchainedRecord['type']> = Extract<UnchainedRecord, { type: T }>;

export function aDecision(over: Partial<Unchained<'decision'>> = {}): Unchained<'decision'> {
  return {
    type: 'decision',
    id: uuidv7(),
    timestamp: new Date().toISOString(),
    bundle_revision: 1,
    agent_id: '0190aaaa-0000-7000-8000-00000000000a',
    action: 'read',
    target: '/welcome.txt',
    method: 'tools/call',
    tool_name: 'read_file',
    mcp_server: 'files',
    policy_result: 'allow',
    policy_reason: null,
    decided_by: 'policy',
    behavioral_score: 0,
    risk_tier: 'low',
    dlp_action: null,
    dlp_findings_count: 0,
    dlp_findings: [],
    latency_ms: 1.5,
    session_id: null,
    workflow_session_id: null,
    causal_depth: 0,
    parent_event_id: null,
    delegation_chain: [],
    requester_id: null,
    requester_verified: false,
    instruction_hash: 'ab'.repeat(32),
    region: null,
    escalation_id: null,
    grant_id: null,
    exception_id: null,
    payload_digest: null,
    protected_fields: [],
    model: null,
    ...over,
  };
}

export function anOutcome(
  eventId: string,
  over: Partial<Unchained<'outcome'>> = {},
): Unchained<'outcome'> {
  return {
    type: 'outcome',
    id: uuidv7(),
    timestamp: new Date().toISOString(),
    bundle_revision: 1,
    event_id: eventId,
    outcome: 'forwarded',
    latency_ms: 12.5,
    result_digest: null,
    result_bytes: null,
    inbound_findings_count: 0,
    result_action: null,
    inspection: null,
    model_usage: null,
    payload_digest: null,
    detail: null,
    ...over,
  };
}

/** That a model streams its answer to a call. */
export function anAnswerStarted(
  eventId: string,
  over: Partial<Unchained<'answer_started'>> = {},
): Unchained<'answer_started'> {
  return {
    type: 'answer_started',
    id: uuidv7(),
    timestamp: new Date().toISOString(),
    bundle_revision: 1,
    event_id: eventId,
    status: 200,
    ...over,
  };
}

/** An alert that a data plane may raise. */
export function anAlert(over: Partial<Unchained<'alert'>> = {}): Unchained<'alert'> {
  return {
    type: 'alert',
    id: uuidv7(),
    timestamp: new Date().toISOString(),
    bundle_revision: null,
    alert_type: 'POLICY_FAILED',
    severity: 'high',
    agent_id: null,
    title: 'A policy failed',
    details: {},
    dedupe_key: null,
    ...over,
  };
}
