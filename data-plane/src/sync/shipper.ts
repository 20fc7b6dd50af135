/**
 * Ships a tenant's records upward: signed batches of one epoch, in order, one at a time, again and
 * again until they are stored. Progress is durable, and a batch that was stored but not marked is
 * acknowledged again, so that nothing is lost and nothing is stored twice.
 *
 * A control plane that lacks earlier records (restored from a backup) names the one that it wants
 * next, and shipping begins again there. A fork stops the stream: sending on would only repeat it,
 * and choosing a side would rewrite history. It is shown in the status and left to a person.
 */
import type { BatchReceipt, SignedBatch } from '@governance/shared/audit-batch';
import { BATCH_LIMITS } from '@governance/shared/channel-routes';
import type { ControlPlaneLink, ShippedEnd } from '@governance/shared/channels';
import { AppError } from '@governance/shared/errors';
import { z } from 'zod';
import type { DurableLedger } from '../ledger/ledger.ts';
import { LedgerError } from '../ledger/ledger-error.ts';
import {
  type BackoffLimits,
  backoff,
  createPause,
  SYNC_BACKOFF,
  WAKE_SPREAD_MS,
} from './backoff.ts';
import { LinkError } from './link-error.ts';
import { failureCode, failureMessage, type SyncFailure, type SyncLog } from './sync-status.ts';

const BATCH_RECORDS = BATCH_LIMITS.records;

/** An urgent record ends a pause after a failure, but no more often than this. */
const WAKE_AFTER_MS = 1_000;

/** A longer Retry-After is not believed: the records would wait for a typing error. */
const LONGEST_HOLD_MS = 5 * 60_000;

/** A stream that ended for good: two writers, records that are no longer kept, or damage. */
export type EndedState = 'forked' | 'conflict' | 'damaged';
export type ShipperState = 'shipping' | 'idle' | 'retrying' | 'stopped' | EndedState;

export interface ShipperStatus {
  state: ShipperState;
  /** Records that wait to be shipped. */
  backlog: number;
  last_shipped: { epoch: number; seq: number } | null;
  last_attempt_at: string | null;
  failure: SyncFailure | null;
}

export interface Shipper {
  /** Ships what waits now, without the delay. */
  kick(): void;
  /** Ends a pause after a failure within a second, since the control plane was heard. */
  wake(): void;
  /** @returns whether everything was shipped within `ms` */
  flush(ms: number): Promise<boolean>;
  stop(): Promise<void>;
  status(): ShipperStatus;
  /** The last record that the control plane acknowledged since the start; null while it lacks some. */
  acknowledged(): ShippedEnd | null;
}

export interface ShipperOptions {
  tenantId: string;
  link: Pick<ControlPlaneLink, 'shipBatch'>;
  ledger: Pick<
    DurableLedger,
    'nextBatch' | 'markShipped' | 'rewindShipped' | 'backlog' | 'onAppended'
  >;
  /** How long records are collected before they are shipped, in milliseconds. */
  delayMs: number;
  /** Told once when the stream stops for good. */
  onStopped: (state: EndedState, failure: SyncFailure) => void;
  log: SyncLog;
  now: () => number;
  backoffLimits?: BackoffLimits;
}

export function startShipper(options: ShipperOptions): Shipper {
  const { tenantId, link, ledger, log } = options;
  const limits = options.backoffLimits ?? SYNC_BACKOFF;
  const time = () => new Date(options.now()).toISOString();
  const status: Omit<ShipperStatus, 'backlog'> = {
    state: 'idle',
    last_shipped: null,
    last_attempt_at: null,
    failure: null,
  };
  let acknowledged: ShippedEnd | null = null;
  const retryPause = createPause();
  /** Not ended by a kick: the control plane asked for it. */
  const holdOff = createPause();
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
        const failure = note(error);
        const state = stateAfter(error);
        if (state === 'gap') {
          if (!(await goBack(error, failure))) return;
        } else if (state !== 'retrying') {
          halt(state, failure);
          return;
        }
        failures++;
        status.state = 'retrying';
        const retryAfterMs = error instanceof LinkError ? error.retryAfterMs : null;
        if (retryAfterMs !== null) await holdOff.wait(Math.min(retryAfterMs, LONGEST_HOLD_MS));
        else await retryPause.wait(backoff(failures, limits));
      }
    }
  }

  /** @returns whether the records that the control plane lacks are shipped again from now on */
  async function goBack(error: unknown, failure: SyncFailure): Promise<boolean> {
    acknowledged = null;
    const next = placeOfGap(error);
    const rewound = next && (await ledger.rewindShipped(tenantId, next).catch(() => null));
    if (next && rewound?.state === 'rewound') {
      const { backlog } = rewound;
      log.warn({ tenantId, next, backlog }, 'the control plane lacks records: shipped again');
      return true;
    }
    const lacks = next ? `from epoch ${next.epoch}, record ${next.seq}` : '';
    const why =
      rewound?.state === 'gone'
        ? `the control plane lacks records ${lacks} that are no longer kept here`
        : failure.message;
    halt('conflict', { ...failure, message: why });
    return false;
  }

  async function ship(batch: SignedBatch): Promise<void> {
    status.last_attempt_at = time();
    attemptedAt = performance.now();
    const receipt = await link.shipBatch(batch);
    assertReceived(batch, receipt);
    const { epoch, last_seq: seq, head } = batch.header;
    await ledger.markShipped(tenantId, { epoch, seq, head });
    status.last_shipped = { epoch, seq };
    acknowledged = { epoch, seq, head };
    status.failure = null;
    status.state = 'shipping';
  }

  function note(error: unknown): SyncFailure {
    const code = failureCode(error);
    const failure = { stage: 'ship', code, message: failureMessage(error), at: time() };
    if (code !== status.failure?.code) {
      log.warn({ tenantId, ...failure }, 'records could not be shipped');
    }
    status.failure = failure;
    return failure;
  }

  /** The stream must not go on. */
  function halt(state: EndedState | 'stopped', failure: SyncFailure): void {
    end();
    status.state = state;
    status.failure = failure;
    if (state === 'stopped') return;
    log.error({ tenantId, ...failure }, 'the stream is no longer shipped: a person must look');
    options.onStopped(state, failure);
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
    wake: () => retryPause.shorten(WAKE_SPREAD_MS * Math.random()),
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
      holdOff.wake();
      await running;
      if (!ENDED.has(status.state)) status.state = 'stopped';
      settleIdle();
    },
    status: () => ({ ...status, backlog: ledger.backlog(tenantId) }),
    acknowledged: () => acknowledged,
  };
}

const ENDED: ReadonlySet<ShipperState> = new Set<EndedState>(['forked', 'conflict', 'damaged']);

function stateAfter(error: unknown): 'retrying' | 'gap' | 'stopped' | EndedState {
  if (error instanceof AppError && error.code === 'BATCH_CONFLICT') {
    switch (error.errors?.[0]?.type) {
      case 'stream_gap':
        return 'gap';
      case 'stream_fork':
        return 'forked';
      default:
        return 'conflict';
    }
  }
  if (error instanceof AppError && error.code === 'DATA_PLANE_FORKED') return 'forked';
  if (error instanceof LedgerError) {
    if (error.fault === 'damaged') return 'damaged';
    if (error.fault === 'failed' || error.fault === 'stopped') return 'stopped';
  }
  return 'retrying';
}

/** `['stream', epoch, seq]`: the record that the control plane wants next. */
const GapLocation = z.tuple([z.literal('stream'), z.int().positive(), z.int().positive()]);

function placeOfGap(error: unknown): { epoch: number; seq: number } | null {
  const location = error instanceof AppError ? error.errors?.[0]?.loc : undefined;
  const parsed = GapLocation.safeParse(location);
  return parsed.success ? { epoch: parsed.data[1], seq: parsed.data[2] } : null;
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
