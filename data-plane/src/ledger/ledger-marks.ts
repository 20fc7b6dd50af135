/**
 * The marks: for each stream, its last record and the last one shipped. They are kept in a file
 * beside SQLite's own, so that a start detects a ledger whose end was cut off (its log was removed
 * or shortened, the file is an older copy, a frame is damaged). They are written when a group is on
 * disk, before it is acknowledged: a killed process leaves them exact. They are synced after
 * shipping, at most once a second, and at a stop: after a power failure they may lag behind the
 * ledger, but are never ahead of it.
 *
 * The file is text in lines of 512 bytes, the size that a disk writes whole. Each stream has two
 * lines, written alternately, so that a torn line leaves the other one. Proven by
 * ledger-marks.test.ts and ledger-start.test.ts.
 */
import { hash as digest } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '@governance/shared/process/durable-file';
import { Id, Sha256Hex } from '@governance/shared/text';
import { z } from 'zod';
import { LedgerDamagedError } from './ledger-error.ts';

const LINE_BYTES = 512;
const SUM_CHARACTERS = 16;
const TITLE =
  'where the streams of this ledger end; written by the service, see docs/ledger-format.md';

const Place = z.strictObject({
  epoch: z.int().nonnegative(),
  seq: z.int().nonnegative(),
  head: Sha256Hex,
});

const Mark = z.strictObject({
  /** Rises with each write: of two lines the newer one counts. */
  n: z.int().positive(),
  stream_no: z.int().positive(),
  tenant_id: Id,
  stream: Id,
  /** The last record that was acknowledged. */
  end: Place,
  /** The last record stored at the control plane; null before the first. */
  shipped: Place.nullable(),
});
type Mark = z.infer<typeof Mark>;

/** A stream's position, for the marks. */
export type StreamMark = Omit<Mark, 'n'>;

export type LedgerMarks = ReturnType<typeof openMarks>;

export function marksPath(ledgerPath: string): string {
  return `${ledgerPath}-marks`;
}

/**
 * Reads the marks of a ledger.
 *
 * @returns null where there is no such file
 * @throws LedgerDamagedError when both lines of a stream are unreadable
 */
export function readMarks(ledgerPath: string): StreamMark[] | null {
  const path = marksPath(ledgerPath);
  if (!existsSync(path)) return null;
  const text = readFileSync(path);
  const marks: StreamMark[] = [];
  for (let streamNo = 1; offsetOf(streamNo, 0) < text.length; streamNo++) {
    const lines = [0, 1].map((copy) => {
      const at = offsetOf(streamNo, copy);
      return text.subarray(at, at + LINE_BYTES);
    });
    // Reserved but unused: the first commit of its stream did not happen.
    if (lines.every((line) => line.every((byte) => byte === 0))) continue;
    const newest = lines
      .flatMap((line) => parseLine(line, streamNo) ?? [])
      .sort((a, b) => b.n - a.n)[0];
    if (!newest) {
      throw new LedgerDamagedError(`${path} is unreadable about stream number ${streamNo}`);
    }
    const { n: _n, ...mark } = newest;
    marks.push(mark);
  }
  return marks;
}

/**
 * Opens the marks for writing, and replaces the earlier ones.
 *
 * @param marks those of the ledger as it is now; durable when this returns
 */
export function openMarks(ledgerPath: string, marks: readonly StreamMark[]) {
  const path = marksPath(ledgerPath);
  closeSync(openSync(path, 'a', 0o600));
  const file = openSync(path, 'r+');
  const written = new Map<number, number>();
  // Not below any number in the file, so that the first write counts as newer.
  let n = Math.max(0, ...readNumbers(path));
  let isDirty = false;
  let isClosed = false;
  let syncing = 0;

  /** To be called after the commit is on disk. */
  function write(mark: StreamMark): void {
    const { stream_no: streamNo } = mark;
    const count = written.get(streamNo) ?? 0;
    written.set(streamNo, count + 1);
    n++;
    const text = JSON.stringify({ n, ...mark } satisfies Mark);
    writeLine(file, `${sumOf(text)} ${text}`, offsetOf(streamNo, count % 2));
    isDirty = true;
  }

  /** Makes the writes durable. */
  function sync(): void {
    if (!isDirty) return;
    isDirty = false;
    fdatasyncSync(file);
  }

  /** Makes the writes durable without blocking the thread. */
  function syncSoon(onError: (error: Error) => void): void {
    if (!isDirty) return;
    isDirty = false;
    syncing++;
    fdatasync(file, (error) => {
      syncing--;
      if (isClosed && syncing === 0) closeSync(file);
      if (error) onError(error);
    });
  }

  try {
    writeLine(file, TITLE, 0);
    for (const mark of marks) {
      // Both lines, so that no earlier mark is left.
      write(mark);
      write(mark);
    }
    fsyncSync(file);
    syncFolder(dirname(path));
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return {
    write,
    sync,
    syncSoon,
    close: (): void => {
      if (isClosed) return;
      isClosed = true;
      try {
        sync();
      } finally {
        if (syncing === 0) closeSync(file);
      }
    },
  };
}

function readNumbers(path: string): number[] {
  const text = readFileSync(path);
  const numbers: number[] = [];
  for (let at = LINE_BYTES; at < text.length; at += LINE_BYTES) {
    const parsed = parseLine(text.subarray(at, at + LINE_BYTES), null);
    if (parsed) numbers.push(parsed.n);
  }
  return numbers;
}

/** The first line says what the file is. */
function offsetOf(streamNo: number, copy: number): number {
  return (1 + 2 * (streamNo - 1) + copy) * LINE_BYTES;
}

function writeLine(file: number, text: string, at: number): void {
  const line = Buffer.alloc(LINE_BYTES, ' ');
  line.write(text);
  line[LINE_BYTES - 1] = 0x0a;
  writeSync(file, line, 0, LINE_BYTES, at);
}

function parseLine(line: Buffer, streamNo: number | null): Mark | null {
  const text = line.toString('latin1').trimEnd();
  const json = text.slice(SUM_CHARACTERS + 1);
  if (text.slice(0, SUM_CHARACTERS) !== sumOf(json)) return null;
  const mark = Mark.parse(JSON.parse(json));
  return streamNo === null || mark.stream_no === streamNo ? mark : null;
}

function sumOf(json: string): string {
  return digest('sha256', json, 'hex').slice(0, SUM_CHARACTERS);
}
