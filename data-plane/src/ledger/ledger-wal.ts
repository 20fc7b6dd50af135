/**
 * Reads SQLite's write-ahead log before SQLite does. When SQLite opens a file, it accepts the log
 * up to the last commit whose checksums hold, and silently overwrites the rest. After a crash the
 * rest was never acknowledged. But one damaged frame in the middle hides all later commits in the
 * same way, and those were acknowledged.
 *
 * The frames tell the two cases apart. A commit is on disk before the next one begins, so a crash
 * leaves at most one commit mark behind the last valid commit, at the very end; two or more are
 * damage. Whether a single one was acknowledged is shown by the marks (ledger-marks.ts).
 *
 * Format: https://sqlite.org/fileformat2.html#the_write_ahead_log. Proven by ledger-wal.test.ts.
 */
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The lowest bit gives the byte order of the words in the checksum. */
const MAGIC = 0x377f0682;
const DEFAULT_PAGE_BYTES = 4096;
const SMALLEST_PAGE_BYTES = 512;

export interface WalReport {
  /** Complete frames in the file, including those from before the log's last restart. */
  frames: number;
  /** Frames that SQLite accepts: up to the last commit with valid checksums. */
  taken: number;
  /** The first invalid frame, from 1; 0 is the header, null where all are valid. */
  damaged: number | null;
  /** Commit marks since the log's last restart behind the frames taken. */
  commitsBehind: number;
}

/** Analyses the log of a database; null where there is none. Nothing is changed. */
export function readWal(databasePath: string): WalReport | null {
  const path = `${databasePath}-wal`;
  if (!existsSync(path) || statSync(path).size < HEADER_BYTES) return null;
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(file, header, 0, HEADER_BYTES, 0);
    const sum = createSum(header.readUInt32BE(0) === MAGIC);
    sum.add(header.subarray(0, 24));
    const isWhole =
      (header.readUInt32BE(0) & ~1) >>> 0 === MAGIC && sum.is(header.subarray(24, HEADER_BYTES));
    const pageBytes = isWhole ? header.readUInt32BE(8) : pageBytesOf(databasePath);
    return walk(file, { pageBytes, salts: isWhole ? header.subarray(16, 24) : null, sum });
  } finally {
    closeSync(file);
  }
}

interface Walk {
  pageBytes: number;
  /** Salts since the log's last restart; null where the header is invalid: the first frame's. */
  salts: Buffer | null;
  sum: Sum;
}

function walk(file: number, { pageBytes, salts: given, sum }: Walk): WalReport {
  const report: WalReport = { frames: 0, taken: 0, damaged: given ? null : 0, commitsBehind: 0 };
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes);
  let salts = given;
  for (let at = HEADER_BYTES; readSync(file, frame, 0, frame.length, at) === frame.length; ) {
    at += frame.length;
    report.frames++;
    const isOfRound = salts === null || frame.subarray(8, 16).equals(salts);
    salts ??= Buffer.from(frame.subarray(8, 16));
    if (report.damaged === null) {
      sum.add(frame.subarray(0, 8));
      sum.add(frame.subarray(FRAME_HEADER_BYTES));
      if (!isOfRound || !sum.is(frame.subarray(16, FRAME_HEADER_BYTES))) {
        report.damaged = report.frames;
      }
    }
    // In a commit's last frame these four bytes are the size of the database; else 0.
    if (frame.readUInt32BE(4) === 0 || !isOfRound) continue;
    if (report.damaged === null) report.taken = report.frames;
    else report.commitsBehind++;
  }
  return report;
}

/** Where the log's header is invalid: the page size from the database, which the log shares. */
function pageBytesOf(databasePath: string): number {
  const header = Buffer.alloc(18);
  const file = openSync(databasePath, 'r');
  try {
    const isThere = readSync(file, header, 0, header.length, 0) === header.length;
    const size = isThere ? header.readUInt16BE(16) : 0;
    // Two bytes hold no 65,536: SQLite writes 1 for it.
    if (size === 1) return 65_536;
    return size >= SMALLEST_PAGE_BYTES ? size : DEFAULT_PAGE_BYTES;
  } finally {
    closeSync(file);
  }
}

interface Sum {
  /** @param bytes a multiple of eight */
  add(bytes: Buffer): void;
  /** Whether the eight bytes are the checksum of everything so far. */
  is(stored: Buffer): boolean;
}

/** The log's checksum: two sums, each added to the other, over the header and all frames so far. */
function createSum(littleEndian: boolean): Sum {
  let first = 0;
  let second = 0;
  return {
    add: (bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let i = 0; i < bytes.length; i += 8) {
        first = (first + view.getUint32(i, littleEndian) + second) | 0;
        second = (second + view.getUint32(i + 4, littleEndian) + first) | 0;
      }
    },
    is: (stored) => stored.readInt32BE(0) === first && stored.readInt32BE(4) === second,
  };
}
