import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDurableDatabase } from '../storage/durable-database.ts';
import { readWal } from './ledger-wal.ts';

const COMMITS = 12;
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wal-'));
  path = join(folder, 'copy.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The files as kill -9 leaves them: copied while they are open. */
function killed(pageBytes: number, after?: (db: Database.Database) => void): void {
  const live = join(folder, 'live.db');
  rmSync(live, { force: true });
  const made = new Database(live);
  made.pragma(`page_size = ${pageBytes}`);
  made.exec('CREATE TABLE rows (n INTEGER, text TEXT)');
  made.close();
  const db = openDurableDatabase(live, { exclusive: true });
  const insert = db.prepare('INSERT INTO rows VALUES (?, ?)');
  for (let n = 0; n < COMMITS; n++) insert.run(n, `${n}`.repeat(700));
  after?.(db);
  for (const end of ['', '-wal']) copyFileSync(live + end, path + end);
  db.close();
}

/** How many rows SQLite finds: the result of its own recovery. */
function countRows(): number {
  const copy = join(folder, 'opened.db');
  for (const end of ['', '-wal']) copyFileSync(path + end, copy + end);
  const db = new Database(copy);
  const count = db.prepare('SELECT count(*) FROM rows').pluck().get() as number;
  db.close();
  return count;
}

it.each([
  1024, 4096, 65536,
])('accepts what SQLite accepts of a log with pages of %i bytes', (bytes) => {
  killed(bytes);
  const intact = readWal(path);
  expect(intact).toMatchObject({ damaged: null, commitsBehind: 0 });
  expect(intact?.taken).toBe(intact?.frames);
  expect(countRows()).toBe(COMMITS);
});

it('recognises frames of an earlier round, and of an uncommitted transaction', () => {
  killed(4096, (db) => {
    // New frames overwrite the beginning of the log; the rest stays.
    db.pragma('wal_checkpoint(RESTART)');
    db.exec('INSERT INTO rows VALUES (100, NULL)');
    // Spilled to the log, and never committed.
    db.pragma('cache_size = 10');
    db.exec('BEGIN');
    for (let n = 0; n < 12; n++) db.exec(`INSERT INTO rows VALUES (${n}, '${'x'.repeat(3_000)}')`);
  });
  const report = readWal(path);
  expect(report?.taken).toBeGreaterThan(0);
  expect(report?.taken).toBeLessThan(report?.frames ?? 0);
  expect(report).toMatchObject({ commitsBehind: 0 });
  expect(countRows()).toBe(COMMITS + 1);
});

it('counts for any changed byte and any cut the commits that SQLite then discards', () => {
  killed(4096);
  const wal = readFileSync(`${path}-wal`);
  fc.assert(
    fc.property(fc.nat(wal.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const damaged = Buffer.from(wal);
      damaged[at] = (damaged[at] as number) ^ flip;
      writeFileSync(`${path}-wal`, damaged);
      const report = readWal(path);
      const kept = countRows();
      // A damaged commit mark cannot be counted: it is one of the lost commits.
      const lost = COMMITS - kept;
      expect([lost, lost - 1]).toContain(report?.commitsBehind);
      if (report?.damaged === null) expect(lost).toBe(0);
    }),
    { numRuns: 60 },
  );
  fc.assert(
    fc.property(fc.nat(wal.length - 1), (length) => {
      writeFileSync(`${path}-wal`, wal);
      truncateSync(`${path}-wal`, length);
      // Nothing is behind a cut: only the marks can show that.
      expect(readWal(path)?.commitsBehind ?? 0).toBe(0);
    }),
    { numRuns: 30 },
  );
});

it('reports nothing where there is no log', () => {
  writeFileSync(path, '');
  expect(readWal(path)).toBeNull();
  writeFileSync(`${path}-wal`, '');
  expect(readWal(path)).toBeNull();
});
