/**
 * The heartbeat's report on a tenant's stream: whether records still arrive, and why not. A record
 * of it would be stuck in the stopped stream. Proven by stream-report.test.ts.
 */
import type { StreamReport } from '@governance/shared/channel/channels';
import type { DurableLedger, LedgerStatus } from '../../ledger/ledger.ts';
import type { Shipper } from './shipper.ts';
import type { ShipperStatus } from './shipping-status.ts';

/** Attempts that fail this long while heartbeats are received: more than a brief outage. */
const FAILING_MS = 5 * 60_000;

export interface StreamFacts {
  shipper: ShipperStatus;
  ledger: LedgerStatus['condition'];
  /** Whether every attempt has failed for long although the control plane answers. */
  isFailing: boolean;
  now: number;
}

/** Reports a stream, and remembers when a heartbeat last got through. */
export function createStreamReporter(options: {
  shipper: Pick<Shipper, 'status' | 'failingMs' | 'isSettled'>;
  ledger: Pick<DurableLedger, 'status'>;
  now: () => number;
}) {
  const { shipper, ledger, now } = options;
  let heartbeatAt = Number.NEGATIVE_INFINITY;

  const report = (): StreamReport =>
    toStreamReport({
      shipper: shipper.status(),
      ledger: ledger.status().condition,
      isFailing: shipper.failingMs() - (performance.now() - heartbeatAt) > FAILING_MS,
      now: now(),
    });

  return {
    report,
    /**
     * For the heartbeat. Undefined until the first batch after a start was tried; the control plane
     * keeps the last report.
     */
    findReport: (): StreamReport | undefined => {
      const found = report();
      return shipper.isSettled() || found.is_stopped ? found : undefined;
    },
    /** A heartbeat was received. */
    heartbeatReceived: (): void => {
      heartbeatAt = performance.now();
    },
  };
}

export function toStreamReport({ shipper, ledger, isFailing, now }: StreamFacts): StreamReport {
  const { backlog, stop, failure } = shipper;
  if (stop) {
    const last_error = shown(stop.failure);
    return { state: stop.state, is_stopped: true, backlog, last_error, stopped_at: stop.at };
  }
  if (ledger === 'full' || ledger === 'failed') {
    const message = `The ledger is ${ledger}: no new call is recorded, so none is allowed.`;
    const at = new Date(now).toISOString();
    const last_error = { code: `ledger_${ledger}`, message, at };
    return { state: last_error.code, is_stopped: true, backlog, last_error, stopped_at: null };
  }
  const last_error = failure && shown(failure);
  const state = isFailing ? 'failing' : shipper.state;
  return { state, is_stopped: isFailing, backlog, last_error, stopped_at: null };
}

/** Messages come from anywhere: cut to what a heartbeat can carry. */
function shown({ code, message, at }: { code: string; message: string; at: string }) {
  return { code: carried(code, 100), message: carried(message, 500), at };
}

function carried(text: string, length: number): string {
  return text.replaceAll('\u0000', '').slice(0, length).toWellFormed();
}
