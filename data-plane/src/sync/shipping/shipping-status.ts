import type { ShippedEnd, StreamReport } from '@governance/shared/channel/channels';
import {
  aboutFailure,
  type SyncFailure,
  type SyncLog,
  toSyncFailure,
} from '../link/sync-failure.ts';

/** A record of a stream. */
export type StreamPlace = NonNullable<StreamReport['stopped_at']>;

/** A stream that ended for good: two writers, or damage. */
export type EndedState = 'forked' | 'damaged';
/**
 * A stream that continues once the control plane has changed: refused, or records are gone here.
 */
export type StalledState = 'refused' | 'conflict';
export type ShipperState = 'shipping' | 'idle' | 'retrying' | 'stopped' | EndedState | StalledState;

export interface ShipperStatus {
  state: ShipperState;
  /** Records that wait to be shipped. */
  backlog: number;
  last_shipped: StreamPlace | null;
  last_attempt_at: string | null;
  failure: SyncFailure | null;
  /** Why shipping has stopped; null while it runs. */
  stop: ShipperStop | null;
}

export interface ShipperStop {
  state: EndedState | StalledState;
  failure: SyncFailure;
  /** The first record that does not arrive, if known. */
  at: StreamPlace | null;
}

export interface ShippingStatusOptions {
  tenantId: string;
  /** Called once when the stream stops. */
  onStopped: (stop: ShipperStop) => void;
  /** Called when a stopped stream ships again. */
  onResumed: () => void;
  log: SyncLog;
  now: () => number;
}

/** The progress of shipping a stream, and since when it fails. */
export class ShippingStatus {
  readonly #options: ShippingStatusOptions;
  /** When the current series of failures began, by the monotonic clock; null without one. */
  #failingSince: number | null = null;
  state: ShipperState = 'idle';
  lastShipped: StreamPlace | null = null;
  /**
   * The last record that the control plane acknowledged since the start; null while it lacks some.
   */
  acknowledged: ShippedEnd | null = null;
  lastAttemptAt: string | null = null;
  /** By the monotonic clock, in milliseconds. */
  #attemptedAt = Number.NEGATIVE_INFINITY;
  failure: SyncFailure | null = null;
  stop: ShipperStop | null = null;
  /** Whether an attempt has ended: from then on it is known whether records arrive. */
  isSettled = false;

  constructor(options: ShippingStatusOptions) {
    this.#options = options;
  }

  attempted(): void {
    this.lastAttemptAt = new Date(this.#options.now()).toISOString();
    this.#attemptedAt = performance.now();
  }

  sinceAttemptMs(): number {
    return performance.now() - this.#attemptedAt;
  }

  /** A batch was stored, or nothing is left: earlier failures, and a stop, are over. */
  progressed(state: 'shipping' | 'idle'): void {
    const wasStopped = this.stop !== null;
    this.state = state;
    this.failure = null;
    this.stop = null;
    this.#failingSince = null;
    this.isSettled = true;
    if (!wasStopped) return;
    const { tenantId, log, onResumed } = this.#options;
    log.info({ tenantId }, 'the stream is shipped again');
    onResumed();
  }

  /** Logs a failure that differs from the one before. */
  failed(error: unknown): SyncFailure {
    const { tenantId, log, now } = this.#options;
    const failure = toSyncFailure('ship', error, now());
    this.#failingSince ??= performance.now();
    if (failure.code !== this.failure?.code) {
      log.warn({ tenantId, ...aboutFailure(failure) }, 'records could not be shipped');
    }
    this.failure = failure;
    return failure;
  }

  /** The stream cannot continue for now; the control plane may be repaired. */
  stall(state: StalledState, failure: SyncFailure, at: StreamPlace | null): void {
    if (this.stop?.state !== state) this.halt({ state, failure, at });
  }

  /** The stream stops, for good or until it is stalled no more. */
  halt(stop: ShipperStop): void {
    const { tenantId, log, onStopped } = this.#options;
    this.state = stop.state;
    this.failure = stop.failure;
    this.stop = stop;
    this.isSettled = true;
    const { state, failure, at } = stop;
    const fields = { tenantId, state, stopped_at: at, ...aboutFailure(failure) };
    log.error(fields, 'the stream is not shipped: a person must look');
    onStopped(stop);
  }

  failingMs(): number {
    return this.#failingSince === null ? 0 : performance.now() - this.#failingSince;
  }

  shown(backlog: number): ShipperStatus {
    return {
      state: this.state,
      backlog,
      last_shipped: this.lastShipped,
      last_attempt_at: this.lastAttemptAt,
      failure: this.failure,
      stop: this.stop,
    };
  }
}
