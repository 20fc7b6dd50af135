/**
 * What a data plane's stream may say. The control plane holds every record against it: a stolen
 * signing key gives a voice in the audit trail, and not an administrator's nor the control plane's
 * own. A data plane takes the names from here, so that none is raised that no reader would take.
 */
import type { LedgerRecord } from './ledger-record.ts';

/** Alerts about a data plane itself, or about what it enforces. */
export const DATA_PLANE_ALERTS = [
  'ADMIN_HEAD_WENT_BACK',
  'ALERTS_LOST',
  'BUNDLE_REFUSED',
  'DISK_WATERMARK',
  'FACT_REFUSED',
  'FEED_FROZEN',
  'FEED_REFUSED',
  'FEED_REWOUND',
  'LEDGER_DAMAGED',
  'OPA_ANSWER_REFUSED',
  'OPA_BUNDLE_DIFFERS',
  'OPA_UNAVAILABLE',
  'OPA_UNAVAILABLE_ALLOWED',
  'POLICY_FAILED',
  'POLICY_OUT_OF_FUEL',
  // Written by the version before, which had no other way to tell of it.
  'STREAM_STOPPED',
  'TOOL_DEFINITION_CHANGED',
] as const;
export type DataPlaneAlert = (typeof DATA_PLANE_ALERTS)[number];

/** What the operator of a data plane may do there. */
export const DATA_PLANE_ACTIONS = [
  'local_kill_switch_engaged',
  'local_kill_switch_lifted',
] as const;
export type DataPlaneAction = (typeof DATA_PLANE_ACTIONS)[number];

/** The actor of the version before, beside the deployment itself. */
const LOCAL_OPERATOR = 'local-operator';

const ALERTS: ReadonlySet<string> = new Set(DATA_PLANE_ALERTS);
const ACTIONS: ReadonlySet<string> = new Set(DATA_PLANE_ACTIONS);

/**
 * Looks whether a record is one that a data plane may write. Its place in the chain is not looked
 * at, and nothing outside the record: the same record gets the same answer at any time.
 *
 * @returns what is wrong, in words that follow "the record"; undefined for a record that is allowed
 */
export function findForbidden(record: LedgerRecord): string | undefined {
  switch (record.type) {
    case 'epoch_start':
    case 'decision':
    case 'outcome':
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
    default:
      // A type that a later version adds is forbidden until somebody allows it here.
      return 'is of a type that is no data plane’s';
  }
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 60));
