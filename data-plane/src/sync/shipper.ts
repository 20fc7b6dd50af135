/**
 * Ships a tenant's records upward: signed batches of one epoch, in order, one at a time, again and
 * again until they are stored. Progress is durable, and a batch that was stored but not marked is
 * acknowledged again, so that nothing is lost and nothing is stored twice.
 *
 * A control plane that lacks earlier records (restored from a backup) names the one that it wants
 * next, and shipping begins again there. A fork stops the stream: sending on would only repeat it,
 * and choosing a side would rewrite history. A batch that is refused again and again, and a gap that
 * cannot be closed, stop it too, but are tried again every five minutes: the control plane may be
 * mended. A stop is told by the heartbeat (stream-report.ts), since no record would arrive.
 */
import type { BatchReceipt, SignedBatch } from '@governance/shared/audit-batch';
import { BATCH_LIMITS } from '@governance/shared/channel-routes';
import type { ControlPlaneLink, ShippedEnd } from '@governance/shared/channels';
import { AppError, ERRORS, type ErrorCode } from '@governance/shared/errors';
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

/** The same batch was refused so often: it will be, the next time. */
const REFUSALS = 3;

/** How long a stream that is stopped waits before it looks whether the reason has gone. */
const STALLED_RETRY_MS = 5 * 60_000;

/** A stream that ended for good: two writers, or damage. */
export type EndedState = 'forked' | 'damaged';
/** One that gets on when the control plane is another: refused, or records that are no longer kept. */
export type StalledState = 'refused' | 'conflict';
export type ShipperState = 'shipping' | 'idle' | 'retrying' | 'stopped' | EndedState | StalledState;

export interface ShipperStatus {
  state: ShipperState;
  /** Records that wait to be shipped. */
  backlog: number;
  last_shipped: { epoch: number; seq: number } | null;
  last_attempt_at: string | null;
  failure: SyncFailure | null;
  /** Why nothing is shipped any more; null while something is, or may be. */
  stop: ShipperStop | null;
}

export interface ShipperStop {
  state: EndedState | StalledState;
  failure: SyncFailure;
  /** The first record that does not come, where that is known. */
  at: { epoch: number; seq: number } | null;
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
  /** Whether it is known by now that records come, or that they do not. */
  isSettled(): boolean;
  /** For how long every attempt has failed, in milliseconds; 0 where the last did not. */
  failingMs(): number;
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
  /** Told once when the stream stops. */
  onStopped: (stop: ShipperStop) => void;
  /** Told when one that had stopped ships again. */
  onResumed: () => void;
  log: SyncLog;
  now: () => number;
  backoffLimits?: BackoffLimits;
  stalledRetryMs?: number;
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
    stop: null,
  };
  let acknowledged: ShippedEnd | null = null;
  const retryPause = createPause();
  /** Not ended by a kick: the control plane asked for it. */
  const holdOff = createPause();
  const stallPause = createPause();
  /** In a row, of one batch. */
  let refusals = 0;
  /** Since when nothing was stored, by the monotonic clock; null where nothing failed since. */
  let failingSince: number | null = null;
  /** Whether it is known that records come, or that they do not. */
  let isSettled = false;
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
        const failure = note(error);
        const state = stateAfter(error);
        if (state === 'stopped' || state === 'forked' || state === 'damaged') {
          halt(state, failure);
          return;
        }
        if (state === 'gap') await goBack(error, failure);
        if (state === 'conflict') stall('conflict', failure, placeOf(batch, error));
        refusals = state === 'refused' ? refusals + 1 : 0;
        if (refusals >= REFUSALS) stall('refused', failure, placeOf(batch, error));
        failures++;
        if (status.stop) {
          status.state = status.stop.state;
          await stallPause.wait(options.stalledRetryMs ?? STALLED_RETRY_MS);
          continue;
        }
        status.state = 'retrying';
        const retryAfterMs = error instanceof LinkError ? error.retryAfterMs : null;
        if (retryAfterMs !== null) await holdOff.wait(Math.min(retryAfterMs, LONGEST_HOLD_MS));
        else await retryPause.wait(backoff(failures, limits));
      }
    }
  }

  /** Has the records that the control plane lacks shipped again, where they are still kept. */
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
    stall('conflict', { ...failure, message: why }, next);
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
    getsOn('shipping');
  }

  function getsOn(state: 'shipping' | 'idle'): void {
    const wasStopped = status.stop !== null;
    status.state = state;
    status.failure = null;
    status.stop = null;
    refusals = 0;
    failingSince = null;
    isSettled = true;
    if (!wasStopped) return;
    log.info({ tenantId }, 'the stream is shipped again');
    options.onResumed();
  }

  /** The stream cannot go on as it is; the control plane may be another by and by. */
  function stall(state: StalledState, failure: SyncFailure, at: ShipperStop['at']): void {
    if (status.stop?.state === state) return;
    tellStop({ state, failure, at });
  }

  function tellStop(stop: ShipperStop): void {
    status.state = stop.state;
    status.failure = stop.failure;
    status.stop = stop;
    isSettled = true;
    const { state, failure, at } = stop;
    const told = { tenantId, state, stopped_at: at, ...failure };
    log.error(told, 'the stream is not shipped: a person must look');
    options.onStopped(stop);
  }

  function note(error: unknown): SyncFailure {
    const code = failureCode(error);
    const failure = { stage: 'ship', code, message: failureMessage(error), at: time() };
    failingSince ??= performance.now();
    if (code !== status.failure?.code) {
      log.warn({ tenantId, ...failure }, 'records could not be shipped');
    }
    status.failure = failure;
    return failure;
  }

  /** The stream must not go on. */
  function halt(state: EndedState | 'stopped', failure: SyncFailure): void {
    end();
    status.failure = failure;
    if (state === 'stopped') status.state = state;
    else tellStop({ state, failure, at: null });
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
    stop: async () => {
      end();
      retryPause.wake();
      holdOff.wake();
      stallPause.wake();
      await running;
      if (!status.stop) status.state = 'stopped';
      settleIdle();
    },
    status: () => ({ ...status, backlog: ledger.backlog(tenantId) }),
    acknowledged: () => acknowledged,
    isSettled: () => isSettled,
    failingMs: () => (failingSince === null ? 0 : performance.now() - failingSince),
  };
}

type AfterFailure = 'retrying' | 'gap' | 'stopped' | EndedState | StalledState;

function stateAfter(error: unknown): AfterFailure {
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
  if (error instanceof AppError && isRefusal(error.code)) return 'refused';
  if (error instanceof LedgerError) {
    if (error.fault === 'damaged') return 'damaged';
    if (error.fault === 'failed' || error.fault === 'stopped') return 'stopped';
  }
  return 'retrying';
}

/** What the next attempt would be answered too; a token may be renewed, and a wait may end. */
function isRefusal(code: ErrorCode): boolean {
  const [status] = ERRORS[code];
  return status >= 400 && status < 500 && !RETRIED.has(status);
}

const RETRIED: ReadonlySet<number> = new Set([401, 429]);

/** Where a batch stops the stream: the record that its refusal names, else its first. */
function placeOf(batch: SignedBatch | null, error: unknown): ShipperStop['at'] {
  if (!batch) return null;
  const { epoch, first_seq, last_seq } = batch.header;
  const loc = error instanceof AppError ? error.errors?.[0]?.loc : undefined;
  const [list, named] = loc ?? [];
  const isNamed =
    list === 'records' && typeof named === 'number' && named >= first_seq && named <= last_seq;
  return { epoch, seq: isNamed ? named : first_seq };
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
