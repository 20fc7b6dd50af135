import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { uuidv7 } from '@governance/shared/ids';
import { type ChainPosition, verifyLink } from '@governance/shared/ledger/hash-chain';
import { type LedgerRecord, parseRecord } from '@governance/shared/ledger/ledger-record';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readStoredRecords } from '../testing/test-ledger-store.ts';
import { LEDGER_FILE } from './ledger.ts';

const ROUNDS = 4;
/** A fixed seed makes a failing round repeatable. */
const SEED = 20_260_102;

const child = fileURLToPath(new URL('../testing/ledger-crash-child.ts', import.meta.url));
const tenantId = uuidv7();
const stream = uuidv7();
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'ledger-crash-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

/** Runs the child to its end, and returns the ids that it saw acknowledged. */
function runChild(prefix: string[], killAfter: number | null) {
  const command = [
    ...prefix,
    process.execPath,
    '--import',
    'tsx',
    child,
    dataDir,
    tenantId,
    stream,
  ];
  const [program = '', ...args] = command;
  const running = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  running.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
    if (killAfter !== null && output.length > killAfter) running.kill('SIGKILL');
  });
  running.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  return new Promise<{ acknowledged: string[]; errors: string; code: number | null }>((resolve) => {
    running.on('close', (code) => {
      // The last line may be cut off by the kill.
      resolve({ acknowledged: output.split('\n').slice(0, -1), errors, code });
    });
  });
}

function readLedger() {
  const rows = readStoredRecords(join(dataDir, LEDGER_FILE), 'position');
  let position: ChainPosition | null = null;
  const breaks: unknown[] = [];
  const records: LedgerRecord[] = [];
  for (const { hash, bytes } of rows) {
    const record = parseRecord(bytes);
    const previous = record.type === 'epoch_start' ? record.previous : undefined;
    const link = { ...record, previous, bytes };
    const { after, broken } = verifyLink(position, link, hash ?? undefined);
    if (broken) breaks.push(broken);
    position = after;
    records.push(record);
  }
  return { records, breaks };
}

/** Each decision of an ended process has one outcome; the last process's may be open. */
function openDecisions(records: LedgerRecord[]): string[] {
  const answered = new Set(
    records.flatMap((record) => (record.type === 'outcome' ? [record.event_id] : [])),
  );
  const lastEpoch = records.at(-1)?.epoch;
  return records.flatMap((record) =>
    record.type === 'decision' && record.epoch !== lastEpoch && !answered.has(record.id)
      ? [record.id]
      : [],
  );
}

describe('kill -9 under load', () => {
  it('loses nothing that was acknowledged, and each next epoch links to what is stored', async () => {
    const acknowledged = new Set<string>();
    let state = SEED;
    for (let round = 1; round <= ROUNDS; round++) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      const run = await runChild([], 37 * (50 + (state % 2_000)));
      expect(run).toMatchObject({ code: null, errors: '' });
      for (const id of run.acknowledged) acknowledged.add(id);
      const { records, breaks } = readLedger();
      expect(breaks).toEqual([]);
      expect(records.filter(({ type }) => type === 'epoch_start')).toHaveLength(round);
      const stored = new Set(records.map(({ id }) => id));
      expect(stored.size).toBe(records.length);
      expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
      expect(openDecisions(records)).toEqual([]);
    }
    expect(acknowledged.size).toBeGreaterThan(ROUNDS * 50);
  }, 60_000);
});

describe('a disk that fails', () => {
  // A limit on the size of files makes writes fail with EFBIG, which SQLite reports as SQLITE_IOERR.
  it('ends the process, having lost nothing that was acknowledged', async () => {
    const limited = ['/bin/sh', '-c', 'ulimit -f 4096; exec "$@"', 'sh'];
    const run = await runChild(limited, null);
    expect(run.errors).toContain('fatal: the ledger cannot write: SQLITE_IOERR');
    expect(run.code).toBe(1);
    const { records, breaks } = readLedger();
    expect(breaks).toEqual([]);
    const stored = new Set(records.map(({ id }) => id));
    expect(run.acknowledged.length).toBeGreaterThan(100);
    expect(run.acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    const after = await runChild([], 37 * 50);
    expect(after.code).toBe(null);
    expect(readLedger().breaks).toEqual([]);
  }, 60_000);
});
