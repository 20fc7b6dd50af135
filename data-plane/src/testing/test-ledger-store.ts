/**
 * The ledger's parts without its threads: its writer and its reader, each with the connection that
 * it has in production, and a sync after each commit.
 */
import type { KeyObject } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import Database from 'better-sqlite3';
import { openLedgerFile, openSecondConnection } from '../ledger/ledger-file.ts';
import type { OpenedStream, Rewound, ShippedPosition } from '../ledger/ledger-messages.ts';
import type { OpenRequest } from '../ledger/ledger-opening.ts';
import { createLedgerReader } from '../ledger/ledger-reader.ts';
import type { PruneStep } from '../ledger/ledger-retention.ts';
import { recordsIn, type StoredRecord, type StoredRow } from '../ledger/ledger-rows.ts';
import { createLedgerWriter, type GroupItem } from '../ledger/ledger-writer.ts';
import { callMark } from '../ledger/open-decisions.ts';
import { UnfitRecordError, writeRecord } from '../ledger/record-text.ts';

export interface LedgerEntry {
  streamNo: number;
  record: unknown;
  salt: Uint8Array | null;
}

export type EntryResult = { ok: true; seq: number; hash: string } | { ok: false; reason: string };

export type LedgerStore = ReturnType<typeof createLedgerStore>;

export function createLedgerStore(options: {
  path: string;
  signingKey: KeyObject;
  limitBytes: number | null;
}) {
  const file = openLedgerFile(options);
  const writer = createLedgerWriter(file);
  const reader = createLedgerReader(openSecondConnection(options), options.signingKey);
  const log = openSync(`${options.path}-wal`, 'r+');
  const opened = new Map<string, OpenedStream>();
  let isClosed = false;

  function confirm(): void {
    fdatasyncSync(log);
    writer.confirm();
  }

  function openStream(request: OpenRequest): OpenedStream {
    const key = `${request.tenantId} ${request.stream}`;
    const known = opened.get(key);
    if (known) return known;
    const found = reader.checkStream(request.tenantId, request.stream);
    const stream = writer.openStream(request, found);
    confirm();
    writer.syncMarks();
    opened.set(key, stream);
    return stream;
  }

  function commitGroup(
    items: readonly (LedgerEntry | { streamNo: number; shipped: ShippedPosition })[],
    isSynced = true,
  ): EntryResult[] {
    const refused = new Map<number, string>();
    const fit = items.flatMap((item, index): GroupItem[] => {
      if ('shipped' in item) return [item];
      const { streamNo, salt } = item;
      const record = item.record as UnchainedRecord;
      const { tenantId, stream, end } = writer.known(streamNo);
      const place = { tenant_id: tenantId, stream, epoch: end.epoch };
      try {
        const text = writeRecord(place, record);
        return [{ id: record.id, streamNo, text, mark: callMark(record), salt }];
      } catch (error) {
        if (!(error instanceof UnfitRecordError)) throw error;
        refused.set(index, error.message);
        return [];
      }
    });
    const chained = writer.commitGroup(fit);
    if (isSynced) confirm();
    if (items.some((item) => 'shipped' in item)) writer.syncMarks();
    let next = 0;
    return items.flatMap((item, index): EntryResult[] => {
      if ('shipped' in item) return [];
      const reason = refused.get(index);
      if (reason !== undefined) return [{ ok: false, reason }];
      const { seq, hash } = chained[next++] as { seq: number; hash: string };
      return [{ ok: true, seq, hash }];
    });
  }

  function rewindShipped(streamNo: number, next: { epoch: number; seq: number }): Rewound {
    const position = reader.findBefore(streamNo, next);
    if (!position) return { state: 'gone' };
    if (!writer.canRewind(streamNo, position)) return { state: 'ahead' };
    writer.rewind(streamNo, position);
    confirm();
    return { state: 'rewound', backlog: reader.backlog(streamNo, position) };
  }

  return {
    openStream,
    commitGroup,
    rewindShipped,
    nextBatch: (streamNo: number, limit: number) => reader.nextBatch(writer.known(streamNo), limit),
    checkShipped: (streamNo: number, after: ShippedPosition | null, limit: number) =>
      reader.checkShipped(writer.known(streamNo), after, limit),
    prune: (streamNo: number, step: PruneStep) => {
      writer.spillOpen(streamNo);
      confirm();
      return reader.prune(streamNo, writer.known(streamNo).shipped, step);
    },
    freeBytes: reader.freeBytes,
    checkpoint: reader.checkpoint,
    close: () => {
      if (isClosed) return;
      isClosed = true;
      reader.close();
      closeSync(log);
      file.close();
    },
  };
}

/** The records of a closed ledger, in the order of their streams and places. */
export function readStoredRecords(
  path: string,
  order = 'stream_no, epoch, seq',
): (StoredRecord & { stream_no: number })[] {
  const db = new Database(path, { readonly: true });
  try {
    return db
      .prepare<[], StoredRow & { stream_no: number }>(`SELECT * FROM records ORDER BY ${order}`)
      .all()
      .flatMap((row) => [...recordsIn(row)].map((one) => ({ ...one, stream_no: row.stream_no })));
  } finally {
    db.close();
  }
}

/**
 * Makes a closed ledger one of an older version, whose rows held one record each and whose open
 * decisions were all in their table.
 */
export function makeOlder(path: string, version: 1 | 2 | 3): void {
  const db = new Database(path);
  db.exec(`
    ALTER TABLE records DROP COLUMN count;
    ALTER TABLE records DROP COLUMN salts;
    ALTER TABLE streams DROP COLUMN open_epoch;
    ALTER TABLE streams DROP COLUMN open_seq;
    ${version === 1 ? 'DROP TABLE shipped_marks;' : ''}
    PRAGMA user_version = ${version};`);
  db.close();
}
