/**
 * Checks a ledger before SQLite may write to its file: whether the log has commits behind its last
 * valid one (ledger-wal.ts), and whether each stream still reaches up to its mark
 * (ledger-marks.ts). A failed check refuses the start and changes nothing: as soon as SQLite opens
 * the file for writing, it overwrites the part of the log that it discards. Proven by
 * ledger-start.test.ts.
 */
import { existsSync, statSync } from 'node:fs';
import type { ChainPosition } from '@governance/shared/ledger/hash-chain';
import Database from 'better-sqlite3';
import { openDurableDatabase, sqliteCode } from '../storage/durable-database.ts';
import { LedgerDamagedError, WHAT_TO_DO } from './ledger-error.ts';
import { marksPath, readMarks, type StreamMark } from './ledger-marks.ts';
import { createRecordRows, isAfter } from './ledger-rows.ts';
import { FIRST_VERSION_WITH_MARKS, VERSION } from './ledger-schema.ts';
import { readWal, type WalReport } from './ledger-wal.ts';

/**
 * Checks a ledger's files while no process uses them.
 *
 * @throws LedgerDamagedError which names what is lost and what to do
 */
export function checkLedgerFiles(path: string): void {
  const wal = isThere(path) ? readWal(path) : null;
  const fault = findLostCommits(wal) ?? findFileFault(path);
  if (!fault) return;
  const hint = wal && describeLog(wal);
  throw new LedgerDamagedError(
    `the ledger ${path} is damaged: ${fault}${hint ? ` (${hint})` : ''}. Nothing was changed. ${WHAT_TO_DO}`,
  );
}

/** The position of each stream of an open ledger. */
export function readStreamMarks(db: Database.Database): StreamMark[] {
  return readStreams(db).flatMap((stream) => {
    const { stream_no, tenant_id, end, shipped } = stream;
    return end ? [{ stream_no, tenant_id, stream: stream.stream, end, shipped }] : [];
  });
}

/** Codes of SQLite for a damaged file structure. */
const DAMAGED = /^SQLITE_(?:CORRUPT|NOTADB)/;

interface StoredStream {
  stream_no: number;
  tenant_id: string;
  stream: string;
  end: ChainPosition | null;
  shipped: ChainPosition | null;
  /** The hash of the record at a position, if it is kept. */
  hashAt(place: ChainPosition): string | undefined;
}

function isThere(path: string): boolean {
  return existsSync(path) && statSync(path).size > 0;
}

function findFileFault(path: string): string | null {
  try {
    const marks = readMarks(path);
    return isThere(path) ? findStoredFault(path, marks) : findFault([], marks, VERSION);
  } catch (error) {
    if (error instanceof LedgerDamagedError) return error.message;
    if (DAMAGED.test(sqliteCode(error) ?? '')) return `SQLite says "${String(error)}"`;
    throw error;
  }
}

function findStoredFault(path: string, marks: StreamMark[] | null): string | null {
  // A journal is only left from the creation of the file, before it was in WAL mode: roll it back.
  if (existsSync(`${path}-journal`)) openDurableDatabase(path, { exclusive: true }).close();
  // A read-only connection writes nothing, not even when it is closed. The index of the log (-shm)
  // is left in place: another program may have it open, and two indexes of one log would destroy
  // the file.
  const db = new Database(path, { readonly: true });
  try {
    const version = db.pragma('user_version', { simple: true }) as number;
    const isKnown = version > 0 && version <= VERSION;
    return findFault(isKnown ? readStreams(db) : [], marks, version);
  } finally {
    db.close();
  }
}

function readStreams(db: Database.Database): StoredStream[] {
  const streams = db
    .prepare<
      [],
      Record<'stream_no' | 'shipped_epoch' | 'shipped_seq', number> &
        Record<'tenant_id' | 'stream' | 'shipped_head', string>
    >('SELECT stream_no, tenant_id, stream, shipped_epoch, shipped_seq, shipped_head FROM streams')
    .all();
  const rows = createRecordRows(db);
  return streams.map(({ stream_no, tenant_id, stream, ...row }) => {
    const { shipped_epoch: epoch, shipped_seq: seq, shipped_head: head } = row;
    return {
      stream_no,
      tenant_id,
      stream,
      end: rows.findEnd(stream_no),
      shipped: epoch === 0 ? null : { epoch, seq, head },
      hashAt: (place) => rows.find(stream_no, place)?.hash,
    };
  });
}

/** A commit is on disk before the next one begins, so a crash leaves at most one unsynced. */
function findLostCommits(wal: WalReport | null): string | null {
  if (!wal || wal.commitsBehind < 2) return null;
  return `SQLite would discard ${wal.commitsBehind} commits after the last valid one of its log`;
}

function describeLog(wal: WalReport): string | null {
  if (wal.damaged === null || wal.commitsBehind === 0) return null;
  const what = wal.damaged === 0 ? 'the header' : `frame ${wal.damaged} of ${wal.frames}`;
  return `${what} of data-plane.db-wal is not valid`;
}

function findFault(
  streams: StoredStream[],
  marks: StreamMark[] | null,
  version: number,
): string | null {
  if (version > VERSION) return null;
  for (const stream of streams) {
    const fault = findShippedFault(stream);
    if (fault) return fault;
  }
  if (marks === null) {
    if (version < FIRST_VERSION_WITH_MARKS || streams.length === 0) return null;
    return `${marksPath('data-plane.db')}, which says where its streams end, is missing`;
  }
  const known = new Map(streams.map((stream) => [stream.stream_no, stream]));
  for (const mark of marks) {
    const stream = known.get(mark.stream_no);
    if (stream?.tenant_id !== mark.tenant_id || stream.stream !== mark.stream) {
      return `stream ${mark.stream} is missing`;
    }
    const fault = findLostEnd(stream, mark);
    if (fault) return fault;
    known.delete(mark.stream_no);
  }
  if (version < FIRST_VERSION_WITH_MARKS) return null;
  for (const { stream, end } of known.values()) {
    // Only a crash between a stream's first commit and its first mark leaves no mark.
    if (!end || isAfter(end, { epoch: 1, seq: 1 })) return `stream ${stream} has no mark`;
  }
  return null;
}

function findLostEnd(
  { stream, end, shipped, hashAt }: StoredStream,
  mark: StreamMark,
): string | null {
  if (mark.shipped && (!end || isAfter(mark.shipped, end))) {
    return `stream ${stream} ends at ${show(end)}, but was shipped up to ${show(mark.shipped)}`;
  }
  if (!end || isAfter(mark.end, end)) {
    return `stream ${stream} ends at ${show(end)}, but ${show(mark.end)} was recorded`;
  }
  if (hashAt(mark.end) !== mark.end.head) {
    return `record ${show(mark.end)} of stream ${stream} is not the one that was recorded`;
  }
  if (mark.shipped && (!shipped || isAfter(mark.shipped, shipped))) {
    return `stream ${stream} was shipped up to ${show(mark.shipped)}, but the ledger says ${show(shipped)}`;
  }
  return null;
}

/** A shipped position is a record of the stream, unless it was pruned. */
function findShippedFault({ stream, end, shipped, hashAt }: StoredStream): string | null {
  if (!shipped) return null;
  const hash = hashAt(shipped);
  if (end && !isAfter(shipped, end) && (hash === undefined || hash === shipped.head)) return null;
  return `stream ${stream} ends at ${show(end)}, and what was shipped, ${show(shipped)}, is not one of its records`;
}

function show(place: { epoch: number; seq: number } | null): string {
  return place ? `${place.epoch}/${place.seq}` : 'nothing';
}
