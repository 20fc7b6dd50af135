/** The damage that a start finds in real files. A copy of open files is what kill -9 leaves. */
import { generateKeyPairSync } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createLedgerStore,
  type LedgerStore,
  makeOlder,
  readStoredRecords,
} from '../testing/test-ledger-store.ts';
import { aDecision, anOutcome } from '../testing/test-records.ts';
import { LedgerDamagedError } from './ledger-error.ts';

const { privateKey: signingKey } = generateKeyPairSync('ed25519');
const tenantId = uuidv7();
const stream = uuidv7();
const FILES = ['', '-wal', '-marks'];
const GROUPS = 8;

let folder: string;
let path: string;
let stores: LedgerStore[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-start-'));
  path = join(folder, 'copy.db');
  stores = [];
});
afterEach(() => {
  closeAll();
  rmSync(folder, { recursive: true });
});

function closeAll(): void {
  for (const store of stores.splice(0)) store.close();
}

function boot(at = path) {
  const store = createLedgerStore({ path: at, signingKey, limitBytes: null });
  stores.push(store);
  const opened = openIn(store);
  return { store, ...opened };
}

const openIn = (store: LedgerStore) =>
  store.openStream({ tenantId, stream, writerVersion: '1', timestamp: new Date().toISOString() });

const anEntry = (streamNo: number) => ({
  streamNo,
  record: aDecision({ policy_result: 'deny' }),
  salt: null,
});

function append(store: LedgerStore, streamNo: number, count = 1): void {
  store.commitGroup(Array.from({ length: count }, () => anEntry(streamNo)));
}

function appendEach(store: LedgerStore, streamNo: number, count: number): void {
  for (let n = 0; n < count; n++) append(store, streamNo);
}

function ship(store: LedgerStore, streamNo: number, limit: number): void {
  const header = store.nextBatch(streamNo, limit)?.header;
  if (!header) throw new Error('nothing to ship');
  const { epoch, last_seq: seq, head } = header;
  store.commitGroup([{ streamNo, shipped: { epoch, seq, head } }]);
}

/** Files of a ledger that was killed with groups in its log; the first records were shipped. */
function killed(): void {
  const live = join(folder, 'live.db');
  const { store, streamNo } = boot(live);
  for (let group = 0; group < GROUPS; group++) append(store, streamNo, 3);
  ship(store, streamNo, 5);
  for (const end of FILES) copyFileSync(live + end, path + end);
  closeAll();
}

function readAll(file: string): string[] {
  return readStoredRecords(file)
    .filter(({ epoch }) => epoch === 1)
    .map(({ bytes }) => bytes.toString());
}

const snapshot = () =>
  FILES.map((end) => (existsSync(path + end) ? readFileSync(path + end) : null));

/** Compared by Buffer: comparing megabytes byte by byte takes seconds. */
function isSame(a: (Buffer | null)[], b: (Buffer | null)[]): boolean {
  return a.every((bytes, i) => Buffer.compare(bytes ?? Buffer.of(), b[i] ?? Buffer.of()) === 0);
}

function restore(files: (Buffer | null)[]): void {
  closeAll();
  rmSync(`${path}-shm`, { force: true });
  for (const [index, end] of FILES.entries()) {
    const bytes = files[index];
    if (bytes) writeFileSync(path + end, bytes);
    else rmSync(path + end, { force: true });
  }
}

describe('after kill -9', () => {
  it('a ledger continues with everything that was acknowledged', () => {
    killed();
    const { epoch, backlog } = boot();
    expect(epoch).toBe(2);
    closeAll();
    expect(readAll(path)).toHaveLength(1 + GROUPS * 3);
    expect(backlog).toBe(1 + GROUPS * 3 - 5 + 1);
  });

  it('it also does wherever the last group was torn before it was acknowledged', () => {
    const live = join(folder, 'live.db');
    const { store, streamNo } = boot(live);
    append(store, streamNo, 3);
    const before = FILES.map((end) => readFileSync(live + end));
    append(store, streamNo, 3);
    const [, walBefore = Buffer.alloc(0), marks] = before;
    const walAfter = readFileSync(`${live}-wal`);
    expect(walAfter.length).toBeGreaterThan(walBefore.length);
    fc.assert(
      fc.property(fc.integer({ min: walBefore.length, max: walAfter.length }), (cut) => {
        // Written up to there, but not marked: the group was never acknowledged.
        closeCopies(live);
        writeFileSync(path, readFileSync(live));
        writeFileSync(`${path}-wal`, walAfter.subarray(0, cut));
        writeFileSync(`${path}-marks`, marks as Buffer);
        const copy = createLedgerStore({ path, signingKey, limitBytes: null });
        expect(openIn(copy).epoch).toBe(2);
        copy.close();
        const kept = readAll(path).length;
        expect(kept).toBe(cut === walAfter.length ? 7 : 4);
      }),
      { numRuns: 40, examples: [[walBefore.length], [walAfter.length - 1], [walAfter.length]] },
    );
  });

  /** The live ledger stays open. */
  function closeCopies(_live: string): void {
    for (const end of [...FILES, '-shm']) rmSync(path + end, { force: true });
  }

  it('it also does when a power failure left the frames of the last group in no order', () => {
    const live = join(folder, 'live.db');
    const { store, streamNo } = boot(live);
    append(store, streamNo, 3);
    const marks = readFileSync(`${live}-marks`);
    const length = readFileSync(`${live}-wal`).length;
    append(store, streamNo, 30);
    for (const end of ['', '-wal']) copyFileSync(live + end, path + end);
    writeFileSync(`${path}-marks`, marks);
    const wal = readFileSync(`${path}-wal`);
    // The first of its frames did not reach the disk, its last one did.
    wal.fill(0, length, length + 4_000);
    writeFileSync(`${path}-wal`, wal);
    boot();
    closeAll();
    expect(readAll(path)).toHaveLength(4);
  });
});

describe('a log that is damaged in its middle', () => {
  it('is refused with the frame, the commits and what to do, even without newer marks', () => {
    killed();
    const wal = readFileSync(`${path}-wal`);
    const at = Math.floor(wal.length / 2);
    wal[at] = (wal[at] as number) ^ 1;
    writeFileSync(`${path}-wal`, wal);
    const before = snapshot();
    expect(() => boot()).toThrow(
      /is damaged: SQLite would discard \d+ commits after the last valid one of its log \(frame \d+ of \d+ .* is not valid\).*Nothing was changed.*register-anew/s,
    );
    expect(isSame(snapshot(), before)).toBe(true);
  });

  it('never loses a record silently, whichever byte was changed, and changes nothing itself', () => {
    killed();
    const intact = snapshot();
    const everything = intactRecords();
    const length = intact[1]?.length ?? 0;
    const seen = { refused: 0, whole: 0 };
    fc.assert(
      fc.property(fc.nat(length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        restore(intact);
        const wal = Buffer.from(intact[1] as Buffer);
        wal[at] = (wal[at] as number) ^ flip;
        writeFileSync(`${path}-wal`, wal);
        startOrRefuse(everything, seen);
      }),
      { numRuns: 80 },
    );
    expect(seen.refused).toBeGreaterThan(50);
  });
});

function intactRecords(): string[] {
  const files = snapshot();
  boot();
  closeAll();
  const everything = readAll(path);
  restore(files);
  return everything;
}

/** Either the start refuses and leaves the files unchanged, or every record is there. */
function startOrRefuse(everything: string[], seen: { refused: number; whole: number }): void {
  const before = snapshot();
  try {
    boot();
  } catch (error) {
    if (!(error instanceof LedgerDamagedError)) throw error;
    seen.refused++;
    expect(isSame(snapshot(), before)).toBe(true);
    return;
  }
  closeAll();
  expect(readAll(path)).toEqual(everything);
  seen.whole++;
}

describe('an end that was cut off', () => {
  it('is refused, wherever the log was cut or when it is gone', () => {
    killed();
    const intact = snapshot();
    const everything = intactRecords();
    const length = intact[1]?.length ?? 0;
    const seen = { refused: 0, whole: 0 };
    fc.assert(
      fc.property(fc.nat(length - 1), (cut) => {
        restore(intact);
        truncateSync(`${path}-wal`, cut);
        startOrRefuse(everything, seen);
      }),
      { numRuns: 60, examples: [[0], [length - 1]] },
    );
    expect(seen).toMatchObject({ whole: 0 });
    restore(intact);
    rmSync(`${path}-wal`);
    expect(() => boot()).toThrow(LedgerDamagedError);
  });

  it('is refused when the last records were deleted, or an older copy was put in place', () => {
    const { store, streamNo } = boot();
    appendEach(store, streamNo, 10);
    ship(store, streamNo, 5);
    closeAll();
    const older = readFileSync(path);
    const next = boot();
    appendEach(next.store, next.streamNo, 5);
    closeAll();
    const intact = snapshot();

    change('DELETE FROM records WHERE epoch = 2 AND seq > 4');
    expect(() => boot()).toThrow(/ends at 2\/4, but 2\/6 was recorded/);
    restore(intact);
    writeFileSync(path, older);
    expect(() => boot()).toThrow(/ends at 1\/11, but 2\/6 was recorded/);
    restore(intact);
    change('DELETE FROM records WHERE (epoch, seq) > (1, 3)');
    expect(() => boot()).toThrow(/shipped, 1\/5, is not one of its records/);
    restore(intact);
    change(
      "DELETE FROM records WHERE (epoch, seq) > (1, 3); UPDATE streams SET shipped_epoch = 0, shipped_seq = 0, shipped_head = ''",
    );
    expect(() => boot()).toThrow(/ends at 1\/3, but was shipped up to 1\/5/);
    restore(intact);
    for (const sql of ['DELETE FROM streams', `UPDATE streams SET stream = '${uuidv7()}'`]) {
      change(sql);
      expect(() => boot()).toThrow(/is missing/);
      restore(intact);
    }
    rmSync(path);
    expect(() => boot()).toThrow(`stream ${stream} is missing`);
    restore(intact);
    expect(boot().epoch).toBe(3);
  });

  it('is refused when the marks were removed with it, or are unreadable', () => {
    const { store, streamNo } = boot();
    append(store, streamNo, 10);
    closeAll();
    const intact = snapshot();
    rmSync(`${path}-marks`);
    expect(() => boot()).toThrow(/-marks, which says where its streams end, is missing/);
    restore(intact);
    const marks = Buffer.from(intact[2] as Buffer);
    writeFileSync(`${path}-marks`, marks.fill('x', 512));
    expect(() => boot()).toThrow(/-marks is unreadable/);
    restore(intact);
    writeFileSync(`${path}-marks`, (intact[2] as Buffer).subarray(0, 512));
    expect(() => boot()).toThrow(/has no mark/);
    restore(intact);
    boot();
  });

  function change(sql: string): void {
    const db = new Database(path);
    db.exec(sql);
    db.close();
  }
});

describe('records that were not shipped', () => {
  it('say in one line what is wrong and what to do, where one has another form', () => {
    const { store, streamNo } = boot();
    appendEach(store, streamNo, 5);
    closeAll();
    const db = new Database(path);
    db.exec(
      `UPDATE records SET bytes = CAST(replace(bytes, '"policy_result":"deny"', '"policy_result":"gone"') AS BLOB) WHERE seq = (SELECT max(seq) FROM records)`,
    );
    db.close();
    expect(() => boot()).toThrow(/cannot be read: policy_result: .+\. Keep the folder .+$/);
    expect(() => boot()).not.toThrow(/\n/);
  });

  it('are all checked: an edit, a gap or a swap far from the end is refused', () => {
    const { store, streamNo } = boot();
    appendEach(store, streamNo, 30);
    append(store, streamNo, 300);
    ship(store, streamNo, 10);
    closeAll();
    const intact = snapshot();
    const db = () => new Database(path);
    const inGroup = 'WHERE seq = 331';
    const damages = [
      `UPDATE records SET bytes = CAST(substr(bytes, 1, 100000) || replace(substr(bytes, 100001), 'read_file', 'exec_file') AS BLOB) ${inGroup}`,
      `UPDATE records SET bytes = CAST(substr(bytes, 1, 100000) || replace(substr(bytes, 100001), '"seq":200', '"seq":201') AS BLOB) ${inGroup}`,
      `UPDATE records SET bytes = CAST(replace(bytes, char(10), ' ') AS BLOB) ${inGroup}`,
      `UPDATE records SET count = count - 1 ${inGroup}`,
      `UPDATE records SET count = count + 1 ${inGroup}`,
      `UPDATE records SET bytes = CAST(replace(bytes, 'read_file', 'exec_file') AS BLOB) WHERE seq = 20`,
      'DELETE FROM records WHERE seq = 20',
      'UPDATE records SET hash = zeroblob(32) WHERE seq = 20',
      'UPDATE records SET seq = 9999 WHERE seq = 20; UPDATE records SET seq = 20 WHERE seq = 21; UPDATE records SET seq = 21 WHERE seq = 9999',
      // Shipping would begin behind them.
      `UPDATE streams SET shipped_seq = 30`,
      `UPDATE streams SET shipped_seq = 30, shipped_head = (SELECT lower(hex(hash)) FROM records WHERE seq = 31)`,
    ];
    for (const sql of damages) {
      restore(intact);
      const changed = db();
      changed.exec(sql);
      changed.close();
      expect(() => boot(), sql).toThrow(LedgerDamagedError);
    }
  });
});

describe('a start', () => {
  it('migrates a ledger of the previous version, and keeps its end from then on', () => {
    const { store, streamNo } = boot();
    appendEach(store, streamNo, 5);
    closeAll();
    rmSync(`${path}-marks`);
    makeOlder(path, 2);
    expect(boot().epoch).toBe(2);
    closeAll();
    const changed = new Database(path);
    changed.exec('DELETE FROM records WHERE epoch = 2');
    changed.close();
    expect(() => boot()).toThrow(/ends at 1\/6, but 2\/1 was recorded/);
  });

  it('migrates version 3 with its open calls, even from its log alone, and keeps older services out', () => {
    const live = join(folder, 'live.db');
    const first = boot(live);
    const open = aDecision();
    for (const record of [open, anOutcome(uuidv7()), aDecision({ policy_result: 'deny' })]) {
      first.store.commitGroup([{ streamNo: first.streamNo, record, salt: null }]);
    }
    const before = readAll(live);
    closeAll();
    makeOlder(live, 3);
    const old = new Database(live);
    const id = Buffer.from(open.id.replaceAll('-', ''), 'hex');
    old.prepare('INSERT INTO open_decisions VALUES (?, ?)').run(id, first.streamNo);
    for (const end of FILES) if (existsSync(live + end)) copyFileSync(live + end, path + end);
    old.close();
    const { store, streamNo, outcomesUnknown } = boot();
    expect(outcomesUnknown).toBe(1);
    append(store, streamNo, 3);
    closeAll();
    expect(readAll(path)).toEqual(before);
    const db = new Database(path, { readonly: true });
    expect(db.pragma('user_version', { simple: true })).toBeGreaterThan(3);
    expect(db.prepare('SELECT count(*) FROM open_decisions').pluck().get()).toBe(0);
    db.close();
    expect(boot()).toMatchObject({ epoch: 3, outcomesUnknown: 0, backlog: 10 });
  });

  it('continues after a kill between the first commit of a stream and its mark', () => {
    const live = join(folder, 'live.db');
    createLedgerStore({ path: live, signingKey, limitBytes: null }).close();
    copyFileSync(`${live}-marks`, `${path}-marks`);
    boot(live);
    for (const end of ['', '-wal']) copyFileSync(live + end, path + end);
    expect(boot().epoch).toBe(2);
  });

  it('starts normally after a restored control plane made it go back', () => {
    const { store, streamNo } = boot();
    append(store, streamNo, 10);
    ship(store, streamNo, 8);
    expect(store.rewindShipped(streamNo, { epoch: 1, seq: 3 })).toMatchObject({ backlog: 9 });
    closeAll();
    expect(boot().backlog).toBe(10);
  });

  it('does not count uncommitted records as shipped', () => {
    const { store, streamNo } = boot();
    append(store, streamNo, 3);
    const unknown = { streamNo: 99, record: aDecision(), salt: null };
    const shipped = { streamNo, shipped: { epoch: 1, seq: 2, head: 'ab'.repeat(32) } };
    expect(() => store.commitGroup([shipped, unknown])).toThrow('not open');
    append(store, streamNo);
    closeAll();
    expect(boot().backlog).toBe(6);
  });
});

describe('the whole file', () => {
  it('with any byte changed is refused, found by the check, or has every record', () => {
    const { store, streamNo } = boot();
    for (let group = 0; group < 10; group++) append(store, streamNo, 10);
    ship(store, streamNo, 60);
    closeAll();
    const intact = snapshot();
    const everything = readAll(path);
    const seen = { refused: 0, found: 0, whole: 0 };
    fc.assert(
      fc.property(
        fc.nat((intact[0]?.length ?? 1) - 1),
        fc.integer({ min: 1, max: 255 }),
        (at, flip) => {
          restore(intact);
          const file = Buffer.from(intact[0] as Buffer);
          file[at] = (file[at] as number) ^ flip;
          writeFileSync(path, file);
          try {
            const reopened = boot();
            try {
              reopened.store.checkShipped(reopened.streamNo, null, 1_000);
            } catch {
              seen.found++;
              return;
            }
          } catch {
            seen.refused++;
            return;
          }
          closeAll();
          expect(readAll(path)).toEqual(everything);
          seen.whole++;
        },
      ),
      { numRuns: 150 },
    );
    expect(seen.refused).toBeGreaterThan(10);
    expect(seen.found).toBeGreaterThan(5);
  });
});
