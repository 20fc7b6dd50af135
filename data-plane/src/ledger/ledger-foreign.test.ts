/**
 * Another program at the ledger's file, such as sqlite3 in a shell, and behaviour after a failure.
 */
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { uuidv7 } from '@governance/shared/ids';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readStoredRecords } from '../testing/test-ledger-store.ts';
import { aDecision, anAnswerStarted, anOutcome } from '../testing/test-records.ts';
import { createLedger, type DurableLedger, LEDGER_FILE, type LedgerOptions } from './ledger.ts';
import { BUSY_FOR_MS } from './ledger-committer.ts';

const { privateKey: signingKey } = generateKeyPairSync('ed25519');
const tenantId = uuidv7();
const stream = uuidv7();
let dataDir: string;
let path: string;
let ledger: DurableLedger;
let fatal: Error[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'foreign-'));
  path = join(dataDir, LEDGER_FILE);
  fatal = [];
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
    ...over,
  });
  await ledger.open(tenantId, stream);
}

function takeLock(): Database.Database {
  const other = new Database(path);
  other.exec('BEGIN IMMEDIATE');
  return other;
}

it(
  'refuses calls when a lock is not released, keeps what became of others, and continues after it',
  async () => {
    await start();
    const decision = aDecision();
    await ledger.append(tenantId, decision);
    const other = takeLock();
    const started = ledger.append(tenantId, anAnswerStarted(decision.id));
    const outcome = ledger.append(tenantId, anOutcome(decision.id));
    const refused = ledger.append(tenantId, aDecision());
    await expect(refused).rejects.toMatchObject({ fault: 'overloaded' });
    // From now on at once: if each waited as long as the first, the test would not end in time.
    for (let n = 0; n < 12; n++) {
      const again = ledger.append(tenantId, aDecision());
      await expect(again).rejects.toMatchObject({ fault: 'overloaded' });
    }
    other.close();
    expect((await started).seq).toBe(3);
    expect((await outcome).seq).toBe(4);
    expect((await ledger.append(tenantId, aDecision())).seq).toBe(5);
    expect(fatal).toEqual([]);
  },
  10 * BUSY_FOR_MS,
);

it(
  'continues when a lock keeps it from pruning',
  async () => {
    await start();
    const other = takeLock();
    await expect(ledger.prune(tenantId, 0, 10)).rejects.toMatchObject({ fault: 'overloaded' });
    other.close();
    await ledger.append(tenantId, aDecision());
    expect(fatal).toEqual([]);
  },
  10 * BUSY_FOR_MS,
);

it('shares the index of its log with a program that had the file open before its start', async () => {
  await start();
  await ledger.stop();
  const program = `
    const db = new (require('better-sqlite3'))(process.argv[1]);
    const count = db.prepare('SELECT count(*) FROM records').pluck();
    const tell = () => console.log(count.get());
    tell();
    process.stdin.on('data', tell);`;
  const require = createRequire(import.meta.url);
  const modules = join(require.resolve('better-sqlite3/package.json'), '../..');
  const child = spawn(process.execPath, ['-e', program, path], {
    cwd: modules,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  try {
    expect(String(await once(child.stdout, 'data')).trim()).toBe('1');
    await start();
    for (let n = 0; n < 3; n++) await ledger.append(tenantId, aDecision());
    const told = once(child.stdout, 'data');
    child.stdin.write('\n');
    // An index of its own would show it another file, and let both write at once.
    expect(String(await told).trim()).toBe('5');
  } finally {
    child.kill();
    await ended;
  }
});

it('writes nothing and refuses everybody after a failure', async () => {
  let isBroken = false;
  let broken: (error: Error) => void = () => undefined;
  await start({
    startSync: async (_path, onError) => {
      broken = onError;
      return {
        sync: () => (isBroken ? new Promise(() => undefined) : Promise.resolve()),
        close: async () => undefined,
      };
    },
  });
  await ledger.append(tenantId, aDecision());
  const header = (await ledger.nextBatch(tenantId, 10))?.header;
  if (!header) throw new Error('nothing to ship');
  isBroken = true;
  const appended = ledger.append(tenantId, aDecision());
  await sleep(20);
  const pruned = ledger.prune(tenantId, 0, 10);
  broken(new Error('gone'));
  const { epoch, last_seq: seq, head } = header;
  const late = [
    appended,
    pruned,
    ledger.markShipped(tenantId, { epoch, seq, head }),
    ledger.open(uuidv7(), stream),
  ];
  for (const refused of late) await expect(refused).rejects.toBeDefined();
  const stored = readStoredRecords(path).length;
  await sleep(30);
  expect(readStoredRecords(path)).toHaveLength(stored);
  expect(fatal).toHaveLength(1);
});
