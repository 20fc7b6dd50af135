/**
 * The order of commit, sync and acknowledgement, with the real file and, where stated, a controlled
 * sync.
 */
import { generateKeyPairSync, pbkdf2 } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { uuidv7 } from '@governance/shared/ids';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readStoredRecords } from '../testing/test-ledger-store.ts';
import { aDecision, anAlert, anOutcome } from '../testing/test-records.ts';
import { createLedger, type DurableLedger, LEDGER_FILE, type LedgerOptions } from './ledger.ts';
import type { LedgerError } from './ledger-error.ts';

const { privateKey: signingKey } = generateKeyPairSync('ed25519');
const tenantId = uuidv7();
let dataDir: string;
let ledger: DurableLedger;
let fatal: Error[];
let groups: number[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'committer-'));
  fatal = [];
  groups = [];
});
afterEach(async () => {
  await ledger.stop();
  rmSync(dataDir, { recursive: true });
});

async function start(over: Partial<LedgerOptions> = {}): Promise<void> {
  ledger = await createLedger({
    dataDir,
    signingKey,
    writerVersion: '1',
    onFatal: (error) => fatal.push(error),
    readUsedShare: async () => 0,
    observer: { committed: (records) => groups.push(records) },
    ...over,
  });
}

/** A sync that ends when the test says so. */
function syncByHand() {
  const syncs: { end: () => void; fail: (error: Error) => void }[] = [];
  let isOpen = true;
  const startSync: LedgerOptions['startSync'] = async () => ({
    sync: () =>
      isOpen
        ? Promise.resolve()
        : new Promise((resolve, reject) => syncs.push({ end: resolve, fail: reject })),
    close: async () => undefined,
  });
  return {
    startSync,
    syncs,
    hold: () => {
      isOpen = false;
    },
    letGo: () => {
      isOpen = true;
      for (const { end } of syncs.splice(0)) end();
    },
  };
}

it('acknowledges a record only when a sync that began after its commit has ended', async () => {
  const { startSync, syncs, hold, letGo } = syncByHand();
  await start({ startSync });
  await ledger.open(tenantId, uuidv7());
  hold();
  const settled: string[] = [];
  const append = (name: string) => {
    void ledger.append(tenantId, aDecision()).then(() => settled.push(name));
  };
  append('first');
  await sleep(20);
  // Its commit is in the file, but it is neither acknowledged, nor shipped, nor marked.
  expect(readStoredRecords(join(dataDir, LEDGER_FILE))).toHaveLength(2);
  expect(settled).toEqual([]);
  const marks = statSync(join(dataDir, `${LEDGER_FILE}-marks`)).mtimeMs;
  append('second');
  append('third');
  await sleep(20);
  // They came during a sync, which may not cover them: they wait, uncommitted.
  expect(readStoredRecords(join(dataDir, LEDGER_FILE))).toHaveLength(2);
  expect(syncs).toHaveLength(1);
  syncs.shift()?.end();
  await sleep(20);
  expect(settled).toEqual(['first']);
  expect(readStoredRecords(join(dataDir, LEDGER_FILE))).toHaveLength(4);
  expect(statSync(join(dataDir, `${LEDGER_FILE}-marks`)).mtimeMs).toBeGreaterThan(marks);
  letGo();
  await sleep(20);
  expect(settled).toEqual(['first', 'second', 'third']);
  expect(groups).toEqual([1, 2]);
});

it('does not ship what is committed but not yet on disk', async () => {
  const { startSync, hold, letGo } = syncByHand();
  await start({ startSync });
  await ledger.open(tenantId, uuidv7());
  await ledger.append(tenantId, aDecision());
  hold();
  const appended = ledger.append(tenantId, aDecision());
  await sleep(20);
  const batch = ledger.nextBatch(tenantId, 100);
  await sleep(50);
  let isShipped = false;
  void batch.then(() => {
    isShipped = true;
  });
  await sleep(0);
  expect(isShipped).toBe(false);
  expect(await ledger.checkShipped(tenantId, null, 10)).toEqual({ records: 0, next: null });
  letGo();
  await appended;
  expect((await batch)?.header.last_seq).toBe(3);
});

it('ends for good when a sync fails', async () => {
  const { startSync, syncs, hold } = syncByHand();
  await start({ startSync });
  await ledger.open(tenantId, uuidv7());
  hold();
  const appends = [ledger.append(tenantId, aDecision()), ledger.append(tenantId, anAlert())];
  await sleep(20);
  const waiting = ledger.append(tenantId, aDecision());
  syncs[0]?.fail(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
  for (const append of [...appends, waiting]) {
    await expect(append).rejects.toMatchObject({ fault: 'failed' });
  }
  expect(fatal.map(({ message }) => message)).toEqual([
    'the ledger cannot write: EIO: i/o error, fdatasync',
  ]);
  expect(ledger.condition()).toBe('failed');
  await expect(ledger.append(tenantId, aDecision())).rejects.toMatchObject({ fault: 'failed' });
});

it('refuses each later record with an error of its own', async () => {
  const { startSync, syncs, hold } = syncByHand();
  await start({ startSync });
  await ledger.open(tenantId, uuidv7());
  hold();
  const append = ledger.append(tenantId, aDecision());
  await sleep(20);
  syncs[0]?.fail(new Error('EIO'));
  await expect(append).rejects.toMatchObject({ fault: 'failed' });
  const refuse = () => ledger.append(tenantId, aDecision()).catch((error: LedgerError) => error);
  const [first, second] = [await refuse(), await refuse()];
  expect(first).toMatchObject({ fault: 'failed', message: 'the ledger cannot write: EIO' });
  expect(second).not.toBe(first);
  expect(second).not.toHaveProperty('cause');
});

it('commits what came during a sync as one group, of several tenants', async () => {
  const { startSync, hold, letGo } = syncByHand();
  await start({ startSync });
  const tenants = [tenantId, uuidv7(), uuidv7()];
  for (const tenant of tenants) await ledger.open(tenant, uuidv7());
  hold();
  const appends = [ledger.append(tenantId, aDecision())];
  await sleep(20);
  for (let n = 0; n < 90; n++) {
    appends.push(ledger.append(tenants[n % 3] ?? '', n % 2 ? anOutcome(uuidv7()) : aDecision()));
  }
  letGo();
  const places = await Promise.all(appends);
  expect(groups).toEqual([1, 90]);
  expect(places.slice(1).map(({ seq }) => seq)).toEqual(
    Array.from({ length: 90 }, (_, n) => Math.floor(n / 3) + (n % 3 === 0 ? 3 : 2)),
  );
  for (const tenant of tenants) {
    const records = (await ledger.nextBatch(tenant, 500))?.records.map(parseRecord) ?? [];
    expect(new Set(records.map(({ tenant_id }) => tenant_id))).toEqual(new Set([tenant]));
  }
});

it('continues while password hashing fills the threads of libuv', async () => {
  await start();
  await ledger.open(tenantId, uuidv7());
  let ended = 0;
  const hash = () =>
    new Promise<void>((resolve) => {
      pbkdf2('x', 'y', 600_000, 32, 'sha512', () => {
        ended++;
        resolve();
      });
    });
  const hashes = Array.from({ length: 8 }, hash);
  for (let n = 0; n < 3; n++) await ledger.append(tenantId, aDecision());
  // A sync on one of those threads would have waited for the first four of them.
  expect(ended).toBeLessThan(4);
  await Promise.all(hashes);
}, 60_000);

it("waits for another program's lock without blocking the thread", async () => {
  await start();
  await ledger.open(tenantId, uuidv7());
  const other = new Database(join(dataDir, LEDGER_FILE));
  other.exec('BEGIN IMMEDIATE');
  let isAppended = false;
  const appended = ledger.append(tenantId, aDecision()).then(() => {
    isAppended = true;
  });
  // A blocked thread would reach the second turn only after the lock wait had failed.
  for (let turns = 0; turns < 50; turns++) {
    await sleep(1);
    expect(isAppended).toBe(false);
  }
  other.exec('ROLLBACK');
  await appended;
  other.close();
  expect(fatal).toEqual([]);
});

it('keeps its log small, and appends while records are shipped, checked, pruned and checkpointed', async () => {
  await start();
  await ledger.open(tenantId, uuidv7());
  let isDone = false;
  let pruned = 0;
  const background = (async () => {
    while (!isDone) {
      const batch = await ledger.nextBatch(tenantId, 500);
      if (batch) {
        const { epoch, last_seq: seq, head } = batch.header;
        await ledger.markShipped(tenantId, { epoch, seq, head });
      }
      await ledger.checkShipped(tenantId, null, 50);
      pruned += await ledger.prune(tenantId, -1, 200);
    }
  })();
  let largest = 0;
  for (let round = 0; round < 60; round++) {
    // About 400 KiB in a log of pages.
    await Promise.all(
      Array.from({ length: 200 }, () =>
        ledger.append(tenantId, aDecision({ policy_reason: 'x'.repeat(1_000) })),
      ),
    );
    largest = Math.max(largest, statSync(join(dataDir, `${LEDGER_FILE}-wal`)).size);
  }
  isDone = true;
  await background;
  expect(pruned).toBeGreaterThan(500);
  expect(largest).toBeLessThan(20 * 1024 * 1024);
  expect(fatal).toEqual([]);
}, 60_000);

it('keeps its log small where each record is a commit of its own', async () => {
  const { startSync } = syncByHand();
  await start({ startSync });
  await ledger.open(tenantId, uuidv7());
  for (let count = 0; count < 2_000; count++) await ledger.append(tenantId, aDecision());
  // The log keeps the size of its longest round.
  const { size } = statSync(join(dataDir, `${LEDGER_FILE}-wal`));
  expect(groups.length).toBeGreaterThan(1_900);
  expect(size).toBeLessThan(16 * 1024 * 1024);
  expect(fatal).toEqual([]);
});
