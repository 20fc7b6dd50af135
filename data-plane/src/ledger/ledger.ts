/**
 * The ledger of a data plane: records are checked, chained and committed on the main thread, in
 * groups, and acknowledged when another thread has synced the log. A failed disk ends the ledger
 * for good: `onFatal` is called once, and the process has to end, since a later fsync proves
 * nothing about earlier writes. Proven by ledger.test.ts and ledger-crash.test.ts.
 */
import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import type { SignedBatch } from '@governance/shared/audit-batch';
import type { UnchainedRecord } from '@governance/shared/ledger-record';
import type { AppendedRecord, HoldChange, Ledger } from '../contracts.ts';
import { sqliteCode } from '../storage/durable-database.ts';
import { diskAlert } from './disk-alert.ts';
import { createDiskWatermark, type DiskLevel, readUsedShare } from './disk-watermark.ts';
import { createKeptAlerts } from './kept-alerts.ts';
import { createLedgerCommitter, type LedgerObserver } from './ledger-committer.ts';
import { LedgerError } from './ledger-error.ts';
import { openLedgerFile } from './ledger-file.ts';
import type { Checked, OpenedStream, Rewound, ShippedPosition } from './ledger-messages.ts';
import { createLedgerQueue } from './ledger-queue.ts';
import { startLedgerReading } from './ledger-reading.ts';
import { type AppendListener, createLedgerStreams } from './ledger-streams.ts';
import { startLedgerSync } from './ledger-sync.ts';
import { createLedgerWriter } from './ledger-writer.ts';
import { callMark } from './open-decisions.ts';
import {
  charactersOf,
  type Place,
  type RecordText,
  UnfitRecordError,
  writeRecord,
} from './record-text.ts';

export type { LedgerObserver };

export const LEDGER_FILE = 'data-plane.db';

const DEFAULT_MAX_PENDING_RECORDS = 20_000;
const DISK_CHECK_MS = 5_000;
/** The largest length that a byte can hold. */
const MAX_SALT_BYTES = 255;

export interface LedgerOptions {
  dataDir: string;
  /** The writer's Ed25519 private key, which signs batches. */
  signingKey: KeyObject;
  writerVersion: string;
  /** Called once when nothing can be recorded any more; the process must then end. */
  onFatal: (error: Error) => void;
  observer?: LedgerObserver;
  now?: () => number;
  /** Limit of all files of the ledger together; null: as much as the disk has. */
  limitBytes?: number | null;
  readUsedShare?: () => Promise<number>;
  diskCheckMs?: number;
  maxPendingRecords?: number;
  /** How the log is made durable. */
  startSync?: typeof startLedgerSync;
}

export interface LedgerStatus {
  condition: 'ok' | 'warning' | 'full' | 'failed';
  pendingRecords: number;
  committedRecords: number;
}

export interface DurableLedger extends Ledger {
  /**
   * Starts the tenant's stream: a new epoch, and `outcome_unknown` for what the last one left
   * open. Asked again for the same stream, it answers the same.
   *
   * @throws LedgerError when the stream is damaged or the epoch could not be made durable
   */
  open(tenantId: string, stream: string): Promise<OpenedStream>;
  /** The tenant's next records to ship, signed; null when all were shipped. */
  nextBatch(tenantId: string, limit: number): Promise<SignedBatch | null>;
  /** Remembers durably that everything up to this position is stored at the control plane. */
  markShipped(tenantId: string, position: ShippedPosition): Promise<void>;
  /** Ships again from `next`, if the kept records reach back that far (ledger-retention.ts). */
  rewindShipped(tenantId: string, next: { epoch: number; seq: number }): Promise<Rewound>;
  /** The rows of a tenant's held calls, as written. */
  readHolds(tenantId: string): string[];
  /** Writes such rows on their own. */
  writeHolds(holds: readonly HoldChange[]): Promise<void>;
  /** Records that wait to be shipped; 0 where the tenant has no stream. */
  backlog(tenantId: string): number;
  /**
   * Removes records that were shipped longer than `keepMs` ago, `limit` of them or the rest of a
   * group more.
   *
   * @returns how many; fewer than `limit` when no more are due
   */
  prune(tenantId: string, keepMs: number, limit: number): Promise<number>;
  /**
   * Rereads some of the shipped records, behind `after` or from the oldest one kept.
   *
   * @throws LedgerError `damaged` when a record is not what was chained
   */
  checkShipped(tenantId: string, after: ShippedPosition | null, limit: number): Promise<Checked>;
  /**
   * Calls back after records became durable (`urgent`: ship them at once); returns the unsubscribe.
   */
  onAppended(listener: AppendListener): () => void;
  /** Checks the disk's level now instead of at the next interval. */
  checkDisk(): Promise<void>;
  status(): LedgerStatus;
  /** Makes all records durable and closes the file. */
  stop(): Promise<void>;
}

/**
 * Opens the ledger in a data folder.
 *
 * @throws when its file is damaged or in use by another process
 */
export async function createLedger(options: LedgerOptions): Promise<DurableLedger> {
  const now = options.now ?? Date.now;
  const path = join(options.dataDir, LEDGER_FILE);
  const limitBytes = options.limitBytes ?? null;
  const retryMs = options.diskCheckMs ?? DISK_CHECK_MS;
  let committedRecords = 0;
  let failure: Error | null = null;
  let stopping = false;
  let usedShare: number | null = null;

  const file = openLedgerFile({ path, limitBytes });
  const writer = createLedgerWriter(file);
  const startSync = options.startSync ?? startLedgerSync;
  const sync = await startSync(`${path}-wal`, fail).catch((error) => {
    file.close();
    throw error;
  });
  const reading = startLedgerReading({ path, signingKey: options.signingKey, limitBytes }, fail);
  const queue = createLedgerQueue({
    maxRecords: options.maxPendingRecords ?? DEFAULT_MAX_PENDING_RECORDS,
    run: () => committer.run(),
    settled: ({ tenantId, isUrgent, records }) => {
      committedRecords += records;
      streams.appended(tenantId, isUrgent, records);
    },
  });
  const committer = createLedgerCommitter({
    writer,
    sync,
    take: queue.take,
    checkpoint: () => reading.ask('checkpoint'),
    refusalFor,
    onFatal: fail,
    ...(options.observer && { observer: options.observer }),
  });
  const streams = createLedgerStreams({
    writer,
    reading,
    committer,
    drained: queue.drained,
    ship: (streamNo, shipped) => queue.add({ streamNo, shipped }),
    onFatal: fail,
    writerVersion: options.writerVersion,
    now,
  });
  const kept = createKeptAlerts({ append: appendOnce, now, retryMs });
  const disk = createDiskWatermark({
    readUsedShare:
      options.readUsedShare ??
      (async () => {
        const free = await reading.ask('freeBytes');
        return readUsedShare(options.dataDir, [path, `${path}-wal`], limitBytes, free);
      }),
    intervalMs: retryMs,
    onChange: reportDisk,
  });

  /** A full disk can be cleared. After any other error the state is unknown: then null. */
  function refusalFor(error: unknown): LedgerError | null {
    if (error instanceof LedgerError) return error.fault === 'failed' ? null : error;
    if (sqliteCode(error) !== 'SQLITE_FULL') return null;
    disk.reportFull();
    return new LedgerError('full', 'the disk has no room for the commit', { cause: error });
  }

  function fail(error: unknown): void {
    if (failure) return;
    const code = sqliteCode(error);
    const message = error instanceof Error ? error.message : String(error);
    failure = new Error(`the ledger cannot write: ${code ? `${code}: ` : ''}${message}`);
    disk.stop();
    kept.stop();
    const refusal = new LedgerError('failed', failure.message, { cause: failure });
    queue.fail(refusal);
    committer.end(refusal);
    reading.fail(refusal);
    void sync.close();
    options.onFatal(failure);
  }

  function refusalOf(record: UnchainedRecord, characters: number): LedgerError | null {
    if (failure) return new LedgerError('failed', failure.message);
    if (stopping) return new LedgerError('stopped', 'the ledger is stopping');
    // Above the watermark no call begins; one that has begun may still be finished.
    const isBegun = record.type !== 'decision' && record.type !== 'hold_opened';
    if (!isBegun && disk.level() === 'full') {
      return new LedgerError('full', 'the disk is too full to record new calls');
    }
    if (!queue.hasRoom(characters)) {
      return new LedgerError('overloaded', 'too many records wait for the disk');
    }
    return null;
  }

  function append(
    tenantId: string,
    record: UnchainedRecord,
    salt?: Uint8Array,
    holds?: readonly HoldChange[],
  ): Promise<AppendedRecord> {
    const appended = appendOnce(tenantId, record, salt, holds);
    if (record.type === 'alert') {
      appended.catch((error: unknown) => kept.keep(tenantId, record, error));
    }
    return appended;
  }

  function appendOnce(
    tenantId: string,
    record: UnchainedRecord,
    salt: Uint8Array | null = null,
    holds?: readonly HoldChange[],
  ): Promise<AppendedRecord> {
    try {
      const known = streams.find(tenantId);
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
      return queue.addRecord(item, tenantId, type, characters);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async function open(tenantId: string, stream: string): Promise<OpenedStream> {
    const isFirst = !streams.find(tenantId);
    const opened = await streams.open(tenantId, stream);
    // After a restart on a disk that is still full, nothing else would report it.
    if (isFirst) tellOfDisk(tenantId, stream, disk.level());
    return opened;
  }

  function reportDisk(level: DiskLevel, share: number | null): void {
    usedShare = share;
    for (const [tenantId, { stream }] of streams.all()) tellOfDisk(tenantId, stream, level);
    if (level !== 'full') void kept.raise();
  }

  function tellOfDisk(tenantId: string, stream: string, level: DiskLevel): void {
    if (level === 'ok') return;
    // A disk without room for its own alert still shows in `condition`, and in the heartbeat.
    append(tenantId, diskAlert(stream, level, usedShare, now())).catch(() => undefined);
  }

  async function stop(): Promise<void> {
    if (stopping || failure) return;
    stopping = true;
    disk.stop();
    kept.stop();
    await queue.drained();
    // The current turn ends first; after that nothing is started.
    await committer.between(async () => undefined);
    const refusal = new LedgerError('stopped', 'the ledger is stopping');
    queue.fail(refusal);
    committer.end(refusal);
    await reading.ask('close');
    await sync.close();
    file.close();
  }

  await disk.check();

  const condition = () => (failure ? 'failed' : disk.level());
  return {
    ...streams,
    append,
    open,
    readHolds: writer.readHolds,
    writeHolds: async (holds) => void (await queue.add({ holds })),
    condition,
    checkDisk: disk.check,
    status: () => ({ condition: condition(), pendingRecords: queue.size(), committedRecords }),
    stop,
  };
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
