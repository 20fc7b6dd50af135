/** Alerts of the synchronisation, in the tenant's own ledger. */

import type { RaiseAlert } from '../alerts/raise-alert.ts';
import type { RefusedFact } from '../replica/replica.ts';
import type { WentBack } from './feed/admin-heads.ts';
import type { SyncFailure } from './link/sync-failure.ts';
import type { Contradiction } from './watch/log-watch-store.ts';

export type SyncAlerts = ReturnType<typeof createSyncAlerts>;

const shown = ({ stage, code, message }: SyncFailure) => ({
  stage,
  code,
  message: message.slice(0, 500),
});

export function createSyncAlerts(raise: RaiseAlert) {
  return {
    factRefused: ({ tenantId, kind, key, reason }: RefusedFact): void =>
      raise(tenantId, {
        alert_type: 'FACT_REFUSED',
        severity: 'high',
        title: 'A fact from the control plane was refused; calls that it concerns are denied',
        details: { kind, key, reason: reason.slice(0, 500) },
        dedupe_key: `fact-refused:${kind}:${key}`,
      }),
    bundleRefused: (tenantId: string, failure: SyncFailure): void =>
      raise(tenantId, {
        alert_type: 'BUNDLE_REFUSED',
        severity: 'critical',
        title: 'A policy bundle was refused; the previous rules stay in force',
        details: shown(failure),
        dedupe_key: `bundle-refused:${failure.code}`,
      }),
    payloadsLost: (tenantId: string, parts: number, reason: string): void =>
      raise(tenantId, {
        alert_type: 'PAYLOAD_LOST',
        severity: 'high',
        title: 'Payloads did not reach the control plane and are lost',
        details: { parts, reason },
        dedupe_key: `payload-lost:${reason}`,
      }),
    feedRefused: (tenantId: string, failure: SyncFailure): void =>
      raise(tenantId, {
        alert_type: 'FEED_REFUSED',
        severity: 'critical',
        title: 'Data of the feed was refused; earlier facts stay in force',
        details: shown(failure),
        dedupe_key: `feed-refused:${failure.code}`,
      }),
    feedRewound: (tenantId: string, from: number, to: number): void =>
      raise(tenantId, {
        alert_type: 'FEED_REWOUND',
        severity: 'high',
        title: 'The control plane went back in time, as after a restore; its facts were taken',
        details: { from, to },
        dedupe_key: `feed-rewound:${from}:${to}`,
      }),
    adminHeadWentBack: (tenantId: string, { known, told }: WentBack): void =>
      raise(tenantId, {
        alert_type: 'ADMIN_HEAD_WENT_BACK',
        severity: 'critical',
        title: 'The control plane signed a head of the admin chain that contradicts an earlier one',
        details: { known, told },
        dedupe_key: `admin-head-went-back:${known.statement.hash.slice(0, 16)}`,
      }),
    logContradicted: (tenantId: string, { reason, known, told }: Contradiction): void =>
      raise(tenantId, {
        alert_type: 'LOG_CONTRADICTED',
        severity: 'critical',
        title: 'The control plane shows a log that does not continue the one seen here',
        details: { reason, known, told: told?.slice(0, 2_000) ?? null },
        dedupe_key: `log-contradicted:${reason}`,
      }),
    feedFrozen: (tenantId: string, ageSeconds: number): void =>
      raise(tenantId, {
        alert_type: 'FEED_FROZEN',
        severity: 'critical',
        title: 'The control plane answers, and nothing that it signed is newer than three minutes',
        details: { age_seconds: ageSeconds },
        dedupe_key: 'feed-frozen',
      }),
    ledgerDamaged: (tenantId: string, message: string): void =>
      raise(tenantId, {
        alert_type: 'LEDGER_DAMAGED',
        severity: 'critical',
        title: 'Stored records of a data plane differ from what it recorded',
        details: { message: message.slice(0, 500) },
        dedupe_key: 'ledger-damaged',
      }),
  };
}
