/**
 * The ledger of a data plane: the main thread checks, chains and commits records in groups, and
 * acknowledges them when another thread has synced the log. A disk error ends the ledger for good,
 * since a later fsync proves nothing about earlier writes: `onFatal` is called once, and the
 * process has to end. Proven by ledger.test.ts and ledger-crash.test.ts.
 */
import type { KeyObject } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SignedBatch } from '@governance/shared/ledger/audit-batch';
import type { HoldChange, Ledger } from '../contracts.ts';
import { sqliteCode } from '../storage/durable-database.ts';
import { type DiskLevel, readUsedShare } from './disk-watermark.ts';
import { createLedgerCommitter, type LedgerObserver } from './ledger-committer.ts';
import { createLedgerDisk } from './ledger-disk.ts';
import { LedgerError } from './ledger-error.ts';
import { openLedgerFile } from './ledger-file.ts';
import { createLedgerIntake } from './ledger-intake.ts';
import { marksPath } from './ledger-marks.ts';
import type { Checked, OpenedStream, Rewound, ShippedPosition } from './ledger-messages.ts';
import { createLedgerQueue } from './ledger-queue.ts';
import { startLedgerReading } from './ledger-reading.ts';
import { type AppendListener, createLedgerStreams } from './ledger-streams.ts';
import { startLedgerSync } from './ledger-sync.ts';
import { createLedgerWriter } from './ledger-writer.ts';

export type { LedgerObserver };

export const LEDGER_FILE = 'data-plane.db';

const DEFAULT_MAX_PENDING_RECORDS = 20_000;
const DISK_CHECK_MS = 5_000;

export interface LedgerOptions {
  dataDir: string;
  /** The writer's Ed25519 private key, which signs batches. */
  signingKey: KeyObject;
  writerVersion: string;
  /** Called once when nothing can be recorded any more; the process must then end. */
  onFatal: (error: Error) => void;
  observer?: LedgerObserver;
  /** Called when the room on the disk changes; the share that is used is null where it cannot be read. */
  onDisk?: (level: DiskLevel, usedShare: number | null) => void;
  now?: () => number;
  /** Limit of all files of the ledger together; null: as much as the disk has. */
  limitBytes?: number | null;
  /** The used share of the disk, from 0 to 1. */
  readUsedShare?: () => Promise<number>;
  diskCheckMs?: number;
  maxPendingRecords?: number;
  /** Starts the thread that syncs the log; replaced in tests. */
  startSync?: typeof startLedgerSync;
}

export interface LedgerStatus {
  condition: 'ok' | 'warning' | 'full' | 'failed';
  pendingRecords: number;
}

export interface DurableLedger extends Ledger {
  /**
   * Starts the tenant's stream: begins an epoch, and records `outcome_unknown` for calls that the
   * last one left open. Idempotent: opened again, the same stream gives the same answer.
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
  /** Writes or removes such rows without a record. */
  writeHolds(holds: readonly HoldChange[]): Promise<void>;
  /** Records that wait to be shipped; 0 where the tenant has no stream. */
  backlog(tenantId: string): number;
  /** Whether the records that wait fill a batch of `limit` records, or one by their size. */
  fillsBatch(tenantId: string, limit: number): boolean;
  /**
   * Removes records that were shipped longer than `keepMs` ago: about `limit` of them, since groups
   * are removed whole.
   *
   * @returns how many; fewer than `limit` when no more are due
   */
  prune(tenantId: string, keepMs: number, limit: number): Promise<number>;
  /**
   * Verifies up to `limit` shipped records after `after`, or from the oldest kept record.
   *
   * @throws LedgerError `damaged` when a record is not the one that was chained
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
  /** Why nothing is recorded any more; null while records are accepted. */
  let ended: LedgerError | null = null;

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
    settled: (of) => streams.appended(of),
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
  const intake = createLedgerIntake({
    queue,
    findStream: streams.find,
    diskLevel: () => disk.level(),
    findEnd: () => ended,
  });
  const disk = createLedgerDisk({
    readUsedShare:
      options.readUsedShare ??
      (async () => {
        // Whoever removed one under the running process took with it what is recorded from now on.
        for (const one of [path, `${path}-wal`, marksPath(path)]) await stat(one);
        const free = await reading.ask('freeBytes');
        return readUsedShare(options.dataDir, [path, `${path}-wal`], limitBytes, free);
      }),
    intervalMs: options.diskCheckMs ?? DISK_CHECK_MS,
    append: intake.take,
    allStreams: streams.all,
    now,
    onChange: options.onDisk,
  });

  /** The error for callers when the disk is full; null after other errors: the state is unknown. */
  function refusalFor(error: unknown): LedgerError | null {
    if (error instanceof LedgerError) return error.fault === 'failed' ? null : error;
    if (sqliteCode(error) !== 'SQLITE_FULL') return null;
    disk.reportFull();
    return new LedgerError('full', 'the disk has no room for the commit', { cause: error });
  }

  function fail(error: unknown): void {
    if (ended?.fault === 'failed') return;
    const failure = ledgerFailure(error);
    ended = new LedgerError('failed', failure.message, { cause: failure });
    disk.stop();
    queue.fail(ended);
    committer.end(ended);
    reading.fail(ended);
    void sync.close();
    options.onFatal(failure);
  }

  const append: Ledger['append'] = (tenantId, record, salt, holds) => {
    const appended = intake.take(tenantId, record, salt, holds);
    if (record.type === 'alert') {
      appended.catch((error: unknown) => disk.keep(tenantId, record, error));
    }
    return appended;
  };

  async function open(tenantId: string, stream: string): Promise<OpenedStream> {
    const isFirst = !streams.find(tenantId);
    const opened = await streams.open(tenantId, stream);
    // After a restart on a disk that is still full, nothing else would report it.
    if (isFirst) disk.raise(tenantId, stream);
    return opened;
  }

  async function stop(): Promise<void> {
    if (ended) return;
    const refusal = new LedgerError('stopped', 'the ledger is stopping');
    ended = refusal;
    disk.stop();
    await queue.drained();
    // Waits for the current write to end; nothing is started after that.
    await committer.between(async () => undefined);
    queue.fail(refusal);
    committer.end(refusal);
    await reading.ask('close');
    await sync.close();
    file.close();
  }

  await disk.check();

  const condition = () => (ended?.fault === 'failed' ? 'failed' : disk.level());
  return {
    ...streams,
    append,
    open,
    readHolds: writer.readHolds,
    writeHolds: async (holds) => void (await queue.add({ holds })),
    condition,
    checkDisk: disk.check,
    status: () => ({ condition: condition(), pendingRecords: queue.size() }),
    stop,
  };
}

function ledgerFailure(error: unknown): Error {
  const code = sqliteCode(error);
  const message = error instanceof Error ? error.message : String(error);
  return new Error(`the ledger cannot write: ${code ? `${code}: ` : ''}${message}`);
}
