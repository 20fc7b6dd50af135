/**
 * What a data plane's stream may contain. The control plane checks every record against it: whoever
 * steals a signing key can write to the audit trail, but not as an administrator or as the control
 * plane. A data plane takes its alert types from here, so that none is refused.
 */
import type { LedgerRecord } from './ledger-record.ts';

/** Alerts about a data plane itself, or about what it enforces. */
export const DATA_PLANE_ALERTS = [
  'ADMIN_HEAD_WENT_BACK',
  'AGENT_RATE_LIMITED',
  'ALERTS_LOST',
  'BLAST_RADIUS_ESCALATION',
  'BUNDLE_REFUSED',
  // Written by earlier versions, which counted at each data plane separately.
  'DELEGATION_SCOPE_PROBE',
  'DISK_WATERMARK',
  // As DELEGATION_SCOPE_PROBE.
  'DLP_CROSS_SESSION',
  'DLP_FRAGMENT_REASSEMBLY',
  'DLP_PATTERNS_GAVE_UP',
  'DLP_SCAN_FAILED',
  'FACT_REFUSED',
  'FEED_FROZEN',
  'FEED_REFUSED',
  'FEED_REWOUND',
  'IDENTIFIERS_NOT_HASHED',
  'INBOUND_INJECTION_BLOCKED',
  'INBOUND_INJECTION_DETECTED',
  'INJECTION_CONDITIONING_SUSPECTED',
  'INSPECTION_FAILED',
  'LEDGER_DAMAGED',
  'LOG_CONTRADICTED',
  'OPA_ANSWER_REFUSED',
  'OPA_BUNDLE_DIFFERS',
  'OPA_UNAVAILABLE',
  'OPA_UNAVAILABLE_ALLOWED',
  'PAYLOAD_LOST',
  'PAYLOAD_NOT_KEPT',
  'POLICY_FAILED',
  'POLICY_OUT_OF_FUEL',
  // As DELEGATION_SCOPE_PROBE.
  'REQUESTER_IDENTITY_MISMATCH',
  // Written by earlier versions, which did not report it by the heartbeat.
  'STREAM_STOPPED',
  'TOOL_DEFINITION_CHANGED',
  'WORKFLOW_PARENT_IGNORED',
  'WORKFLOW_PARTICIPANT_UNEXPECTED',
] as const;
export type DataPlaneAlert = (typeof DATA_PLANE_ALERTS)[number];

/**
 * Alerts that the control plane raises from decisions, over all data planes. The same alert from an
 * older data plane stays in its ledger and is not raised.
 */
export const RAISED_FROM_DECISIONS: ReadonlySet<string> = new Set<DataPlaneAlert>([
  'DELEGATION_SCOPE_PROBE',
  'DLP_CROSS_SESSION',
  'REQUESTER_IDENTITY_MISMATCH',
]);

/** What the operator of a data plane may do there. */
const DATA_PLANE_ACTIONS = ['local_kill_switch_engaged', 'local_kill_switch_lifted'] as const;
export type DataPlaneAction = (typeof DATA_PLANE_ACTIONS)[number];

/** The actor that earlier versions wrote, beside the deployment itself. */
const LOCAL_OPERATOR = 'local-operator';

const ALERTS: ReadonlySet<string> = new Set(DATA_PLANE_ALERTS);
const ACTIONS: ReadonlySet<string> = new Set(DATA_PLANE_ACTIONS);

/**
 * Checks whether a data plane may write a record. It reads only the record, not its place in the
 * chain: the same record gets the same answer at any time.
 *
 * @returns what is wrong, in words that follow "the record"; undefined for a record that is allowed
 */
export function findForbidden(record: LedgerRecord): string | undefined {
  switch (record.type) {
    case 'epoch_start':
    case 'decision':
    case 'outcome':
    case 'hold_opened':
    case 'rate_limited':
    case 'result_held':
    case 'answer_started':
      return undefined;
    case 'alert':
      if (ALERTS.has(record.alert_type)) return undefined;
      return `raises an alert that is no data plane’s: ${shown(record.alert_type)}`;
    case 'admin_action': {
      const { actor, action, stream } = record;
      if (actor.role !== 'data_plane' || actor.break_glass) {
        return 'claims the act of an administrator';
      }
      if (actor.id.toLowerCase() !== stream.toLowerCase() && actor.id !== LOCAL_OPERATOR) {
        return 'names another deployment as its actor';
      }
      if (ACTIONS.has(action)) return undefined;
      return `claims an action that is no data plane’s: ${shown(action)}`;
    }
    case 'hold_resolved':
      // A data plane itself sees a hold expire; everything else is a person's act.
      if (record.resolution === 'timed_out' && !record.resolved_by && !record.grant)
        return undefined;
      return 'claims the act of an approver';
    default:
      // A type added by a later version is refused until it is allowed here.
      return 'is of a type that is no data plane’s';
  }
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 60));
