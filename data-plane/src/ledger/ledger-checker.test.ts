import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { aDecision } from '../testing/test-records.ts';
import { createLedger, type DurableLedger, LEDGER_FILE } from './ledger.ts';
import { type LedgerChecker, startLedgerChecker } from './ledger-checker.ts';

const { privateKey: signingKey } = generateKeyPairSync('ed25519');
const [tenantA, tenantB] = [uuidv7(), uuidv7()] as const;
const tenants = [tenantA, tenantB];
const streams = new Map(tenants.map((tenant) => [tenant, uuidv7()]));
const RECORDS = 130;

let dataDir: string;
let ledger: DurableLedger;
let checker: LedgerChecker | undefined;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'checker-'));
  ledger = await open();
  for (const tenant of tenants) {
    // One after the other, so that each is a group of its own.
    for (let n = 0; n < RECORDS; n++) {
      await ledger.append(tenant, aDecision({ policy_result: 'deny' }));
    }
    await shipAll(tenant);
  }
});
afterEach(async () => {
  checker?.stop();
  await ledger.stop();
  rmSync(dataDir, { recursive: true });
});

async function open(): Promise<DurableLedger> {
  const opened = await createLedger({
    dataDir,
    signingKey,
    writerVersion: '1',
    onFatal: (error) => {
      throw error;
    },
    readUsedShare: async () => 0,
  });
  for (const tenant of tenants) await opened.open(tenant, streams.get(tenant) as string);
  return opened;
}

async function shipAll(tenant: string): Promise<void> {
  for (;;) {
    const batch = await ledger.nextBatch(tenant, 500);
    if (!batch) return;
    const { epoch, last_seq: seq, head } = batch.header;
    await ledger.markShipped(tenant, { epoch, seq, head });
  }
}

async function damage(sql: string): Promise<void> {
  await ledger.stop();
  const db = new Database(join(dataDir, LEDGER_FILE));
  db.exec(sql);
  db.close();
  ledger = await open();
}

function start(againAfterMs = 86_400_000) {
  const told: [string, string][] = [];
  const steps: { at: number; records: number }[] = [];
  checker = startLedgerChecker({
    ledger: {
      checkShipped: async (...asked) => {
        const step = await ledger.checkShipped(...asked);
        steps.push({ at: performance.now(), records: step.records });
        return step;
      },
    },
    listTenants: () => tenants,
    onDamage: (tenantId, message) => told.push([tenantId, message]),
    log: { warn: () => {} },
    now: () => Date.parse('2026-01-02T03:04:05.000Z'),
    firstAfterMs: 1,
    againAfterMs,
  });
  return { checker, told, steps };
}

it('reads everything shipped after a start, in small steps with pauses, and again later', async () => {
  const { checker, told, steps } = start(1);
  await vi.waitFor(() => expect(checker.status()).toMatchObject({ state: 'checking' }));
  await vi.waitFor(() => expect(steps.length).toBeGreaterThan(6), { timeout: 10_000 });
  expect(checker.status()).toMatchObject({
    checked_at: '2026-01-02T03:04:05.000Z',
    // The start of the epoch, and the decisions.
    records: 2 * (RECORDS + 1),
    damage: [],
  });
  expect(told).toEqual([]);
  for (const { records } of steps) expect(records).toBeLessThanOrEqual(50);
  const [first, second] = steps.map(({ at }) => at);
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(40);
});

it.each([
  [
    'an edit',
    "UPDATE records SET bytes = CAST(replace(bytes, 'read_file', 'exec_file') AS BLOB) WHERE stream_no = 1 AND seq = 60",
  ],
  ['a gap', 'DELETE FROM records WHERE stream_no = 1 AND seq = 60'],
  [
    'a record in the place of another',
    'UPDATE records SET bytes = (SELECT bytes FROM records WHERE stream_no = 1 AND seq = 61), hash = (SELECT hash FROM records WHERE stream_no = 1 AND seq = 61) WHERE stream_no = 1 AND seq = 60',
  ],
  [
    'what is no record',
    "UPDATE records SET bytes = CAST('x' AS BLOB), hash = x'2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213' WHERE stream_no = 1 AND seq = 60",
  ],
])('finds %s among shipped records, reports it, and calls continue', async (_what, sql) => {
  await damage(sql);
  const { checker, told } = start();
  await vi.waitFor(() => expect(checker.status().state).toBe('damaged'), { timeout: 10_000 });
  expect(told).toEqual([[tenantA, expect.stringMatching(/record 1\/6[01] of stream/)]]);
  expect(checker.status().damage).toEqual([{ tenant_id: tenantA, message: told[0]?.[1] }]);
  await ledger.append(tenantA, aDecision({ policy_result: 'deny' }));
  expect(ledger.condition()).toBe('ok');
});

it('does not mistake pruned records for damage', async () => {
  const step = await ledger.checkShipped(tenantA, null, 10);
  expect(step).toMatchObject({ records: 10, next: { epoch: 1, seq: 10 } });
  await ledger.prune(tenantA, -1, 500);
  expect(await ledger.prune(tenantA, -1, 500)).toBe(0);
  const rest = await ledger.checkShipped(tenantA, step.next, 500);
  expect(rest).toMatchObject({ records: 64, next: null });
});
