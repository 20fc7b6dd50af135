import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { parseRecord, type UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aDecision, anAlert, anOutcome } from '../testing/test-records.ts';
import { createLedger, type DurableLedger, LEDGER_FILE, type LedgerOptions } from './ledger.ts';

const { privateKey: signingKey } = generateKeyPairSync('ed25519');
const tenantId = uuidv7();
const otherTenant = uuidv7();
let dataDir: string;
let open: DurableLedger[];
let fatal: Error[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'ledger-'));
  open = [];
  fatal = [];
});

afterEach(async () => {
  for (const ledger of open) await ledger.stop();
  rmSync(dataDir, { recursive: true });
});

async function aLedger(over: Partial<LedgerOptions> = {}): Promise<DurableLedger> {
  const ledger = await createLedger({
    dataDir,
    signingKey,
    writerVersion: '1.0.0',
    onFatal: (error) => fatal.push(error),
    readUsedShare: async () => 0,
    ...over,
  });
  open.push(ledger);
  return ledger;
}

async function reopen(ledger: DurableLedger): Promise<DurableLedger> {
  await ledger.stop();
  open = open.filter((other) => other !== ledger);
  return aLedger();
}

/** All unshipped records, as a reader finds them. */
async function recordsOf(ledger: DurableLedger, tenant = tenantId) {
  const records = [];
  for (;;) {
    const batch = await ledger.nextBatch(tenant, 500);
    if (!batch) return records;
    records.push(...batch.records.map(parseRecord));
    const { epoch, last_seq: seq, head } = batch.header;
    await ledger.markShipped(tenant, { epoch, seq, head });
  }
}

describe('append', () => {
  it('settles each record with its place, and stores them in the order of the calls', async () => {
    const groups: number[] = [];
    const ledger = await aLedger({ observer: { committed: (records) => groups.push(records) } });
    await ledger.open(tenantId, uuidv7());
    const decisions = Array.from({ length: 300 }, () => aDecision());
    const appended = await Promise.all(decisions.map((one) => ledger.append(tenantId, one)));
    expect(appended.map(({ id, epoch, seq }) => [id, epoch, seq])).toEqual(
      decisions.map(({ id }, index) => [id, 1, index + 2]),
    );
    // One tick, one message, one commit.
    expect(groups).toEqual([300]);
    const stored = await recordsOf(ledger);
    expect(stored.slice(1).map(({ id }) => id)).toEqual(decisions.map(({ id }) => id));
    expect(stored.at(-1)?.prev_hash).toBe(appended.at(-2)?.hash);
  });

  it('refuses a poison record alone, whatever is wrong with it', async () => {
    const ledger = await aLedger();
    await ledger.open(tenantId, uuidv7());
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    let deep: unknown = [];
    for (let i = 0; i < 100_000; i++) deep = [deep];
    const poison = [
      aDecision({ instruction_hash: 'a\ud800' }),
      aDecision({ latency_ms: Number.NaN }),
      anAlert({ details: circular }),
      anAlert({ details: { big: 1n } }),
      anAlert({ details: { deep } }),
      { type: 'decision' } as UnchainedRecord,
    ];
    const settled = await Promise.allSettled(
      poison.flatMap((record) => [
        ledger.append(tenantId, record),
        ledger.append(tenantId, aDecision()),
      ]),
    );
    expect(settled.map(({ status }) => status)).toEqual(
      poison.flatMap(() => ['rejected', 'fulfilled']),
    );
    for (const result of settled) {
      if (result.status === 'rejected') expect(result.reason.fault).toBe('record_refused');
    }
    expect(fatal).toEqual([]);
    expect(await recordsOf(ledger)).toHaveLength(1 + poison.length);
  });

  it('refuses only a record whose salt does not fit beside it', async () => {
    const ledger = await aLedger();
    await ledger.open(tenantId, uuidv7());
    const bad = ledger.append(tenantId, aDecision(), Buffer.alloc(256));
    const good = ledger.append(tenantId, aDecision());
    await expect(bad).rejects.toMatchObject({ fault: 'record_refused' });
    await expect(good).resolves.toMatchObject({ seq: 2 });
  });

  it('refuses what its bounded queue has no room for, and works again after', async () => {
    const ledger = await aLedger({ maxPendingRecords: 10 });
    await ledger.open(tenantId, uuidv7());
    const appends = Array.from({ length: 12 }, () => ledger.append(tenantId, anAlert()));
    const settled = await Promise.allSettled(appends);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    await expect(appends[11]).rejects.toMatchObject({ fault: 'overloaded' });
    await expect(ledger.append(tenantId, anAlert())).resolves.toMatchObject({ seq: 12 });
    expect(ledger.status()).toMatchObject({ pendingRecords: 0, condition: 'ok' });
  });

  it('keeps the streams of tenants apart', async () => {
    const ledger = await aLedger();
    await ledger.open(tenantId, uuidv7());
    await expect(ledger.append(otherTenant, anAlert())).rejects.toMatchObject({
      fault: 'stream_unknown',
    });
    await ledger.open(otherTenant, uuidv7());
    await ledger.append(otherTenant, anAlert());
    const appended = await ledger.append(tenantId, anAlert());
    expect(appended.seq).toBe(2);
    const records = await recordsOf(ledger, otherTenant);
    expect(records.map(({ tenant_id, seq }) => [tenant_id, seq])).toEqual([
      [otherTenant, 1],
      [otherTenant, 2],
    ]);
  });

  it('notifies the shipper of durable records, and of urgent ones', async () => {
    const ledger = await aLedger();
    const received: unknown[] = [];
    const end = ledger.onAppended((tenant, urgent) => received.push([tenant, urgent]));
    await ledger.open(tenantId, uuidv7());
    await ledger.append(tenantId, aDecision());
    await ledger.append(tenantId, anAlert());
    end();
    await ledger.append(tenantId, anAlert());
    expect(received).toEqual([
      [tenantId, true],
      [tenantId, false],
      [tenantId, true],
    ]);
  });
});

describe('restarts', () => {
  it('lose nothing that was appended before stop, and continue shipping from the same position', async () => {
    const stream = uuidv7();
    const first = await aLedger();
    await first.open(tenantId, stream);
    const answered = aDecision();
    const appends = [
      first.append(tenantId, answered),
      first.append(tenantId, anOutcome(answered.id)),
      first.append(tenantId, aDecision()),
    ];
    const second = await reopen(first);
    await Promise.all(appends);
    expect(await second.open(tenantId, stream)).toMatchObject({ epoch: 2, outcomesUnknown: 1 });
    expect(await recordsOf(second)).toHaveLength(4 + 2);
    const third = await reopen(second);
    await third.open(tenantId, stream);
    expect((await recordsOf(third)).map(({ epoch, seq }) => [epoch, seq])).toEqual([[3, 1]]);
    await expect(first.append(tenantId, anAlert())).rejects.toMatchObject({ fault: 'stopped' });
  });

  it('refuse a file that is not a database, before anything depends on it', async () => {
    writeFileSync(join(dataDir, LEDGER_FILE), 'x'.repeat(8_192));
    await expect(aLedger()).rejects.toThrow('not a database');
    expect(fatal).toEqual([]);
  });
});

describe('the disk', () => {
  it('warns, then denies new calls but not outcomes of earlier ones, and recovers', async () => {
    let share = 0.5;
    const ledger = await aLedger({ readUsedShare: async () => share });
    await ledger.open(tenantId, uuidv7());
    const decision = aDecision();
    await ledger.append(tenantId, decision);
    share = 0.8;
    await ledger.checkDisk();
    expect(ledger.condition()).toBe('warning');
    await ledger.append(tenantId, aDecision());
    share = 0.95;
    await ledger.checkDisk();
    expect(ledger.condition()).toBe('full');
    await expect(ledger.append(tenantId, aDecision())).rejects.toMatchObject({ fault: 'full' });
    await ledger.append(tenantId, anOutcome(decision.id));
    share = 0.7;
    await ledger.checkDisk();
    expect(ledger.condition()).toBe('ok');
    await ledger.append(tenantId, aDecision());
    const alerts = (await recordsOf(ledger)).filter((record) => record.type === 'alert');
    expect(alerts).toMatchObject([
      { alert_type: 'DISK_WATERMARK', severity: 'high', details: { used_percent: 80 } },
      { alert_type: 'DISK_WATERMARK', severity: 'critical', details: { level: 'full' } },
    ]);
  });

  it('counts as full when it cannot be checked', async () => {
    const ledger = await aLedger({ readUsedShare: () => Promise.reject(new Error('EIO')) });
    expect(ledger.condition()).toBe('full');
  });

  it.each([
    LEDGER_FILE,
    `${LEDGER_FILE}-wal`,
    `${LEDGER_FILE}-marks`,
  ])('counts as full once %s was removed under it: what was recorded can still be shipped', async (name) => {
    const ledger = await aLedger({ readUsedShare: undefined });
    await ledger.open(tenantId, uuidv7());
    await ledger.append(tenantId, aDecision());
    const [file, aside] = [join(dataDir, name), join(dataDir, 'aside')];
    renameSync(file, aside);
    await ledger.checkDisk();
    expect(ledger.condition()).toBe('full');
    await expect(ledger.append(tenantId, aDecision())).rejects.toMatchObject({ fault: 'full' });
    expect((await recordsOf(ledger)).map(({ type }) => type)).toContain('decision');
    renameSync(aside, file);
    await ledger.checkDisk();
    expect(ledger.condition()).toBe('ok');
    await ledger.append(tenantId, aDecision());
  });

  it('says nothing of its disk while it stops, whatever a look finds then', async () => {
    const told: string[] = [];
    const ledger = await aLedger({
      readUsedShare: undefined,
      onDisk: (level) => void told.push(level),
    });
    const look = ledger.checkDisk();
    await ledger.stop();
    await look;
    await ledger.checkDisk();
    expect(told).toEqual([]);
  });

  it('is held to the limit set for the ledger', async () => {
    const ledger = await aLedger({ readUsedShare: undefined, limitBytes: 400_000 });
    await ledger.open(tenantId, uuidv7());
    for (let i = 0; i < 60; i++) await ledger.append(tenantId, anAlert());
    await ledger.checkDisk();
    expect(ledger.condition()).toBe('full');
  });

  it('without room for a commit refuses that group, keeps what it has and continues later', async () => {
    const stream = uuidv7();
    const ledger = await aLedger({ limitBytes: 256 * 1024 });
    await ledger.open(tenantId, stream);
    const acknowledged: string[] = [];
    const faults: unknown[] = [];
    while (faults.length === 0) {
      const record = anAlert();
      await ledger.append(tenantId, record).then(
        () => acknowledged.push(record.id),
        (error) => faults.push(error.fault),
      );
    }
    expect(faults).toEqual(['full']);
    expect(ledger.condition()).toBe('full');
    expect(fatal).toEqual([]);
    const roomier = await reopen(ledger);
    await roomier.open(tenantId, stream);
    await roomier.append(tenantId, aDecision());
    const stored = (await recordsOf(roomier)).filter(({ type }) => type === 'alert');
    expect(stored.map(({ id }) => id)).toEqual(acknowledged);
  });
});
