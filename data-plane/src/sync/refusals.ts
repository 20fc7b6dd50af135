import type { SyncFailure } from './link/sync-failure.ts';
import type { SyncAlerts } from './sync-alerts.ts';

/** Refusals since the start, by reason. */
export interface RefusalCounts {
  bundle: Record<string, number>;
  feed: Record<string, number>;
}

const ALERTS = { bundle: 'bundleRefused', feed: 'feedRefused' } as const;
const UNKNOWN_KEY = { bundle: 'key_unknown', feed: 'statement_unknown_key' } as const;

/** Counts what arrived of one tenant and was refused, and reports each new reason. */
export function createRefusals(options: {
  tenantId: string;
  alerts: Pick<SyncAlerts, 'bundleRefused' | 'feedRefused'>;
  onUnknownKey: () => void;
}) {
  const { tenantId, alerts, onUnknownKey } = options;
  const counts: RefusalCounts = { bundle: {}, feed: {} };

  return {
    /** @param isNews where the reason differs from the one before */
    add: (channel: keyof RefusalCounts, failure: SyncFailure, isNews: boolean): void => {
      const { code } = failure;
      counts[channel][code] = (counts[channel][code] ?? 0) + 1;
      if (!isNews) return;
      alerts[ALERTS[channel]](tenantId, failure);
      if (code === UNKNOWN_KEY[channel]) onUnknownKey();
    },
    counts: (): RefusalCounts => ({ bundle: { ...counts.bundle }, feed: { ...counts.feed } }),
  };
}
