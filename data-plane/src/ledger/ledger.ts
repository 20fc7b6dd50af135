/**
 * The main thread's side of the ledger: collects records into one message for the worker, while that
 * is busy with two earlier ones, and settles each append when its group is on disk. A failed disk ends the ledger for
 * good: `onFatal` is told once, and the process has to end, since what a later fsync says about
 * earlier writes is worth nothing. Proven by ledger.test.ts and ledger-crash.test.ts.
 */
import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import type { SignedBatch } from '@governance/shared/audit-batch';
import type { UnchainedRecord } from '@governance/shared/ledger-record';
import { spawnWorker } from '@governance/shared/spawn-worker';
import type { AppendedRecord, EventSalt, Ledger } from '../contracts.ts';
import { diskAlert } from './disk-alert.ts';
import { createDiskWatermark, type DiskLevel, readUsedShare } from './disk-watermark.ts';
import { createKeptAlerts } from './kept-alerts.ts';
import { LedgerError } from './ledger-error.ts';
import type {
  Checked,
  LedgerAnswer,
  LedgerMessage,
  LedgerRequest,
  LedgerWorkerData,
  OpenedStream,
  PackedBatch,
  Rewound,
  ShippedPosition,
} from './ledger-messages.ts';

export const LEDGER_FILE = 'data-plane.db';

const DEFAULT_MAX_PENDING_RECORDS = 20_000;
const DEFAULT_MAX_PENDING_CHARACTERS = 64 * 1024 * 1024;
const DISK_CHECK_MS = 5_000;
/** One that the worker commits, one that it finds when it is done. */
const MAX_GROUPS_UNDER_WAY = 2;
/** Bounds what a record may wait for the others of its group. */
const MAX_GROUP_RECORDS = 512;
/** The longest that an outcome waits for a record to go with. */
const OUTCOME_DELAY_MS = 5;

export interface LedgerObserver {
  /**
   * A group was committed: its size, the seconds from its start until the disk had it, and those of
   * its COMMIT alone (writing and fdatasync).
   */
  committed?(records: number, seconds: number, diskSeconds: number): void;
}

export interface LedgerOptions {
  dataDir: string;
  /** The writer's Ed25519 private key, which signs batches. */
  signingKey: KeyObject;
  writerVersion: string;
  /** Told once when nothing can be recorded any more; the process must then end. */
  onFatal: (error: Error) => void;
  observer?: LedgerObserver;
  now?: () => number;
  /** What the ledger's files may take together; null: as much as the disk has. */
  limitBytes?: number | null;
  readUsedShare?: () => Promise<number>;
  diskCheckMs?: number;
  maxPendingRecords?: number;
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
  /** Ships again from `next`, where what is kept reaches back so far (ledger-retention.ts). */
  rewindShipped(tenantId: string, next: { epoch: number; seq: number }): Promise<Rewound>;
  /** Records that wait to be shipped; 0 where the tenant has no stream. */
  backlog(tenantId: string): number;
  /**
   * Removes up to `limit` records that were shipped longer than `keepMs` ago.
   *
   * @returns how many
   */
  prune(tenantId: string, keepMs: number, limit: number): Promise<number>;
  /**
   * Reads some of what was shipped again, behind `after` or from the oldest that is kept.
   *
   * @throws LedgerError `damaged` when a record is not what was chained
   */
  checkShipped(tenantId: string, after: ShippedPosition | null, limit: number): Promise<Checked>;
  /** Calls back after records became durable (`urgent`: ship them at once); returns how to end that. */
  onAppended(listener: AppendListener): () => void;
  /** Looks at the disk's level at once instead of at the next interval. */
  checkDisk(): Promise<void>;
  status(): LedgerStatus;
  /** Makes what was appended durable and closes the file. */
  stop(): Promise<void>;
}

export type AppendListener = (tenantId: string, urgent: boolean, records: number) => void;

interface Pending {
  tenantId: string;
  streamNo: number;
  epoch: number;
  id: string;
  urgent: boolean;
  text: string;
  salt: EventSalt | undefined;
  resolve: (appended: AppendedRecord) => void;
  reject: (error: Error) => void;
}

/**
 * Opens the ledger in a data folder.
 *
 * @throws when its file is damaged or in use by another process
 */
export async function createLedger(options: LedgerOptions): Promise<DurableLedger> {
  const now = options.now ?? Date.now;
  const path = join(options.dataDir, LEDGER_FILE);
  const maxPending = options.maxPendingRecords ?? DEFAULT_MAX_PENDING_RECORDS;
  const limitBytes = options.limitBytes ?? null;
  const workerData: LedgerWorkerData = { path, signingKey: options.signingKey, limitBytes };
  const worker = spawnWorker(import.meta.url, 'ledger-worker', { workerData });

  const streams = new Map<string, OpenedStream & { stream: string }>();
  const listeners = new Set<AppendListener>();
  const backlogs = new Map<string, number>();
  /** Of the last batch of each tenant: where it ends, and how many records it has. */
  const batches = new Map<string, { epoch: number; seq: number; records: number }>();
  const appends = new Map<number, Pending[]>();
  const requests = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  let waiting: Pending[] = [];
  /** Whether somebody waits for one of the waiting records. */
  let isDue = false;
  let isFlushing = false;
  let outcomeTimer: NodeJS.Timeout | null = null;
  let nextId = 1;
  let pendingRecords = 0;
  let pendingCharacters = 0;
  let committedRecords = 0;
  let failure: Error | null = null;
  let started = false;
  let stopping = false;

  let usedShare: number | null = null;
  const retryMs = options.diskCheckMs ?? DISK_CHECK_MS;
  const kept = createKeptAlerts({ append: (...given) => appendOnce(...given), now, retryMs });
  const disk = createDiskWatermark({
    readUsedShare:
      options.readUsedShare ??
      (async () => {
        const free = Number(await request({ op: 'space' }));
        return readUsedShare(options.dataDir, [path, `${path}-wal`], limitBytes, free);
      }),
    intervalMs: retryMs,
    onChange: reportDisk,
  });

  worker.on('message', (answers: LedgerAnswer[]) => {
    for (const answer of answers) settle(answer);
    flush();
  });
  worker.on('error', (error: Error) => fail(error));
  worker.on('exit', (code) => {
    if (!stopping || requests.size > 0) fail(new Error(`the ledger's thread ended (${code})`));
  });

  function settle(answer: LedgerAnswer): void {
    switch (answer.op) {
      case 'appended':
        settleAppends(answer);
        return;
      case 'answer':
        requests.get(answer.id)?.resolve(answer.value);
        requests.delete(answer.id);
        return;
      case 'refused': {
        if (answer.fault === 'full') disk.reportFull();
        const error = new LedgerError(answer.fault, answer.message);
        for (const pending of takeAppends(answer.id)) pending.reject(error);
        requests.get(answer.id)?.reject(error);
        requests.delete(answer.id);
        return;
      }
      case 'committed':
        committedRecords += answer.records;
        options.observer?.committed?.(answer.records, answer.seconds, answer.diskSeconds);
        return;
      case 'fatal':
        fail(new Error(`the ledger cannot write: ${answer.message}`));
    }
  }

  function settleAppends(answer: Extract<LedgerAnswer, { op: 'appended' }>): void {
    const settled = new Map<string, { urgent: boolean; records: number }>();
    for (const [index, pending] of takeAppends(answer.id).entries()) {
      const { id, epoch, tenantId } = pending;
      const seq = answer.seqs[index] ?? 0;
      const hash = answer.hashes[index] ?? '';
      if (seq === 0) {
        pending.reject(new LedgerError('record_refused', `the record cannot be chained: ${hash}`));
        continue;
      }
      pending.resolve({ id, epoch, seq, hash });
      const before = settled.get(tenantId);
      const urgent = pending.urgent || (before?.urgent ?? false);
      settled.set(tenantId, { urgent, records: (before?.records ?? 0) + 1 });
    }
    for (const [tenantId, { urgent, records }] of settled) {
      backlogs.set(tenantId, (backlogs.get(tenantId) ?? 0) + records);
      for (const listener of listeners) listener(tenantId, urgent, records);
    }
  }

  function takeAppends(id: number): Pending[] {
    const taken = appends.get(id) ?? [];
    appends.delete(id);
    release(taken);
    return taken;
  }

  function release(settled: Pending[]): void {
    pendingRecords -= settled.length;
    for (const pending of settled) pendingCharacters -= pending.text.length;
  }

  function fail(error: Error): void {
    if (failure) return;
    failure = error;
    disk.stop();
    kept.stop();
    const refusal = new LedgerError('failed', error.message, { cause: error });
    for (const pending of [...[...appends.values()].flat(), ...waiting]) pending.reject(refusal);
    for (const request of requests.values()) request.reject(refusal);
    appends.clear();
    requests.clear();
    waiting = [];
    if (outcomeTimer) clearTimeout(outcomeTimer);
    void worker.terminate();
    if (started) options.onFatal(error);
  }

  // Each message costs both threads more than a record does. So while the worker has one group to
  // commit and a next one, further records are collected.
  function flush(): void {
    while (isDue && appends.size < MAX_GROUPS_UNDER_WAY) send();
  }

  function send(): void {
    const group = waiting.splice(0, MAX_GROUP_RECORDS);
    if (waiting.length === 0) isDue = false;
    if (group.length === 0) return;
    const id = nextId++;
    const entries = `[${group.map(entryText).join(',')}]`;
    appends.set(id, group);
    post({ op: 'append', id, count: group.length, entries });
  }

  /** Nobody waits for an outcome: it goes with the next record somebody waits for, or after a moment. */
  function schedule(record: UnchainedRecord): void {
    if (record.type === 'outcome') {
      outcomeTimer ??= setTimeout(() => {
        outcomeTimer = null;
        isDue = true;
        flush();
      }, OUTCOME_DELAY_MS);
      return;
    }
    isDue = true;
    if (isFlushing) return;
    isFlushing = true;
    setImmediate(() => {
      isFlushing = false;
      flush();
    });
  }

  function post(message: LedgerMessage): void {
    worker.postMessage(message);
  }

  function request(body: LedgerRequest): Promise<unknown> {
    if (failure) return Promise.reject(new LedgerError('failed', failure.message));
    return new Promise((resolve, reject) => {
      const id = nextId++;
      requests.set(id, { resolve, reject });
      // Keeps the order in which appends and requests were made.
      while (waiting.length > 0) send();
      post({ ...body, id });
    });
  }

  function refusalOf(record: UnchainedRecord, characters: number): LedgerError | null {
    if (failure) return new LedgerError('failed', failure.message);
    if (stopping) return new LedgerError('stopped', 'the ledger is stopping');
    // Above the watermark a call is not begun; what was begun may still be finished.
    if (record.type === 'decision' && disk.level() === 'full') {
      return new LedgerError('full', 'the disk is too full to record new calls');
    }
    const tooMany = pendingRecords >= maxPending;
    if (tooMany || pendingCharacters + characters > DEFAULT_MAX_PENDING_CHARACTERS) {
      return new LedgerError('overloaded', 'too many records wait for the disk');
    }
    return null;
  }

  function append(
    tenantId: string,
    record: UnchainedRecord,
    salt?: EventSalt,
  ): Promise<AppendedRecord> {
    const appended = appendOnce(tenantId, record, salt);
    if (record.type === 'alert') {
      appended.catch((error: unknown) => kept.keep(tenantId, record, error));
    }
    return appended;
  }

  function appendOnce(
    tenantId: string,
    record: UnchainedRecord,
    salt?: EventSalt,
  ): Promise<AppendedRecord> {
    const stream = streams.get(tenantId);
    if (!stream) {
      return Promise.reject(new LedgerError('stream_unknown', 'no stream is open for the tenant'));
    }
    let text: string;
    try {
      text = JSON.stringify(record);
    } catch (cause) {
      return Promise.reject(new LedgerError('record_refused', 'the record is no JSON', { cause }));
    }
    const refusal = refusalOf(record, text.length);
    if (refusal) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      const { streamNo, epoch } = stream;
      const urgent = record.type === 'alert';
      const { id } = record;
      waiting.push({ tenantId, streamNo, epoch, id, urgent, text, salt, resolve, reject });
      pendingRecords++;
      pendingCharacters += text.length;
      schedule(record);
    });
  }

  async function open(tenantId: string, stream: string): Promise<OpenedStream> {
    const known = streams.get(tenantId);
    if (known && known.stream !== stream) throw new Error('the tenant writes another stream');
    if (known) return known;
    const timestamp = new Date(now()).toISOString();
    const { writerVersion } = options;
    const opened = (await request({
      op: 'open',
      tenantId,
      stream,
      writerVersion,
      timestamp,
    })) as OpenedStream;
    streams.set(tenantId, { ...opened, stream });
    backlogs.set(tenantId, opened.backlog);
    for (const listener of listeners) listener(tenantId, true, opened.backlog);
    // After a restart on a disk that is full still, nobody else would tell.
    tellOfDisk(tenantId, stream, disk.level());
    return opened;
  }

  function streamNoOf(tenantId: string): number {
    const stream = streams.get(tenantId);
    if (!stream) throw new LedgerError('stream_unknown', 'no stream is open for the tenant');
    return stream.streamNo;
  }

  async function nextBatch(tenantId: string, limit: number): Promise<SignedBatch | null> {
    const streamNo = streamNoOf(tenantId);
    const packed = (await request({ op: 'batch', streamNo, limit })) as PackedBatch | null;
    if (!packed) {
      backlogs.set(tenantId, 0);
      return null;
    }
    const { epoch, last_seq: seq } = packed.header;
    batches.set(tenantId, { epoch, seq, records: packed.lengths.length });
    return unpack(packed);
  }

  async function markShipped(tenantId: string, position: ShippedPosition): Promise<void> {
    await request({ op: 'shipped', streamNo: streamNoOf(tenantId), position });
    const batch = batches.get(tenantId);
    if (batch?.epoch !== position.epoch || batch.seq !== position.seq) return;
    batches.delete(tenantId);
    backlogs.set(tenantId, Math.max(0, (backlogs.get(tenantId) ?? 0) - batch.records));
  }

  async function rewindShipped(
    tenantId: string,
    next: { epoch: number; seq: number },
  ): Promise<Rewound> {
    const streamNo = streamNoOf(tenantId);
    const rewound = (await request({ op: 'rewind', streamNo, next })) as Rewound;
    if (rewound.state === 'rewound') backlogs.set(tenantId, rewound.backlog);
    return rewound;
  }

  async function prune(tenantId: string, keepMs: number, limit: number): Promise<number> {
    const streamNo = streamNoOf(tenantId);
    return Number(await request({ op: 'prune', streamNo, now: now(), keepMs, limit }));
  }

  async function checkShipped(
    tenantId: string,
    after: ShippedPosition | null,
    limit: number,
  ): Promise<Checked> {
    return (await request({
      op: 'check',
      streamNo: streamNoOf(tenantId),
      after,
      limit,
    })) as Checked;
  }

  function reportDisk(level: DiskLevel, share: number | null): void {
    usedShare = share;
    for (const [tenantId, { stream }] of streams) tellOfDisk(tenantId, stream, level);
    if (level !== 'full') void kept.raise();
  }

  function tellOfDisk(tenantId: string, stream: string, level: DiskLevel): void {
    if (level === 'ok') return;
    // A disk without room for its own alert is still shown by `condition`, and by the heartbeat.
    append(tenantId, diskAlert(stream, level, usedShare, now())).catch(() => undefined);
  }

  async function stop(): Promise<void> {
    if (stopping || failure) return;
    stopping = true;
    disk.stop();
    kept.stop();
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    await request({ op: 'close' });
    await ended;
  }

  await new Promise<unknown>((resolve, reject) => requests.set(0, { resolve, reject })).catch(
    (error: LedgerError) => {
      throw error.cause ?? error;
    },
  );
  started = true;
  await disk.check();

  return {
    append,
    condition: () => (failure ? 'failed' : disk.level()),
    open,
    nextBatch,
    markShipped,
    rewindShipped,
    backlog: (tenantId) => backlogs.get(tenantId) ?? 0,
    prune,
    checkShipped,
    onAppended: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    checkDisk: disk.check,
    status: () => ({
      condition: failure ? 'failed' : disk.level(),
      pendingRecords,
      committedRecords,
    }),
    stop,
  };
}

function entryText({ streamNo, salt, text }: Pending): string {
  if (!salt) return `[${streamNo},null,${text}]`;
  const bytes = Buffer.from(salt.salt.buffer, salt.salt.byteOffset, salt.salt.byteLength);
  return `[${streamNo},[${JSON.stringify(salt.event_id)},"${bytes.toString('base64')}"],${text}]`;
}

function unpack({ header, signature, bytes, lengths }: PackedBatch): SignedBatch {
  let offset = 0;
  const records = lengths.map((length) => {
    offset += length;
    return bytes.subarray(offset - length, offset);
  });
  return { header, signature, records };
}
