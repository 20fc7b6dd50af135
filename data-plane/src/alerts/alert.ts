import { uuidv7 } from '@governance/shared/ids';
import type { DataPlaneAlert } from '@governance/shared/ledger/data-plane-records';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';

export type AlertRecord = Extract<UnchainedRecord, { type: 'alert' }>;

/** What an alert says. */
export interface Alert extends Pick<AlertRecord, 'severity' | 'title' | 'details'> {
  alert_type: DataPlaneAlert;
  /** The control plane keeps one open alert a key. */
  dedupe_key: string;
  /** The agent that it concerns, where it concerns one. */
  agent_id?: string;
  /** The rules that it concerns, where it concerns any. */
  bundle_revision?: number | null;
}

/** Makes the record of an alert that is raised now (Unix milliseconds). */
export function createAlertRecord(alert: Alert, now: number): AlertRecord {
  return {
    type: 'alert',
    id: uuidv7(now),
    timestamp: new Date(now).toISOString(),
    bundle_revision: null,
    agent_id: null,
    ...alert,
  };
}
