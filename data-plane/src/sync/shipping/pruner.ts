import { DAY_MS } from '@governance/shared/time/durations';
import type { DurableLedger } from '../../ledger/ledger.ts';
import { failureMessage, type SyncLog } from '../link/sync-failure.ts';

const EVERY_MS = 60_000;
/** Records pruned at a time: so few that the record of a call hardly waits for them. */
const STEP_RECORDS = 200;
/** The pause between two such steps. */
const PAUSE_MS = 20;

export const DEFAULT_LEDGER_KEEP_DAYS = 7;

/**
 * Removes what was shipped longer than `keepMs` ago, in small steps, every minute: while the
 * machine's clock agrees with the control plane's. One that shows another year for a moment would
 * remove at once all that a restored control plane may ask for. Proven by pruner.test.ts.
 */
export function startPruner(options: {
  tenantId: string;
  ledger: Pick<DurableLedger, 'prune'>;
  keepMs: number;
  /** The time of the newest statement of the control plane, Unix milliseconds; 0 before the first. */
  findStated: () => number;
  /** The clock that the ledger prunes by. */
  now: () => number;
  log: SyncLog;
  everyMs?: number;
}) {
  const { tenantId, ledger, keepMs, log } = options;
  const toleranceMs = Math.min(DAY_MS, keepMs / 7);
  let isPruning = false;
  let stopped = false;

  async function prune(): Promise<void> {
    if (isPruning || Math.abs(options.now() - options.findStated()) > toleranceMs) return;
    isPruning = true;
    try {
      while (!stopped && (await ledger.prune(tenantId, keepMs, STEP_RECORDS)) >= STEP_RECORDS) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
      }
    } catch (error) {
      if (!stopped) log.warn({ tenantId, reason: failureMessage(error) }, 'records not pruned');
    } finally {
      isPruning = false;
    }
  }

  const timer = setInterval(() => void prune(), options.everyMs ?? EVERY_MS);
  timer.unref();
  void prune();
  return {
    stop: () => {
      stopped = true;
      clearInterval(timer);
    },
  };
}
