import type { DataPlaneAlert } from '@governance/shared/data-plane-records';
import { uuidv7 } from '@governance/shared/ids';
import type { UnchainedRecord } from '@governance/shared/ledger-record';
import { LRUCache } from 'lru-cache';
import type { Ledger } from '../contracts.ts';
import { failureMessage, type SyncLog } from './sync-status.ts';

type AlertRecord = Extract<UnchainedRecord, { type: 'alert' }>;

export type RaisedAlert = Pick<AlertRecord, 'severity' | 'title' | 'details'> & {
  alert_type: DataPlaneAlert;
  dedupe_key: string;
};

/** The same alert is recorded no more often than this: a cause may show at every call. */
const REPEAT_MS = 60_000;

/** Records alerts about the data plane itself; one that cannot be recorded is in the log. */
export function createAlerts(deps: {
  ledger: Pick<Ledger, 'append'>;
  log: SyncLog;
  now: () => number;
}) {
  const raised = new LRUCache<string, number>({ max: 10_000 });
  return (tenantId: string, alert: RaisedAlert): void => {
    const now = deps.now();
    const key = `${tenantId} ${alert.dedupe_key}`;
    if ((raised.get(key) ?? Number.NEGATIVE_INFINITY) + REPEAT_MS > now) return;
    raised.set(key, now);
    const record: AlertRecord = {
      type: 'alert',
      id: uuidv7(now),
      timestamp: new Date(now).toISOString(),
      bundle_revision: null,
      agent_id: null,
      ...alert,
    };
    deps.ledger.append(tenantId, record).catch((error: unknown) => {
      const { alert_type } = alert;
      deps.log.error({ tenantId, alert_type, reason: failureMessage(error) }, 'alert not recorded');
    });
  };
}
