/** What a refused batch means for its stream. */
import type { SignedBatch } from '@governance/shared/audit-batch';
import { AppError, ERRORS, type ErrorCode } from '@governance/shared/errors';
import { z } from 'zod';
import { LedgerError } from '../../ledger/ledger-error.ts';
import type { EndedState, StalledState, StreamPlace } from './shipping-status.ts';

export type AfterFailure = 'retrying' | 'gap' | 'stopped' | EndedState | StalledState;

/** The consequence of a failed attempt. */
export function stateAfter(error: unknown): AfterFailure {
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

/** Whether the next attempt would be refused too; a token may be renewed, and a wait may end. */
function isRefusal(code: ErrorCode): boolean {
  const [status] = ERRORS[code];
  return status >= 400 && status < 500 && !RETRIED.has(status);
}

const RETRIED: ReadonlySet<number> = new Set([401, 429]);

/** Where a batch stops the stream: at the record that its refusal names, else its first. */
export function placeOf(batch: SignedBatch | null, error: unknown): StreamPlace | null {
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
export function placeOfGap(error: unknown): StreamPlace | null {
  const location = error instanceof AppError ? error.errors?.[0]?.loc : undefined;
  const parsed = GapLocation.safeParse(location);
  return parsed.success ? { epoch: parsed.data[1], seq: parsed.data[2] } : null;
}
