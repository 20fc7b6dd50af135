/** Records for the tests of ledger and sync. */
import { uuidv7 } from '@governance/shared/ids';
import type { UnchainedRecord } from '@governance/shared/ledger-record';

type Unchained<T extends UnchainedRecord['type']> = Extract<UnchainedRecord, { type: T }>;

export function aDecision(over: Partial<Unchained<'decision'>> = {}): Unchained<'decision'> {
  return {
    type: 'decision',
    id: uuidv7(),
    timestamp: '2026-01-02T03:04:05.678Z',
    bundle_revision: 1,
    agent_id: '01890000-0000-7000-8000-0000000000a1',
    action: 'read',
    target: '/srv/reports/2026-q3.csv',
    method: 'tools/call',
    tool_name: 'read_file',
    mcp_server: 'filesystem',
    policy_result: 'allow',
    policy_reason: 'baseline: a permission covers the call',
    decided_by: 'policy',
    behavioral_score: 0,
    risk_tier: 'low',
    dlp_action: null,
    dlp_findings_count: 0,
    dlp_findings: [],
    latency_ms: 1.25,
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
    timestamp: '2026-01-02T03:04:06.000Z',
    bundle_revision: 1,
    event_id: eventId,
    outcome: 'forwarded',
    latency_ms: 12.5,
    result_digest: 'cd'.repeat(32),
    result_bytes: 750,
    inbound_findings_count: 0,
    result_action: 'allowed',
    inspection: null,
    model_usage: null,
    payload_digest: null,
    detail: null,
    ...over,
  };
}

export function anAlert(over: Partial<Unchained<'alert'>> = {}): Unchained<'alert'> {
  return {
    type: 'alert',
    id: uuidv7(),
    timestamp: '2026-01-02T03:04:06.000Z',
    bundle_revision: null,
    alert_type: 'POLICY_OUT_OF_FUEL',
    severity: 'high',
    agent_id: null,
    title: 'A policy was stopped',
    details: {},
    dedupe_key: null,
    ...over,
  };
}
