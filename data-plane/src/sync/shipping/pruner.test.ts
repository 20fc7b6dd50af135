import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLedger, type DurableLedger } from '../../ledger/ledger.ts';
import { TAIL } from '../../ledger/ledger-schema.ts';
import { readStoredRecords } from '../../testing/test-ledger-store.ts';
import { aDecision } from '../../testing/test-records.ts';
import { startPruner } from './pruner.ts';

const DAY = 86_400_000;
const tenantId = uuidv7();
const { privateKey: signingKey } = generateKeyPairSync('ed25519');
let dataDir: string;
let ledger: DurableLedger;
let wall: number;
let stated: number;
let pruner: ReturnType<typeof startPruner>;

const kept = () => readStoredRecords(join(dataDir, 'data-plane.db')).length;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'pruner-'));
  wall = Date.now();
  stated = wall;
  ledger = await createLedger({
    ...{ dataDir, signingKey, writerVersion: '1', now: () => wall },
    onFatal: (error) => {
      throw error;
    },
    readUsedShare: async () => 0,
  });
  await ledger.open(tenantId, uuidv7());
  // Each row has few records, so that some are older than those that a start checks.
  for (let count = 0; count < TAIL + 50; count++) await ledger.append(tenantId, aDecision());
  const batch = await ledger.nextBatch(tenantId, 500);
  if (!batch) throw new Error('nothing waits');
  const { epoch, last_seq: seq, head } = batch.header;
  await ledger.markShipped(tenantId, { epoch, seq, head });
  pruner = startPruner({
    ...{ tenantId, ledger, keepMs: 7 * DAY, everyMs: 5, now: () => wall },
    findStated: () => stated,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  await sleep(100);
});
afterEach(async () => {
  pruner.stop();
  await ledger.stop();
  rmSync(dataDir, { recursive: true });
});

it('removes what was shipped long ago, while the control plane agrees on the time', async () => {
  const all = kept();
  wall += 6 * DAY;
  stated += 6 * DAY;
  await sleep(100);
  expect(kept()).toBe(all);
  wall += 2 * DAY;
  stated += 2 * DAY;
  await expect.poll(kept).toBeLessThan(all);
});

it.each([
  ['ahead', 365 * DAY],
  ['back, and right again', -365 * DAY],
])('removes nothing by a clock that is a year %s', async (_where, by) => {
  const all = kept();
  wall += by;
  await sleep(100);
  wall -= by;
  await sleep(100);
  expect(kept()).toBe(all);
});
