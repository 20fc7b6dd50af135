/**
 * Rereads, slowly and in the background, the shipped records that are kept: once after the start
 * and then daily. The control plane has these records, so damage is reported but stops nothing.
 * Proven by ledger-checker.test.ts.
 */
import { DAY_MS } from '@governance/shared/time/durations';
import type { DurableLedger } from './ledger.ts';
import { LedgerError } from './ledger-error.ts';
import type { ShippedPosition } from './ledger-messages.ts';

/** At most 1,000 records a second, on the thread that also makes the batches. */
const STEP_RECORDS = 50;
const PAUSE_MS = 50;
const FIRST_AFTER_MS = 10_000;
const AGAIN_AFTER_MS = DAY_MS;

export interface LedgerCheckStatus {
  state: 'waiting' | 'checking' | 'ok' | 'damaged';
  /** When the last complete pass ended. */
  checked_at: string | null;
  /** The number of records that it read. */
  records: number;
  /** The last damage found: the tenant and the fault. */
  damage: { tenant_id: string; message: string }[];
}

export type LedgerChecker = ReturnType<typeof startLedgerChecker>;

export function startLedgerChecker(options: {
  ledger: Pick<DurableLedger, 'checkShipped'>;
  listTenants(): string[];
  /** Called in each pass for each tenant whose records do not verify. */
  onDamage(tenantId: string, message: string): void;
  log: { warn(details: object, message: string): void };
  now: () => number;
  firstAfterMs?: number;
  againAfterMs?: number;
  pauseMs?: number;
}) {
  const { ledger, log, now } = options;
  const againAfterMs = options.againAfterMs ?? AGAIN_AFTER_MS;
  const status: LedgerCheckStatus = { state: 'waiting', checked_at: null, records: 0, damage: [] };
  let timer = setTimeout(() => void pass(), options.firstAfterMs ?? FIRST_AFTER_MS).unref();
  let stopped = false;

  async function pass(): Promise<void> {
    status.state = 'checking';
    const damage: LedgerCheckStatus['damage'] = [];
    let records = 0;
    for (const tenantId of options.listTenants()) {
      try {
        records += await checkTenant(tenantId);
      } catch (error) {
        if (stopped) return;
        const message = error instanceof Error ? error.message : String(error);
        const isDamage = error instanceof LedgerError && error.fault === 'damaged';
        if (!isDamage) {
          log.warn({ tenantId, reason: message }, 'the ledger was not checked');
          continue;
        }
        damage.push({ tenant_id: tenantId, message });
        options.onDamage(tenantId, message);
      }
    }
    if (stopped) return;
    const state = damage.length > 0 ? 'damaged' : 'ok';
    Object.assign(status, { state, checked_at: new Date(now()).toISOString(), records, damage });
    timer = setTimeout(() => void pass(), againAfterMs).unref();
  }

  async function checkTenant(tenantId: string): Promise<number> {
    let records = 0;
    let after: ShippedPosition | null = null;
    while (!stopped) {
      const step = await ledger.checkShipped(tenantId, after, STEP_RECORDS);
      records += step.records;
      if (step.next === null) break;
      after = step.next;
      await new Promise((resolve) => setTimeout(resolve, options.pauseMs ?? PAUSE_MS).unref());
    }
    return records;
  }

  return {
    status: (): LedgerCheckStatus => ({ ...status, damage: [...status.damage] }),
    stop: (): void => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
