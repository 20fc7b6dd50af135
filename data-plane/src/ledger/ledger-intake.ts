/**
 * Checks each new record, serialises it, and queues it while there is room. Above the disk's upper
 * watermark new calls are refused; the outcomes of calls that have begun are still recorded.
 */
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import type { AppendedRecord, HoldChange } from '../contracts.ts';
import type { DiskLevel } from './disk-watermark.ts';
import { LedgerError } from './ledger-error.ts';
import type { createLedgerQueue } from './ledger-queue.ts';
import type { NamedStream } from './ledger-streams.ts';
import { callMark } from './open-decisions.ts';
import {
  charactersOf,
  type Place,
  type RecordText,
  UnfitRecordError,
  writeRecord,
} from './record-text.ts';

/** A salt's length is stored in one byte. */
const MAX_SALT_BYTES = 255;

export function createLedgerIntake(deps: {
  queue: Pick<ReturnType<typeof createLedgerQueue>, 'addRecord' | 'hasRoom'>;
  findStream(tenantId: string): NamedStream | undefined;
  diskLevel(): DiskLevel;
  /** Why nothing is recorded any more; null while records are accepted. */
  findEnd(): LedgerError | null;
}) {
  function refusalOf(record: UnchainedRecord, characters: number): LedgerError | null {
    const end = deps.findEnd();
    // A new error for each caller: its stack shows in the log who appended.
    if (end) return new LedgerError(end.fault, end.message);
    const isBegun = record.type !== 'decision' && record.type !== 'hold_opened';
    if (!isBegun && deps.diskLevel() === 'full') {
      return new LedgerError('full', 'the disk is too full to record new calls');
    }
    if (!deps.queue.hasRoom(characters)) {
      return new LedgerError('overloaded', 'too many records wait for the disk');
    }
    return null;
  }

  /** Resolves when the record is on disk. Rejects with LedgerError. */
  function take(
    tenantId: string,
    record: UnchainedRecord,
    salt: Uint8Array | null = null,
    holds?: readonly HoldChange[],
  ): Promise<AppendedRecord> {
    try {
      const known = deps.findStream(tenantId);
      if (!known) throw new LedgerError('stream_unknown', 'no stream is open for the tenant');
      if (salt && salt.length > MAX_SALT_BYTES) {
        throw new LedgerError('record_refused', `a salt has at most ${MAX_SALT_BYTES} bytes`);
      }
      const text = written(known.place, record);
      const characters = charactersOf(text);
      const refusal = refusalOf(record, characters);
      if (refusal) throw refusal;
      const { id, type } = record;
      const item = { id, streamNo: known.streamNo, text, mark: callMark(record), salt, holds };
      return deps.queue.addRecord(item, tenantId, type, characters);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  return { take };
}

function written(place: Place, record: UnchainedRecord): RecordText {
  try {
    return writeRecord(place, record);
  } catch (cause) {
    if (!(cause instanceof UnfitRecordError)) throw cause;
    const message = `the record cannot be chained: ${cause.message}`;
    throw new LedgerError('record_refused', message, { cause });
  }
}
