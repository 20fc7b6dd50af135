/**
 * The disk of a ledger: each tenant gets an alert when it fills up, and alerts that the ledger had
 * no room for are raised when there is room again.
 */
import type { AlertRecord } from '../alerts/alert.ts';
import { diskAlert } from './disk-alert.ts';
import { createDiskWatermark, type DiskLevel } from './disk-watermark.ts';
import { createKeptAlerts } from './kept-alerts.ts';
import type { NamedStream } from './ledger-streams.ts';

export function createLedgerDisk(deps: {
  readUsedShare: () => Promise<number>;
  /** The interval of checks, and of attempts to raise kept alerts, in milliseconds. */
  intervalMs: number;
  append: (tenantId: string, record: AlertRecord) => Promise<unknown>;
  allStreams: () => Iterable<[tenantId: string, NamedStream]>;
  now: () => number;
  onChange?: ((level: DiskLevel, usedShare: number | null) => void) | undefined;
}) {
  const { append, intervalMs, now } = deps;
  let usedShare: number | null = null;
  const kept = createKeptAlerts({ append, now, retryMs: intervalMs });
  const watermark = createDiskWatermark({
    readUsedShare: deps.readUsedShare,
    intervalMs,
    onChange: (level, share) => {
      usedShare = share;
      deps.onChange?.(level, share);
      for (const [tenantId, { stream }] of deps.allStreams()) raise(tenantId, stream);
      if (level !== 'full') void kept.raise();
    },
  });

  /** Where the disk has no room for this alert, the condition and the heartbeat still show it. */
  function raise(tenantId: string, stream: string): void {
    const level = watermark.level();
    if (level === 'ok') return;
    const alert = diskAlert(stream, level, usedShare, now());
    append(tenantId, alert).catch((error: unknown) => kept.keep(tenantId, alert, error));
  }

  return {
    level: watermark.level,
    check: watermark.check,
    reportFull: watermark.reportFull,
    /** Raises the alert for the present level in a tenant's stream; nothing while it is `ok`. */
    raise,
    /** Keeps an alert that was refused for lack of room. */
    keep: kept.keep,
    stop(): void {
      watermark.stop();
      kept.stop();
    },
  };
}
