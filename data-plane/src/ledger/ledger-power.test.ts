/**
 * What a power failure leaves: everything that was synced, and of later writes any sectors, in no
 * order. Whichever they are, a start finds everything that was acknowledged.
 */
import { generateKeyPairSync } from 'node:crypto';
import {
  copyFileSync,
  fsyncSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  createLedgerStore,
  type LedgerStore,
  readStoredRecords,
} from '../testing/test-ledger-store.ts';
import { aDecision } from '../testing/test-records.ts';

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return { ...fs, fsyncSync: vi.fn(fs.fsyncSync) };
});

const SECTOR_BYTES = 512;
const WAL_HEADER_BYTES = 32;
const { privateKey: signingKey } = generateKeyPairSync('ed25519');
const tenants = [uuidv7(), uuidv7()];
const stream = uuidv7();
let folder: string;
let live: string;
let path: string;
let store: LedgerStore;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-power-'));
  live = join(folder, 'live.db');
  path = join(folder, 'copy.db');
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const boot = (at: string) => createLedgerStore({ path: at, signingKey, limitBytes: null });
const open = (of: LedgerStore) =>
  tenants.map((tenantId) => {
    const timestamp = new Date().toISOString();
    return of.openStream({ tenantId, stream, writerVersion: '1', timestamp }).streamNo;
  });
/** For both tenants, in one group. */
const aGroup = (streams: number[], count: number) =>
  Array.from({ length: count }, (_, n) => ({
    streamNo: streams[n % 2] ?? 0,
    record: aDecision({ policy_result: 'deny' }),
    salt: Buffer.alloc(16, 1),
  }));

it.each([
  ['in a log that continues', false],
  ['in a log that was restarted over an older one', true],
])('loses nothing that was acknowledged, whichever sectors of the last group reached the disk, %s', (_where, isRestarted) => {
  store = boot(live);
  const streams = open(store);
  for (let group = 0; group < 12; group++) store.commitGroup(aGroup(streams, 9));
  if (isRestarted) store.checkpoint();
  const acknowledged = 2 + 12 * 9;
  const database = readFileSync(live);
  const marks = readFileSync(`${live}-marks`);
  const synced = readFileSync(`${live}-wal`);
  store.commitGroup(aGroup(streams, 20), false);
  const written = readFileSync(`${live}-wal`);
  // SQLite syncs the header of a new log before it writes the log's first frame.
  const header = written.subarray(0, WAL_HEADER_BYTES);
  expect(header.equals(synced.subarray(0, WAL_HEADER_BYTES))).toBe(!isRestarted);
  header.copy(synced);
  const sectors = Math.ceil(written.length / SECTOR_BYTES);
  const seen = { without: 0, whole: 0 };
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: sectors, maxLength: sectors }),
      fc.constantFrom('some', 'all but one', 'all'),
      fc.nat(sectors - 1),
      fc.boolean(),
      (some, which, one, isCut) => {
        const log = Buffer.alloc(Math.max(written.length, synced.length));
        synced.copy(log);
        let end = synced.length;
        for (let n = 0; n < sectors; n++) {
          const isThere = which === 'all' || (which === 'some' ? some[n] : n !== one);
          if (!isThere) continue;
          const from = n * SECTOR_BYTES;
          written.copy(log, from, from, from + SECTOR_BYTES);
          end = Math.max(end, Math.min(from + SECTOR_BYTES, written.length));
        }
        for (const file of ['', '-wal', '-marks', '-shm']) rmSync(path + file, { force: true });
        writeFileSync(path, database);
        writeFileSync(`${path}-marks`, marks);
        // The file's new length may or may not have reached the disk.
        writeFileSync(`${path}-wal`, isCut ? log.subarray(0, end) : log);
        const copy = boot(path);
        open(copy);
        copy.close();
        const stored = readStoredRecords(path).filter(({ epoch }) => epoch === 1).length;
        // A group is there completely, or not at all.
        expect([acknowledged, acknowledged + 20]).toContain(stored);
        if (stored === acknowledged) seen.without++;
        else seen.whole++;
      },
    ),
    { numRuns: 60 },
  );
  expect(seen.without).toBeGreaterThan(10);
  expect(seen.whole).toBeGreaterThan(3);
});

it('leaves no more than one commit that is not on disk, also where records are pruned', () => {
  store = boot(live);
  const streams = open(store);
  for (let group = 0; group < 12; group++) store.commitGroup(aGroup(streams, 20));
  const [streamNo = 0] = streams;
  const header = store.nextBatch(streamNo, 100)?.header;
  if (!header) throw new Error('nothing to ship');
  const { epoch, last_seq: seq, head } = header;
  store.commitGroup([{ streamNo, shipped: { epoch, seq, head } }]);
  const step = { keepMs: -1, limit: 30 };
  store.prune(streamNo, { ...step, now: 1 });
  expect(store.prune(streamNo, { ...step, now: 10 })).toBeGreaterThan(9);
  store.commitGroup(aGroup(streams, 4), false);
  for (const file of ['', '-marks']) copyFileSync(live + file, path + file);
  const wal = readFileSync(`${live}-wal`);
  writeFileSync(`${path}-wal`, wal.fill(0, wal.length - 5_000, wal.length - 2_000));
  const copy = boot(path);
  open(copy);
  copy.close();
});

const ifLinux = process.platform === 'linux' ? it : it.skip;

ifLinux('syncs what a killed process left in the log before it marks it or builds on it', () => {
  store = boot(live);
  const streams = open(store);
  store.commitGroup(aGroup(streams, 9), false);
  for (const file of ['', '-wal', '-marks']) copyFileSync(live + file, path + file);
  const synced: string[] = [];
  const fsync = vi.mocked(fsyncSync).getMockImplementation();
  vi.mocked(fsyncSync).mockImplementation((file) => {
    synced.push(readlinkSync(`/proc/self/fd/${file}`));
    fsync?.(file);
  });
  boot(path).close();
  expect(synced.slice(0, 2)).toEqual([`${path}-wal`, `${path}-marks`]);
});
