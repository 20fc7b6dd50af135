/**
 * What follows a failed attempt to ship: a pause, an earlier position, or the end of the stream.
 * Proven by shipper.test.ts.
 */

import { AppError } from '@governance/shared/errors';
import type { SignedBatch } from '@governance/shared/ledger/audit-batch';
import { z } from 'zod';
import type { DurableLedger } from '../../ledger/ledger.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import { type BackoffLimits, backoff, createPause, SYNC_BACKOFF } from '../link/backoff.ts';
import { LinkError } from '../link/link-error.ts';
import type { SyncFailure, SyncLog } from '../link/sync-failure.ts';
import type { EndedState, ShippingStatus, StalledState, StreamPlace } from './shipping-status.ts';

/** A longer Retry-After is ignored: a typing error must not delay the records. */
const LONGEST_HOLD_MS = 5 * 60_000;

/** After this many refusals the same batch counts as refused for good. */
const REFUSALS = 3;

/** How long a stopped stream waits before it checks whether the reason is gone. */
const STALLED_RETRY_MS = 5 * 60_000;

export function createShipRecovery(options: {
  tenantId: string;
  ledger: Pick<DurableLedger, 'rewindShipped'>;
  status: ShippingStatus;
  /** Ends the stream: from then on nothing is shipped. */
  end: () => void;
  log: SyncLog;
  backoffLimits?: BackoffLimits;
  stalledRetryMs?: number;
}) {
  const { tenantId, ledger, status, log } = options;
  const limits = options.backoffLimits ?? SYNC_BACKOFF;
  const retryPause = createPause();
  /** A kick does not end it: the control plane asked for it. */
  const holdOff = createPause();
  const stallPause = createPause();
  let failures = 0;
  /** Consecutive refusals of one batch. */
  let refusals = 0;

  /** Lets the records from `next` on be shipped again, if they are still kept. */
  async function rewind(next: StreamPlace) {
    const rewound = await ledger.rewindShipped(tenantId, next).catch(() => null);
    if (rewound?.state !== 'rewound') return rewound;
    status.acknowledged = null;
    const { backlog } = rewound;
    log.warn({ tenantId, next, backlog }, 'the control plane lacks records: shipped again');
    return rewound;
  }

  /** Ships again the records that the control plane lacks, or stops the stream. */
  async function goBack(error: unknown, failure: SyncFailure): Promise<void> {
    status.acknowledged = null;
    const next = placeOfGap(error);
    const rewound = next && (await rewind(next));
    if (rewound?.state === 'rewound') return;
    const lacks = next ? `from epoch ${next.epoch}, record ${next.seq}` : '';
    const why =
      rewound?.state === 'gone'
        ? `the control plane lacks records ${lacks} that are no longer kept here`
        : failure.message;
    status.stall('conflict', { ...failure, message: why }, next);
  }

  return {
    /** Ends the stream, or waits until the next attempt makes sense. */
    recover: async (error: unknown, batch: SignedBatch | null): Promise<void> => {
      failures++;
      const failure = status.failed(error);
      const state = stateAfter(error);
      if (state === 'stopped' || state === 'forked' || state === 'damaged') {
        // Before anybody is told: nothing that they do makes it go on.
        options.end();
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
    },
    /**
     * As far as they are kept: of those that are gone, the refusal of the next batch tells.
     */
    goBackTo: async (next: StreamPlace): Promise<void> => void (await rewind(next)),
    /** A batch arrived, or none waits. */
    succeeded: (): void => {
      failures = 0;
      refusals = 0;
    },
    /** Ends the pause after a failure. */
    retry: (): void => retryPause.wake(),
    retryWithin: retryPause.shorten,
    /** Ends the pause of a stopped stream. */
    retryStopped: (): void => stallPause.wake(),
    endPauses: (): void => {
      for (const pause of [retryPause, holdOff, stallPause]) pause.wake();
    },
  };
}

/** The consequence of a failed attempt. */
function stateAfter(error: unknown): 'retrying' | 'gap' | 'stopped' | EndedState | StalledState {
  if (error instanceof LedgerError) {
    if (error.fault === 'damaged') return 'damaged';
    return error.fault === 'failed' || error.fault === 'stopped' ? 'stopped' : 'retrying';
  }
  if (!(error instanceof AppError)) return 'retrying';
  if (error.code === 'DATA_PLANE_FORKED') return 'forked';
  if (error.code === 'BATCH_CONFLICT') {
    const type = error.errors?.[0]?.type;
    if (type === 'stream_gap') return 'gap';
    return type === 'stream_fork' ? 'forked' : 'conflict';
  }
  // The next attempt would be refused too, unless a token is renewed or a wait ends.
  const isRefusal = error.status >= 400 && error.status < 500 && !RETRIED.has(error.status);
  return isRefusal ? 'refused' : 'retrying';
}

const RETRIED: ReadonlySet<number> = new Set([401, 429]);

/** Where a batch stops the stream: at the record that its refusal names, else its first. */
function placeOf(batch: SignedBatch | null, error: unknown): StreamPlace | null {
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

/** The record that the control plane wants next, if it said so. */
function placeOfGap(error: unknown): StreamPlace | null {
  const location = error instanceof AppError ? error.errors?.[0]?.loc : undefined;
  const parsed = GapLocation.safeParse(location);
  return parsed.success ? { epoch: parsed.data[1], seq: parsed.data[2] } : null;
}
