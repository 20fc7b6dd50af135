import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { isBatchSignedBy } from '@governance/shared/ledger/audit-batch';
import { GENESIS_HASH } from '@governance/shared/ledger/hash-chain';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createLedgerStore,
  type LedgerStore,
  makeOlder,
  readStoredRecords,
} from '../testing/test-ledger-store.ts';
import { aDecision } from '../testing/test-records.ts';
import { readUsedShare } from './disk-watermark.ts';
import { TAIL } from './ledger-schema.ts';

const { privateKey: signingKey } = generateKeyPairSync('ed25519');
const tenantId = uuidv7();
const stream = uuidv7();
const DAY = 86_400_000;
const keepMs = 7 * DAY;
let dataDir: string;
let path: string;
let store: LedgerStore;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'retention-'));
  path = join(dataDir, 'ledger.db');
  store = boot();
});

afterEach(() => {
  store.close();
  rmSync(dataDir, { recursive: true });
});

function boot(): LedgerStore {
  return createLedgerStore({ path, signingKey, limitBytes: null });
}

function open(): number {
  const timestamp = new Date().toISOString();
  return store.openStream({ tenantId, stream, writerVersion: '1', timestamp }).streamNo;
}

/** In groups of this many records. */
function append(streamNo: number, count: number, group = 7): void {
  for (let left = count; left > 0; left -= group) {
    const items = Array.from({ length: Math.min(left, group) }, () => ({
      streamNo,
      record: aDecision(),
      salt: null,
    }));
    store.commitGroup(items);
  }
}

/** Ships everything that waits. @returns [epoch, first seq, last seq, previous head] of each batch */
function shipAll(streamNo: number): [number, number, number, string][] {
  const batches: [number, number, number, string][] = [];
  for (;;) {
    const batch = store.nextBatch(streamNo, 500);
    if (!batch) return batches;
    const { header, signature } = batch;
    expect(isBatchSignedBy(createPublicKey(signingKey), header, signature)).toBe(true);
    const { epoch, first_seq, last_seq, prev_head, head } = header;
    batches.push([epoch, first_seq, last_seq, prev_head]);
    store.commitGroup([{ streamNo, shipped: { epoch, seq: last_seq, head } }]);
  }
}

function pruneAll(streamNo: number, now: number): number {
  let removed = 0;
  for (;;) {
    const step = store.prune(streamNo, { now, keepMs, limit: 50 });
    removed += step;
    if (step < 50) return removed;
  }
}

function restart(): number {
  store.close();
  store = boot();
  return open();
}

describe('shipping again', () => {
  it('begins at the position of a restored control plane, across epochs', () => {
    const streamNo = open();
    append(streamNo, 9);
    const first = shipAll(streamNo);
    restart();
    append(streamNo, 4);
    const second = shipAll(streamNo);
    expect(store.nextBatch(streamNo, 500)).toBeNull();

    const rewound = store.rewindShipped(streamNo, { epoch: 1, seq: 4 });
    expect(rewound).toMatchObject({ state: 'rewound' });
    const again = shipAll(streamNo);
    expect(again.map(([epoch, from, to]) => [epoch, from, to])).toEqual([
      [1, 4, 10],
      [2, 1, second[0]?.[2]],
    ]);
    expect(again[1]).toEqual(second[0]);

    // It has the whole first epoch: the record that it names will never exist.
    expect(store.rewindShipped(streamNo, { epoch: 1, seq: 11 })).toMatchObject({
      state: 'rewound',
      backlog: second[0]?.[2],
    });
    expect(shipAll(streamNo)).toEqual(second);
    // It has nothing.
    expect(store.rewindShipped(streamNo, { epoch: 1, seq: 1 })).toMatchObject({ state: 'rewound' });
    expect(store.nextBatch(streamNo, 500)?.header.prev_head).toBe(GENESIS_HASH);
    expect(shipAll(streamNo)).toEqual([...first, ...second]);
  });

  it('never moves forward, and survives a restart', () => {
    const streamNo = open();
    append(streamNo, 9);
    expect(store.rewindShipped(streamNo, { epoch: 1, seq: 5 })).toEqual({ state: 'ahead' });
    shipAll(streamNo);
    expect(store.rewindShipped(streamNo, { epoch: 1, seq: 11 })).toEqual({ state: 'ahead' });
    expect(store.rewindShipped(streamNo, { epoch: 3, seq: 1 })).toEqual({ state: 'gone' });
    store.rewindShipped(streamNo, { epoch: 1, seq: 6 });
    restart();
    expect(store.nextBatch(streamNo, 500)?.header).toMatchObject({ epoch: 1, first_seq: 6 });
  });
});

describe('pruning', () => {
  it('removes records shipped before the window, and no record that was not shipped', () => {
    const streamNo = open();
    append(streamNo, 299);
    const t0 = Date.now();
    expect(pruneAll(streamNo, t0)).toBe(0);
    shipAll(streamNo);
    expect(pruneAll(streamNo, t0)).toBe(0);
    append(streamNo, 300);
    expect(pruneAll(streamNo, t0 + keepMs - 1)).toBe(0);
    expect(pruneAll(streamNo, t0 + keepMs)).toBe(300);
    expect(shipAll(streamNo).map(([, from, to]) => [from, to])).toEqual([[301, 600]]);
    expect(store.rewindShipped(streamNo, { epoch: 1, seq: 302 })).toMatchObject({
      state: 'rewound',
      backlog: 299,
    });
    expect(store.rewindShipped(streamNo, { epoch: 1, seq: 300 })).toEqual({ state: 'gone' });
  });

  it('keeps the end of the chain, on which the next epoch builds', () => {
    const streamNo = open();
    append(streamNo, 199, 1);
    shipAll(streamNo);
    const t0 = Date.now();
    pruneAll(streamNo, t0);
    expect(pruneAll(streamNo, t0 + 10 * keepMs)).toBe(200 - TAIL);
    append(streamNo, 140, 20);
    shipAll(streamNo);
    pruneAll(streamNo, t0 + 11 * keepMs);
    // Whole groups: the last four of 20 hold the 64 that a start checks.
    expect(pruneAll(streamNo, t0 + 20 * keepMs)).toBe(140 - 80);
    restart();
    expect(shipAll(streamNo)[0]).toMatchObject([2, 1, expect.any(Number), expect.any(String)]);
  });

  it('gives room back to the watermark', async () => {
    const streamNo = open();
    append(streamNo, 2_000, 20);
    shipAll(streamNo);
    const t0 = Date.now();
    pruneAll(streamNo, t0);
    const limit = 2 * statSync(`${path}-wal`).size;
    const before = await readUsedShare(dataDir, [path, `${path}-wal`], limit, store.freeBytes());
    pruneAll(streamNo, t0 + keepMs);
    expect(store.freeBytes()).toBeGreaterThan(100_000);
    const files = [path, `${path}-wal`];
    const counted = await readUsedShare(dataDir, files, limit, store.freeBytes());
    expect(counted).toBeLessThan(await readUsedShare(dataDir, files, limit));
    expect(before).toBeGreaterThan(0);
  });

  it('keeps the salts of what it removes, except purged ones', () => {
    const streamNo = open();
    const records = Array.from({ length: 6 }, () => aDecision());
    const salts = records.map((_, n) => (n === 1 ? null : Buffer.alloc(16, n + 1)));
    store.commitGroup(records.map((record, n) => ({ streamNo, record, salt: salts[n] ?? null })));
    append(streamNo, 200);
    shipAll(streamNo);
    store.close();
    let db = new Database(path);
    const stored = db.prepare('SELECT salts FROM records WHERE salts IS NOT NULL').pluck();
    const packed = stored.get() as Buffer;
    // The third record's: after one salt and one without, with its own length.
    packed.fill(0, 17 + 1 + 1, 17 + 1 + 17);
    db.prepare('UPDATE records SET salts = ? WHERE salts IS NOT NULL').run(packed);
    db.close();
    store = boot();
    const again = open();
    pruneAll(again, Date.now());
    expect(pruneAll(again, Date.now() + 2 * keepMs)).toBeGreaterThan(100);
    store.close();
    db = new Database(path);
    const kept = db.prepare('SELECT event_id, salt FROM event_salts ORDER BY salt').all();
    db.close();
    const expected = records.flatMap(({ id }, n) => {
      const event_id = Buffer.from(id.replaceAll('-', ''), 'hex');
      return n === 1 || n === 2 ? [] : [{ event_id, salt: salts[n] }];
    });
    expect(kept).toEqual(expected);
  });

  it('opens a file of the first version', () => {
    const streamNo = open();
    append(streamNo, 3, 1);
    store.close();
    makeOlder(path, 1);
    store = boot();
    open();
    expect(shipAll(streamNo).map(([epoch]) => epoch)).toEqual([1, 2]);
    expect(pruneAll(streamNo, Date.now())).toBe(0);
  });

  it('always leaves an unbroken end that can be shipped again', () => {
    const step = fc.oneof(
      fc.record({
        append: fc.integer({ min: 1, max: 150 }),
        group: fc.integer({ min: 10, max: 150 }),
      }),
      fc.record({ wait: fc.integer({ min: 0, max: 9 }) }),
      fc.constantFrom('ship' as const, 'prune' as const, 'restart' as const),
    );
    let now = Date.now();
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
        let streamNo = restart();
        for (const one of steps) {
          if (one === 'ship') shipAll(streamNo);
          else if (one === 'restart') streamNo = restart();
          else if (one === 'prune') store.prune(streamNo, { now, keepMs, limit: 40 });
          else if ('wait' in one) now += one.wait * DAY;
          else append(streamNo, one.append, one.group);
        }
        shipAll(streamNo);
        store.close();
        const kept = readStoredRecords(path);
        streamNo = restart();
        shipAll(streamNo);
        const [oldest] = kept;
        if (!oldest) throw new Error('nothing is kept');
        // The batch reader checks each link, the number and the hash of what it reads.
        expect(store.rewindShipped(streamNo, oldest)).toMatchObject({ state: 'rewound' });
        const first = store.nextBatch(streamNo, 1);
        expect([first?.header.epoch, first?.header.first_seq]).toEqual([oldest.epoch, oldest.seq]);
        shipAll(streamNo);
      }),
      { numRuns: 20 },
    );
  });
});
