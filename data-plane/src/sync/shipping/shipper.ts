/**
 * Ships a tenant's records upward: signed batches of one epoch, in order, one at a time, each until
 * it is stored. Progress is durable, and a batch that was stored but not marked is acknowledged
 * again, so that nothing is lost and nothing is stored twice.
 *
 * - A control plane that lacks earlier records (restored from a backup) names the one that it wants
 *   next when it refuses a batch or answers a heartbeat, and shipping goes back to it.
 * - A fork stops the stream: sending on would only repeat it, and choosing a side would rewrite
 *   history.
 * - A batch that is refused again and again, and a gap that cannot be closed, stop it too, but are
 *   tried again every five minutes: the control plane may be repaired.
 *
 * The heartbeat reports a stop (stream-report.ts), since no record would arrive.
 */

import { BATCH_LIMITS } from '@governance/shared/channel/channel-routes';
import type { ControlPlaneLink, ShippedEnd } from '@governance/shared/channel/channels';
import type { SignedBatch } from '@governance/shared/ledger/audit-batch';
import type { DurableLedger } from '../../ledger/ledger.ts';
import { type BackoffLimits, WAKE_SPREAD_MS } from '../link/backoff.ts';
import { createFlushWaits } from './flush-waits.ts';
import { shipBatch } from './ship-batch.ts';
import { createShipRecovery } from './ship-recovery.ts';
import {
  type ShipperStatus,
  ShippingStatus,
  type ShippingStatusOptions,
  type StreamPlace,
} from './shipping-status.ts';

const BATCH_RECORDS = BATCH_LIMITS.records;

/** An urgent record ends a pause after a failure, but no more often than this. */
const WAKE_AFTER_MS = 1_000;

export type Shipper = ReturnType<typeof startShipper>;

export interface ShipperOptions extends ShippingStatusOptions {
  link: Pick<ControlPlaneLink, 'shipBatch'>;
  ledger: Pick<
    DurableLedger,
    'nextBatch' | 'markShipped' | 'rewindShipped' | 'backlog' | 'fillsBatch' | 'onAppended'
  >;
  /** How long records are collected before they are shipped, in milliseconds. */
  delayMs: number;
  backoffLimits?: BackoffLimits;
  stalledRetryMs?: number;
}

export function startShipper(options: ShipperOptions) {
  const { tenantId, ledger } = options;
  const status = new ShippingStatus(options);
  const recovery = createShipRecovery({ ...options, status, end });
  const flushes = createFlushWaits();
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let again = false;
  let stopped = false;

  const endListening = ledger.onAppended((appendedTo, urgent) => {
    if (appendedTo !== tenantId || stopped) return;
    if (urgent && status.sinceAttemptMs() > WAKE_AFTER_MS) recovery.retry();
    if (urgent || ledger.fillsBatch(tenantId, BATCH_RECORDS)) begin();
    else timer ??= setTimeout(begin, options.delayMs);
  });

  function kick(): void {
    recovery.retryStopped();
    recovery.retry();
    begin();
  }

  function begin(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (stopped) return;
    if (running) {
      again = true;
      return;
    }
    running = drain().finally(() => {
      running = null;
      if (again && !stopped) {
        again = false;
        begin();
      } else {
        endFlushes();
      }
    });
  }

  /**
   * Goes back to the record that the control plane's answer to a heartbeat says it lacks, unless the
   * answer is outdated.
   *
   * @param reported the end of what was acknowledged, as the heartbeat stated it
   */
  function goBackTo(next: StreamPlace, reported: ShippedEnd): void {
    const end = status.acknowledged;
    // What was shipped meanwhile may have come after the answer; a batch under way will show it.
    if (stopped || running || end?.epoch !== reported.epoch || end.seq !== reported.seq) return;
    if (next.epoch > end.epoch || (next.epoch === end.epoch && next.seq > end.seq)) return;
    running = recovery.goBackTo(next).finally(() => {
      running = null;
      again = false;
      begin();
    });
  }

  function endFlushes(): void {
    flushes.end(status.state === 'idle');
  }

  /**
   * Ships what waits, unless the stream has to stop. What comes meanwhile is collected for the next
   * time: while calls arrive there is always something, and batches of a few records each would
   * cost both planes more than the records.
   */
  async function drain(): Promise<void> {
    status.state = 'shipping';
    let left = ledger.backlog(tenantId);
    while (!stopped) {
      let batch: SignedBatch | null = null;
      try {
        batch = await ledger.nextBatch(tenantId, BATCH_RECORDS);
        if (!batch) {
          progressed('idle');
          return;
        }
        await shipBatch(batch, options, status);
        progressed('shipping');
        left -= batch.records.length;
        if (left <= 0 && isCollecting()) {
          progressed('idle');
          return;
        }
      } catch (error) {
        await recovery.recover(error, batch);
        left = ledger.backlog(tenantId);
      }
    }
  }

  /** Whether what waits now may wait for more: what came meanwhile has started the timer. */
  function isCollecting(): boolean {
    return timer !== null && flushes.isEmpty() && !ledger.fillsBatch(tenantId, BATCH_RECORDS);
  }

  function progressed(state: 'shipping' | 'idle'): void {
    recovery.succeeded();
    status.progressed(state);
  }

  function end(): void {
    stopped = true;
    endListening();
    if (timer) clearTimeout(timer);
    timer = null;
  }

  kick();

  return {
    /** Ships what waits now, without the delay. */
    kick,
    goBackTo,
    /** Ends a pause after a failure within a second, since the control plane answers. */
    wake: () => recovery.retryWithin(WAKE_SPREAD_MS * Math.random()),
    /** @returns whether everything was shipped within `ms` */
    flush: (ms: number): Promise<boolean> => {
      if (stopped || status.stop) return Promise.resolve(false);
      const shipped = flushes.add(ms);
      kick();
      return shipped;
    },
    stop: async (): Promise<void> => {
      end();
      recovery.endPauses();
      await running;
      if (!status.stop) status.state = 'stopped';
      endFlushes();
    },
    status: (): ShipperStatus => status.shown(ledger.backlog(tenantId)),
    acknowledged: () => status.acknowledged,
    /** Whether an attempt has ended: from then on it is known whether records arrive. */
    isSettled: () => status.isSettled,
    /** How long every attempt has failed, in milliseconds; 0 where the last one succeeded. */
    failingMs: () => status.failingMs(),
  };
}
