/** An event of the live stream (specification 1, section 6), from the record that it is about. */
import type {
  AdminActionRecord,
  AlertRecord,
  LedgerRecord,
} from '@governance/shared/ledger/ledger-record';
import { ALERT_RAISED } from '../alerts/raise-alert.ts';
import { type LedgerRow, readRecord } from '../chain/ledger-row.ts';
import { decisionEventType, toAuditEvent, violationsOf } from './audit-event.ts';

type StreamEventType =
  | 'tool_call'
  | 'policy_deny'
  | 'policy_escalate'
  | 'escalation'
  | 'alert'
  | 'system_notification';

export type StreamEvent = { event_type: StreamEventType } & Record<string, unknown>;

/** The types of record that the stream shows besides decisions. */
const SHOWN: ReadonlySet<string> = new Set(['alert', 'admin_action', 'hold_opened', 'result_held']);

/** What a record says about the start of a call's answer; undefined for other records. */
export function startOfAnswer({ type, stream, position, bytes }: LedgerRow) {
  const record = type === 'answer_started' ? readRecord(bytes) : undefined;
  return record?.type === 'answer_started' ? { id: record.event_id, stream, position } : undefined;
}

/**
 * One message of the stream; undefined for records that the stream does not show.
 *
 * @param decision of the call whose answer this record starts, see `AuditStore.findStarted`
 */
export function toStreamEvent(row: LedgerRow, decision?: LedgerRow): StreamEvent | undefined {
  if (row.type === 'decision') return fromCall(row);
  if (row.type === 'answer_started') {
    const event = decision && fromCall(decision, row.bytes);
    // Without a usage the list does not believe the record either.
    return event?.model_usage ? event : undefined;
  }
  if (!SHOWN.has(row.type)) return undefined;
  const record = readRecord(row.bytes);
  if (record?.type === 'hold_opened' || record?.type === 'result_held') {
    const violations = violationsOf(row, record);
    return { event_type: 'escalation', ...fromHold(record), ...link(row), violations };
  }
  if (record?.type === 'alert') {
    const violations = violationsOf(row, record);
    return { event_type: 'alert', ...fromAlert(record), ...link(row), violations };
  }
  if (record?.type !== 'admin_action') return undefined;
  if (record.action === ALERT_RAISED) {
    return { event_type: 'alert', ...fromRaisedAlert(record), ...link(row) };
  }
  if (record.action.startsWith('kill_switch_')) {
    return {
      event_type: 'system_notification',
      id: record.id,
      timestamp: record.timestamp,
      message: record.action,
      actor: record.actor,
      details: record.details,
      ...link(row),
    };
  }
  return undefined;
}

function fromCall(decision: LedgerRow, startedBytes: Uint8Array | null = null) {
  const event = toAuditEvent(decision, { startedBytes });
  return { ...event, event_type: decisionEventType(event.policy_result) };
}

function fromHold(record: Extract<LedgerRecord, { type: 'hold_opened' | 'result_held' }>) {
  const isResult = record.type === 'result_held';
  return {
    id: record.escalation_id,
    timestamp: record.timestamp,
    status: 'pending',
    event_id: record.event_id,
    agent_id: record.agent_id,
    requester_id: record.requester_id,
    mcp_server: record.mcp_server,
    tool_name: record.tool_name,
    target: record.target,
    /** What is held: the call, or its result. */
    held: isResult ? 'result' : 'call',
    policy_reason: isResult ? null : record.reason,
    ...(isResult && { severity: record.severity, findings: record.findings }),
    risk_tier: record.risk_tier,
    timeout_at: record.timeout_at,
  };
}

function fromAlert(record: AlertRecord) {
  return {
    id: record.id,
    timestamp: record.timestamp,
    alert_type: record.alert_type,
    severity: record.severity,
    agent_id: record.agent_id,
    title: record.title,
    details: record.details,
  };
}

function fromRaisedAlert({ target, timestamp, details }: AdminActionRecord) {
  return {
    id: target.replace(/^alert\//, ''),
    timestamp,
    alert_type: details.alert_type,
    severity: details.severity,
    agent_id: details.agent_id,
    title: details.title,
    details: details.alert,
  };
}

function link({ stream, epoch, seq, prevHash, hash }: LedgerRow) {
  return { stream, epoch, seq, prev_hash: prevHash, hash };
}
