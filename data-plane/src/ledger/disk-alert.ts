import type { DataPlaneAlert } from '@governance/shared/data-plane-records';
import { uuidv7 } from '@governance/shared/ids';
import type { UnchainedRecord } from '@governance/shared/ledger-record';
import type { DiskLevel } from './disk-watermark.ts';

/** The alert that a stream's disk fills up, or is full. */
export function diskAlert(
  stream: string,
  level: Exclude<DiskLevel, 'ok'>,
  usedShare: number | null,
  now: number,
): Extract<UnchainedRecord, { type: 'alert' }> {
  const isFull = level === 'full';
  return {
    type: 'alert',
    id: uuidv7(now),
    timestamp: new Date(now).toISOString(),
    bundle_revision: null,
    alert_type: 'DISK_WATERMARK' satisfies DataPlaneAlert,
    severity: isFull ? 'critical' : 'high',
    agent_id: null,
    title: isFull
      ? 'The data plane denies new calls: its disk is full'
      : 'The disk of the data plane is filling up',
    details: {
      deployment_id: stream,
      level,
      used_percent: usedShare === null ? null : Math.round(usedShare * 1000) / 10,
    },
    dedupe_key: `disk-watermark:${stream}:${level}`,
  };
}
