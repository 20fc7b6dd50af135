/** The streams of a ledger, by tenant: opens, ships, checks and prunes them. */
import type { SignedBatch } from '@governance/shared/ledger/audit-batch';
import { createListeners } from '../storage/listeners.ts';
import { type Amount, createLedgerBacklogs } from './ledger-backlogs.ts';
import type { LedgerCommitter } from './ledger-committer.ts';
import { LedgerError } from './ledger-error.ts';
import {
  type Checked,
  MAX_BATCH_BYTES,
  type OpenedStream,
  type PackedBatch,
  type Rewound,
  type ShippedPosition,
} from './ledger-messages.ts';
import type { Settled } from './ledger-queue.ts';
import type { LedgerReading } from './ledger-reading.ts';
import type { Position } from './ledger-rows.ts';
import type { LedgerWriter } from './ledger-writer.ts';
import type { Place } from './record-text.ts';

/** Before records are pruned, open calls are written to their table, but at most this often. */
const SPILL_MS = 30_000;
/** Marks are written with each group, but synced at most this often. */
const SYNC_MARKS_MS = 1_000;

export type AppendListener = (tenantId: string, urgent: boolean, records: number) => void;

export type NamedStream = OpenedStream & { stream: string; place: Place };

export function createLedgerStreams(options: {
  writer: LedgerWriter;
  reading: LedgerReading;
  committer: LedgerCommitter;
  /** Resolves when everything appended so far is on disk. */
  drained: () => Promise<void>;
  /** Queues a position to be committed. */
  ship: (streamNo: number, shipped: ShippedPosition) => Promise<unknown>;
  onFatal: (error: unknown) => void;
  writerVersion: string;
  now: () => number;
}) {
  const { writer, reading, committer, now } = options;
  const streams = new Map<string, NamedStream>();
  const opening = new Map<string, { stream: string; opened: Promise<OpenedStream> }>();
  const listeners = createListeners<Parameters<AppendListener>>();
  const backlogs = createLedgerBacklogs();
  /** The end of each tenant's last batch, and how much it takes of what waits. */
  const batches = new Map<string, Position & Amount>();
  const spilledAt = new Map<string, number>();
  let marksSyncedAt = Number.NEGATIVE_INFINITY;

  function streamNoOf(tenantId: string): number {
    const stream = streams.get(tenantId);
    if (!stream) throw new LedgerError('stream_unknown', 'no stream is open for the tenant');
    return stream.streamNo;
  }

  function open(tenantId: string, stream: string): Promise<OpenedStream> {
    const known = opening.get(tenantId);
    if (known && known.stream !== stream) {
      return Promise.reject(new Error('the tenant writes another stream'));
    }
    if (known) return known.opened;
    const opened = openOnce(tenantId, stream);
    opening.set(tenantId, { stream, opened });
    opened.catch(() => opening.delete(tenantId));
    return opened;
  }

  async function openOnce(tenantId: string, stream: string): Promise<OpenedStream> {
    const found = await reading.ask('checkStream', tenantId, stream);
    const { writerVersion } = options;
    const timestamp = new Date(now()).toISOString();
    const request = { tenantId, stream, writerVersion, timestamp };
    const opened = await committer.write(() => writer.openStream(request, found));
    writer.syncMarks();
    const place = { tenant_id: tenantId, stream, epoch: opened.epoch };
    streams.set(tenantId, { ...opened, stream, place });
    backlogs.recount(tenantId, opened.backlog);
    listeners.notify(tenantId, true, opened.backlog);
    return opened;
  }

  async function nextBatch(tenantId: string, limit: number): Promise<SignedBatch | null> {
    const streamNo = streamNoOf(tenantId);
    await options.drained();
    const waiting = backlogs.of(tenantId);
    const packed = await reading.ask('nextBatch', writer.known(streamNo), limit);
    if (!packed) {
      backlogs.take(tenantId, waiting);
      return null;
    }
    const { epoch, last_seq: seq } = packed.header;
    const records = packed.lengths.length;
    // Counted as they were added where the batch takes them all, so that no difference adds up.
    const characters = records < waiting.records ? packed.bytes.length : waiting.characters;
    batches.set(tenantId, { epoch, seq, records, characters });
    return unpack(packed);
  }

  async function markShipped(tenantId: string, position: ShippedPosition): Promise<void> {
    await options.ship(streamNoOf(tenantId), position);
    if (performance.now() - marksSyncedAt > SYNC_MARKS_MS) {
      marksSyncedAt = performance.now();
      writer.syncMarksSoon(options.onFatal);
    }
    const batch = batches.get(tenantId);
    if (batch?.epoch !== position.epoch || batch.seq !== position.seq) return;
    batches.delete(tenantId);
    backlogs.take(tenantId, batch);
  }

  async function rewindShipped(tenantId: string, next: Position): Promise<Rewound> {
    const streamNo = streamNoOf(tenantId);
    const position = await reading.ask('findBefore', streamNo, next);
    if (!position) return { state: 'gone' };
    if (!writer.canRewind(streamNo, position)) return { state: 'ahead' };
    await committer.write(() => writer.rewind(streamNo, position));
    const backlog = await reading.ask('backlog', streamNo, position);
    backlogs.recount(tenantId, backlog);
    return { state: 'rewound', backlog };
  }

  async function prune(tenantId: string, keepMs: number, limit: number): Promise<number> {
    const streamNo = streamNoOf(tenantId);
    const step = { now: now(), keepMs, limit };
    const time = performance.now();
    if (time - (spilledAt.get(tenantId) ?? Number.NEGATIVE_INFINITY) > SPILL_MS) {
      spilledAt.set(tenantId, time);
      // On a full disk pruning goes on: it makes room.
      await committer
        .write(() => writer.spillOpen(streamNo))
        .catch((error: LedgerError) => {
          if (error.fault !== 'full') throw error;
        });
    }
    return committer.between(() =>
      reading.ask('prune', streamNo, writer.known(streamNo).shipped, step),
    );
  }

  async function checkShipped(
    tenantId: string,
    after: ShippedPosition | null,
    limit: number,
  ): Promise<Checked> {
    return reading.ask('checkShipped', writer.known(streamNoOf(tenantId)), after, limit);
  }

  return {
    find: (tenantId: string) => streams.get(tenantId),
    all: () => streams.entries(),
    open,
    nextBatch,
    markShipped,
    rewindShipped,
    prune,
    checkShipped,
    backlog: (tenantId: string) => backlogs.of(tenantId).records,
    fillsBatch: (tenantId: string, limit: number) => {
      const { records, characters } = backlogs.of(tenantId);
      return records >= limit || characters >= MAX_BATCH_BYTES;
    },
    /** To be called when records of a tenant became durable. */
    appended: ({ tenantId, isUrgent, ...amount }: Settled) => {
      backlogs.add(tenantId, amount);
      listeners.notify(tenantId, isUrgent, amount.records);
    },
    onAppended: listeners.add,
  };
}

function unpack({ header, signature, bytes, lengths }: PackedBatch): SignedBatch {
  let offset = 0;
  const records = lengths.map((length) => {
    offset += length;
    return bytes.subarray(offset - length, offset);
  });
  return { header, signature, records };
}
