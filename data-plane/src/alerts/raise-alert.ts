import { isWithin } from '@governance/shared/time/durations';
import { LRUCache } from 'lru-cache';
import type { Ledger } from '../contracts.ts';
import type { PendingWrites } from '../storage/pending-writes.ts';
import { type Alert, createAlertRecord } from './alert.ts';

/** Records an alert in a tenant's ledger. Never throws; callers do not await it. */
export type RaiseAlert = (tenantId: string, alert: Alert) => void;

/** One cause may recur with every call: the same alert is recorded at most once in this time. */
const REPEAT_MS = 60_000;

/** Builds what raises alerts. An alert that cannot be recorded is logged. */
export function createRaiseAlert(deps: {
  ledger: Pick<Ledger, 'append'>;
  writes: Pick<PendingWrites, 'track'>;
  now: () => number;
}): RaiseAlert {
  const raised = new LRUCache<string, number>({ max: 10_000 });
  return (tenantId, alert) => {
    const now = deps.now();
    const key = `${tenantId} ${alert.dedupe_key}`;
    const last = raised.get(key);
    if (last !== undefined && isWithin(last, REPEAT_MS, now)) return;
    raised.set(key, now);
    const write = deps.ledger.append(tenantId, createAlertRecord(alert, now));
    deps.writes.track(`${alert.alert_type} of tenant ${tenantId}`, write);
  };
}
