/**
 * Ships a tenant's records upward: signed batches of one epoch, in order, one at a time, again and
 * again until they are stored. Progress is durable, and a batch that was stored but not marked is
 * acknowledged again, so that nothing is lost and nothing is stored twice.
 *
 * A fork (409) stops the stream: sending on would only repeat it, and choosing a side would
 * rewrite history. It is recorded here, shown in the status, and left to a person.
 */
import type { BatchReceipt, SignedBatch } from '@governance/shared/audit-batch';
import type { ControlPlaneLink } from '@governance/shared/channels';
import { AppError } from '@governance/shared/errors';
import type { DurableLedger } from '../ledger/ledger.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import { backoff, createPause, SYNC_BACKOFF } from './backoff.ts';
import { failureCode, failureMessage, type SyncFailure, type SyncLog } from './sync-status.ts';

const BATCH_RECORDS = 500;

export interface ShipperStatus {
  state: 'shipping' | 'idle' | 'retrying' | 'conflict' | 'damaged' | 'stopped';
  last_shipped: { epoch: number; seq: number } | null;
  last_attempt_at: string | null;
  failure: SyncFailure | null;
}

export interface Shipper {
  /** Ships what waits now, without the delay. */
  kick(): void;
  /** @returns whether everything was shipped within `ms` */
  flush(ms: number): Promise<boolean>;
  stop(): Promise<void>;
  status(): ShipperStatus;
}

export interface ShipperOptions {
  tenantId: string;
  link: Pick<ControlPlaneLink, 'shipBatch'>;
  ledger: Pick<DurableLedger, 'nextBatch' | 'markShipped' | 'onAppended'>;
  /** How long records are collected before they are shipped, in milliseconds. */
  delayMs: number;
  /** Told once when the stream stops for good. */
  onStopped: (state: 'conflict' | 'damaged', failure: SyncFailure) => void;
  log: SyncLog;
  now: () => number;
  backoffLimits?: { first: number; longest: number };
}

export function startShipper(options: ShipperOptions): Shipper {
  const { tenantId, link, ledger, log } = options;
  const limits = options.backoffLimits ?? SYNC_BACKOFF;
  const time = () => new Date(options.now()).toISOString();
  const status: ShipperStatus = {
    state: 'idle',
    last_shipped: null,
    last_attempt_at: null,
    failure: null,
  };
  const retryPause = createPause();
  const idle = new Set<(all: boolean) => void>();
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let again = false;
  let stopped = false;

  const endListening = ledger.onAppended((appendedTo, urgent) => {
    if (appendedTo !== tenantId || stopped) return;
    if (urgent) kick();
    else timer ??= setTimeout(kick, options.delayMs);
  });

  function kick(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    if (stopped) return;
    if (running) {
      again = true;
      retryPause.wake();
      return;
    }
    running = drain().finally(() => {
      running = null;
      if (again && !stopped) {
        again = false;
        kick();
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
      let batch: SignedBatch | null;
      try {
        batch = await ledger.nextBatch(tenantId, BATCH_RECORDS);
        if (!batch) {
          status.state = 'idle';
          return;
        }
        await ship(batch);
        failures = 0;
      } catch (error) {
        if (halts(error)) return;
        failures++;
        status.state = 'retrying';
        await retryPause.wait(backoff(failures, limits));
      }
    }
  }

  async function ship(batch: SignedBatch): Promise<void> {
    status.last_attempt_at = time();
    const receipt = await link.shipBatch(batch);
    assertReceived(batch, receipt);
    const { epoch, last_seq: seq, head } = batch.header;
    await ledger.markShipped(tenantId, { epoch, seq, head });
    status.last_shipped = { epoch, seq };
    status.failure = null;
    status.state = 'shipping';
  }

  /** @returns whether the stream must not go on */
  function halts(error: unknown): boolean {
    const code = failureCode(error);
    const failure = { stage: 'ship', code, message: failureMessage(error), at: time() };
    const news = failure.code !== status.failure?.code;
    status.failure = failure;
    const state = stateAfter(error);
    if (state === 'retrying') {
      if (news) log.warn({ tenantId, ...failure }, 'records could not be shipped; trying again');
      return false;
    }
    end();
    status.state = state;
    if (state !== 'stopped') {
      log.error({ tenantId, ...failure }, 'the stream is no longer shipped: a person must look');
      options.onStopped(state, failure);
    }
    return true;
  }

  function end(): void {
    stopped = true;
    endListening();
    if (timer) clearTimeout(timer);
    timer = null;
  }

  kick();

  return {
    kick,
    flush: (ms) =>
      new Promise((resolve) => {
        if (stopped) {
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
    stop: async () => {
      end();
      retryPause.wake();
      await running;
      if (status.state !== 'conflict' && status.state !== 'damaged') status.state = 'stopped';
      settleIdle();
    },
    status: () => ({ ...status }),
  };
}

function stateAfter(error: unknown): 'retrying' | 'conflict' | 'damaged' | 'stopped' {
  if (error instanceof AppError && error.code === 'BATCH_CONFLICT') return 'conflict';
  if (error instanceof LedgerError) {
    if (error.fault === 'damaged') return 'damaged';
    if (error.fault === 'failed' || error.fault === 'stopped') return 'stopped';
  }
  return 'retrying';
}

/** A receipt for something else must not move the shipped position. */
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
