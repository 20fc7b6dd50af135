/**
 * Alerts that the ledger had no room for are kept in memory and raised when there is room again: a
 * full disk is when people most need to know. Alerts of the same type and key are kept once, with a
 * count. At most 100 are kept for a tenant; further ones are counted and reported as ALERTS_LOST. A
 * restart forgets them, and raises an alert of its own if the disk is still full. Proven by
 * kept-alerts.test.ts.
 */
import { uuidv7 } from '@governance/shared/ids';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { type AlertRecord, createAlertRecord } from '../alerts/alert.ts';
import { shareRun } from '../storage/share-run.ts';
import { LedgerError } from './ledger-error.ts';

export const MAX_KEPT_ALERTS = 100;

interface KeptAlert {
  record: AlertRecord;
  times: number;
  lastAt: string;
}

export function createKeptAlerts(options: {
  append: (tenantId: string, record: AlertRecord) => Promise<unknown>;
  now: () => number;
  /** The interval of attempts while something is kept. */
  retryMs: number;
}) {
  const { append } = options;
  const tenants = new Map<string, Map<string, KeptAlert>>();
  const lost = new Map<string, { times: number; types: Set<string> }>();
  let timer: NodeJS.Timeout | null = null;
  const time = () => new Date(options.now()).toISOString();

  /** Keeps an alert that was refused for lack of room. */
  function keep(tenantId: string, record: UnchainedRecord, error: unknown): void {
    if (record.type !== 'alert' || !isForRoom(error)) return;
    timer ??= setInterval(() => void raise(), options.retryMs).unref();
    const kept = tenants.get(tenantId) ?? new Map<string, KeptAlert>();
    tenants.set(tenantId, kept);
    const key = `${record.alert_type} ${record.dedupe_key ?? ''}`;
    const known = kept.get(key);
    if (known) {
      known.times += 1;
      known.lastAt = record.timestamp;
    } else if (kept.size < MAX_KEPT_ALERTS) {
      kept.set(key, { record, times: 1, lastAt: record.timestamp });
    } else {
      const beyond = lost.get(tenantId) ?? { times: 0, types: new Set() };
      beyond.times += 1;
      if (beyond.types.size < MAX_KEPT_ALERTS) beyond.types.add(record.alert_type);
      lost.set(tenantId, beyond);
    }
  }

  /** Raises the kept alerts until one is refused again. */
  const raise = shareRun(raiseAll);

  async function raiseAll(): Promise<void> {
    try {
      for (const [tenantId, kept] of tenants) {
        for (const [key, alert] of kept) {
          const { times } = alert;
          await append(tenantId, asKept(alert));
          // Alerts that came during the write are kept for the next attempt.
          if (alert.times === times) kept.delete(key);
          else alert.times -= times;
        }
        if (kept.size === 0) tenants.delete(tenantId);
      }
      for (const [tenantId, { times, types }] of lost) {
        await append(tenantId, lostAlert(times, [...types]));
        lost.delete(tenantId);
      }
      if (tenants.size === 0 && lost.size === 0) stop();
    } catch {
      // No room yet, or the ledger is closing: they stay kept.
    }
  }

  /** The first occurrence, with its own time. */
  function asKept({ record, times, lastAt }: KeptAlert): AlertRecord {
    const kept_back = { times, last_at: lastAt, raised_at: time() };
    return { ...record, id: uuidv7(options.now()), details: { ...record.details, kept_back } };
  }

  function lostAlert(times: number, types: string[]): AlertRecord {
    const alert = {
      alert_type: 'ALERTS_LOST',
      severity: 'high',
      title: 'Alerts were lost: more were raised than are kept while nothing can be recorded',
      details: { times, types },
      dedupe_key: 'alerts-lost',
    } as const;
    return createAlertRecord(alert, options.now());
  }

  function stop(): void {
    if (timer) clearInterval(timer);
    timer = null;
  }

  return { keep, raise, stop };
}

function isForRoom(error: unknown): boolean {
  return error instanceof LedgerError && (error.fault === 'full' || error.fault === 'overloaded');
}
