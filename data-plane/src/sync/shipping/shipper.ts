/**
 * Ships a tenant's records upward: signed batches of one epoch, in order, one at a time, again and
 * again until they are stored. Progress is durable, and a batch that was stored but not marked is
 * acknowledged again, so that nothing is lost and nothing is stored twice.
 *
 * A control plane that lacks earlier records (restored from a backup) names the one that it wants
 * next, and shipping begins again there. A fork stops the stream: sending on would only repeat it,
 * and choosing a side would rewrite history. A batch that is refused again and again, and a gap that
 * cannot be closed, stop it too, but are tried again every five minutes: the control plane may be
 * repaired. The heartbeat reports a stop (stream-report.ts), since no record would arrive.
 */
import type { BatchReceipt, SignedBatch } from '@governance/shared/audit-batch';
import { BATCH_LIMITS } from '@governance/shared/channel-routes';
import type { ControlPlaneLink, ShippedEnd } from '@governance/shared/channels';
import { AppError } from '@governance/shared/errors';
import type { DurableLedger } from '../../ledger/ledger.ts';
import {
  type BackoffLimits,
  backoff,
  createPause,
  SYNC_BACKOFF,
  WAKE_SPREAD_MS,
} from '../link/backoff.ts';
import { LinkError } from '../link/link-error.ts';
import type { SyncFailure } from '../link/sync-failure.ts';
import { placeOf, placeOfGap, stateAfter } from './ship-failure.ts';
import {
  type ShipperStatus,
  ShippingStatus,
  type ShippingStatusOptions,
} from './shipping-status.ts';

const BATCH_RECORDS = BATCH_LIMITS.records;

/** An urgent record ends a pause after a failure, but no more often than this. */
const WAKE_AFTER_MS = 1_000;

/** A longer Retry-After is ignored: a typing error must not delay the records. */
const LONGEST_HOLD_MS = 5 * 60_000;

/** After this many refusals the same batch counts as refused for good. */
const REFUSALS = 3;

/** How long a stopped stream waits before it checks whether the reason is gone. */
const STALLED_RETRY_MS = 5 * 60_000;

export type Shipper = ReturnType<typeof startShipper>;

export interface ShipperOptions extends ShippingStatusOptions {
  link: Pick<ControlPlaneLink, 'shipBatch'>;
  ledger: Pick<
    DurableLedger,
    'nextBatch' | 'markShipped' | 'rewindShipped' | 'backlog' | 'onAppended'
  >;
  /** How long records are collected before they are shipped, in milliseconds. */
  delayMs: number;
  backoffLimits?: BackoffLimits;
  stalledRetryMs?: number;
}

export function startShipper(options: ShipperOptions) {
  const { tenantId, link, ledger, log } = options;
  const limits = options.backoffLimits ?? SYNC_BACKOFF;
  const status = new ShippingStatus(options);
  let acknowledged: ShippedEnd | null = null;
  const retryPause = createPause();
  /** A kick does not end it: the control plane asked for it. */
  const holdOff = createPause();
  const stallPause = createPause();
  /** Consecutive failures of one batch. */
  let refusals = 0;
  const idle = new Set<(all: boolean) => void>();
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let again = false;
  let attemptedAt = Number.NEGATIVE_INFINITY;
  let stopped = false;

  const endListening = ledger.onAppended((appendedTo, urgent) => {
    if (appendedTo !== tenantId || stopped) return;
    if (urgent) begin(performance.now() - attemptedAt > WAKE_AFTER_MS);
    else if (ledger.backlog(tenantId) >= BATCH_RECORDS) begin(false);
    else timer ??= setTimeout(() => begin(false), options.delayMs);
  });

  function kick(): void {
    stallPause.wake();
    begin(true);
  }

  /** @param wake whether a pause after a failure is ended too */
  function begin(wake: boolean): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (stopped) return;
    if (running) {
      again = true;
      if (wake) retryPause.wake();
      return;
    }
    running = drain().finally(() => {
      running = null;
      if (again && !stopped) {
        again = false;
        begin(false);
      } else {
        settleIdle();
      }
    });
  }

  function settleIdle(): void {
    for (const done of idle) done(status.state === 'idle');
    idle.clear();
  }

  /** Ships until nothing is left, or the stream has to stop. */
  async function drain(): Promise<void> {
    let failures = 0;
    status.state = 'shipping';
    while (!stopped) {
      let batch: SignedBatch | null = null;
      try {
        batch = await ledger.nextBatch(tenantId, BATCH_RECORDS);
        if (!batch) {
          getsOn('idle');
          return;
        }
        await ship(batch);
        failures = 0;
      } catch (error) {
        await recover(error, batch, ++failures);
      }
    }
  }

  async function ship(batch: SignedBatch): Promise<void> {
    status.attempted();
    attemptedAt = performance.now();
    const receipt = await link.shipBatch(batch);
    assertReceived(batch, receipt);
    const { epoch, last_seq: seq, head } = batch.header;
    await ledger.markShipped(tenantId, { epoch, seq, head });
    status.lastShipped = { epoch, seq };
    acknowledged = { epoch, seq, head };
    getsOn('shipping');
  }

  function getsOn(state: 'shipping' | 'idle'): void {
    refusals = 0;
    status.getsOn(state);
  }

  /** Stops the stream, or waits until the next attempt makes sense. */
  async function recover(error: unknown, batch: SignedBatch | null, failures: number) {
    const failure = status.failed(error);
    const state = stateAfter(error);
    if (state === 'stopped' || state === 'forked' || state === 'damaged') {
      end();
      if (state === 'stopped') status.state = state;
      else status.halt({ state, failure, at: null });
      return;
    }
    if (state === 'gap') await goBack(error, failure);
    if (state === 'conflict') status.stall('conflict', failure, placeOf(batch, error));
    refusals = state === 'refused' ? refusals + 1 : 0;
    if (refusals >= REFUSALS) status.stall('refused', failure, placeOf(batch, error));
    if (status.stop) {
      status.state = status.stop.state;
      await stallPause.wait(options.stalledRetryMs ?? STALLED_RETRY_MS);
      return;
    }
    status.state = 'retrying';
    const retryAfterMs = error instanceof LinkError ? error.retryAfterMs : null;
    if (retryAfterMs !== null) await holdOff.wait(Math.min(retryAfterMs, LONGEST_HOLD_MS));
    else await retryPause.wait(backoff(failures, limits));
  }

  /** Ships again the records that the control plane lacks, if they are still kept. */
  async function goBack(error: unknown, failure: SyncFailure): Promise<void> {
    acknowledged = null;
    const next = placeOfGap(error);
    const rewound = next && (await ledger.rewindShipped(tenantId, next).catch(() => null));
    if (next && rewound?.state === 'rewound') {
      const { backlog } = rewound;
      log.warn({ tenantId, next, backlog }, 'the control plane lacks records: shipped again');
      return;
    }
    const lacks = next ? `from epoch ${next.epoch}, record ${next.seq}` : '';
    const why =
      rewound?.state === 'gone'
        ? `the control plane lacks records ${lacks} that are no longer kept here`
        : failure.message;
    status.stall('conflict', { ...failure, message: why }, next);
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
    /** Ends a pause after a failure within a second, since the control plane answers. */
    wake: () => retryPause.shorten(WAKE_SPREAD_MS * Math.random()),
    /** @returns whether everything was shipped within `ms` */
    flush: (ms: number): Promise<boolean> =>
      new Promise((resolve) => {
        if (stopped || status.stop) {
          resolve(false);
          return;
        }
        const done = (all: boolean) => {
          clearTimeout(limit);
          idle.delete(done);
          resolve(all);
        };
        const limit = setTimeout(() => done(false), ms);
        idle.add(done);
        kick();
      }),
    stop: async (): Promise<void> => {
      end();
      retryPause.wake();
      holdOff.wake();
      stallPause.wake();
      await running;
      if (!status.stop) status.state = 'stopped';
      settleIdle();
    },
    status: (): ShipperStatus => status.shown(ledger.backlog(tenantId)),
    /** The last record that the control plane acknowledged since the start; null while it lacks some. */
    acknowledged: () => acknowledged,
    /** Whether an attempt has ended: from then on it is known whether records arrive. */
    isSettled: () => status.isSettled,
    /** How long every attempt has failed, in milliseconds; 0 where the last one succeeded. */
    failingMs: () => status.failingMs(),
  };
}

/** A receipt for another batch must not move the shipped position. */
function assertReceived({ header }: SignedBatch, receipt: BatchReceipt): void {
  if (
    receipt.stream !== header.stream ||
    receipt.epoch !== header.epoch ||
    receipt.last_seq !== header.last_seq ||
    receipt.head !== header.head
  ) {
    throw new AppError('UNAVAILABLE', 'the receipt is not that of the batch');
  }
}
