import { type AlertRecord, createAlertRecord } from '../alerts/alert.ts';
import type { DiskLevel } from './disk-watermark.ts';

/** The alert that the disk of a stream's ledger fills up, or is full. */
export function diskAlert(
  stream: string,
  level: Exclude<DiskLevel, 'ok'>,
  usedShare: number | null,
  now: number,
): AlertRecord {
  const isFull = level === 'full';
  const alert = {
    alert_type: 'DISK_WATERMARK',
    severity: isFull ? 'critical' : 'high',
    title: isFull
      ? 'The data plane denies new calls: its disk is full'
      : 'The disk of the data plane is filling up',
    details: {
      deployment_id: stream,
      level,
      used_percent: usedShare === null ? null : Math.round(usedShare * 1000) / 10,
    },
    dedupe_key: `disk-watermark:${stream}:${level}`,
  } as const;
  return createAlertRecord(alert, now);
}
