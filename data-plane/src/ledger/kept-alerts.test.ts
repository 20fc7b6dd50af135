import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { parseRecord, type UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRaiseAlert } from '../alerts/raise-alert.ts';
import { createPendingWrites } from '../storage/pending-writes.ts';
import { aDecision, anAlert, anOutcome } from '../testing/test-records.ts';
import { createKeptAlerts, MAX_KEPT_ALERTS } from './kept-alerts.ts';
import { createLedger, type DurableLedger } from './ledger.ts';
import { LedgerError } from './ledger-error.ts';

type AlertRecord = Extract<UnchainedRecord, { type: 'alert' }>;
const full = new LedgerError('full', 'no room');

describe('alerts that found no room', () => {
  let hasRoom: boolean;
  let raised: [tenantId: string, AlertRecord][];
  const aKeeper = () =>
    createKeptAlerts({
      append: async (tenantId, record) => {
        if (!hasRoom) throw full;
        raised.push([tenantId, record]);
      },
      now: Date.now,
      retryMs: 60_000,
    });
  let kept: ReturnType<typeof aKeeper>;
  beforeEach(() => {
    hasRoom = false;
    raised = [];
    kept = aKeeper();
  });
  afterEach(() => kept.stop());

  it('are raised once by type and key, in their order and time, with a count', async () => {
    const alert = (dedupe_key: string, timestamp: string) => anAlert({ dedupe_key, timestamp });
    const at = (second: number) => `2026-01-02T03:04:0${second}.000Z`;
    kept.keep('a', alert('x', at(1)), full);
    kept.keep('a', alert('y', at(2)), full);
    kept.keep('a', alert('x', at(3)), full);
    kept.keep('b', alert('x', at(4)), full);
    await kept.raise();
    expect(raised).toEqual([]);
    hasRoom = true;
    await kept.raise();
    await kept.raise();
    const told = raised.map(([tenantId, { dedupe_key, timestamp, details }]) => {
      const { times, last_at } = details.kept_back as { times: number; last_at: string };
      return [tenantId, dedupe_key, timestamp, times, last_at];
    });
    expect(told).toEqual([
      ['a', 'x', at(1), 2, at(3)],
      ['a', 'y', at(2), 1, at(2)],
      ['b', 'x', at(4), 1, at(4)],
    ]);
  });

  it('are bounded for each tenant, and losses are reported', async () => {
    for (let i = 0; i < MAX_KEPT_ALERTS + 7; i++) {
      kept.keep('a', anAlert({ dedupe_key: `${i}` }), full);
    }
    kept.keep('b', anAlert({ dedupe_key: 'b' }), full);
    hasRoom = true;
    await kept.raise();
    expect(raised).toHaveLength(MAX_KEPT_ALERTS + 2);
    expect(raised.filter(([tenantId]) => tenantId === 'b')).toHaveLength(1);
    expect(raised.at(-1)).toMatchObject([
      'a',
      { alert_type: 'ALERTS_LOST', details: { times: 7, types: ['POLICY_OUT_OF_FUEL'] } },
    ]);
  });

  it('include no other records, and no record refused for its content', async () => {
    kept.keep('a', aDecision(), full);
    kept.keep('a', anAlert(), new LedgerError('record_refused', 'no JSON'));
    kept.keep('a', anAlert(), new LedgerError('stopped', 'stopping'));
    hasRoom = true;
    await kept.raise();
    expect(raised).toEqual([]);
  });
});

describe('a ledger on a full disk', () => {
  const { privateKey: signingKey } = generateKeyPairSync('ed25519');
  const tenantId = uuidv7();
  let dataDir: string;
  let ledger: DurableLedger;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'kept-alerts-'));
  });
  afterEach(async () => {
    await ledger.stop();
    rmSync(dataDir, { recursive: true });
  });

  const open = async (over: { limitBytes?: number; readUsedShare?: () => Promise<number> }) => {
    ledger = await createLedger({
      dataDir,
      signingKey,
      writerVersion: '1.0.0',
      onFatal: (error) => {
        throw error;
      },
      readUsedShare: async () => 0,
      diskCheckMs: 20,
      ...over,
    });
    await ledger.open(tenantId, uuidv7());
  };
  const alertsOf = async () => {
    const alerts: AlertRecord[] = [];
    for (;;) {
      const batch = await ledger.nextBatch(tenantId, 500);
      if (!batch) return alerts;
      for (const record of batch.records.map(parseRecord)) {
        if (record.type === 'alert') alerts.push(record);
      }
      const { epoch, last_seq: seq, head } = batch.header;
      // An alert that is raised at this moment may take its group along: the shipper tries again.
      await ledger.markShipped(tenantId, { epoch, seq, head }).catch((error: unknown) => {
        if (!(error instanceof LedgerError && error.fault === 'full')) throw error;
      });
    }
  };

  it('raises an alert once there is room for it', async () => {
    await open({ limitBytes: 256 * 1024 });
    const junk = () => createHash('sha256').update(uuidv7()).digest('hex').repeat(40);
    let refused: unknown;
    while (!refused) {
      const outcome = anOutcome(uuidv7(), { detail: junk().slice(0, 200) });
      await ledger.append(tenantId, outcome).catch((error: unknown) => (refused = error));
    }
    expect(refused).toMatchObject({ fault: 'full' });
    // As the data plane raises its alerts; each has another cause, and each needs room.
    const raise = createRaiseAlert({
      ledger,
      writes: createPendingWrites({ error: () => undefined }),
      now: Date.now,
    });
    for (let i = 0; i < 20; i++) {
      raise(tenantId, {
        alert_type: 'BUNDLE_REFUSED',
        severity: 'critical',
        title: 'A bundle was refused',
        details: { junk: junk() },
        dedupe_key: `bundle-refused:${i}`,
      });
    }
    const before = await alertsOf();
    expect(before.filter(({ alert_type }) => alert_type === 'BUNDLE_REFUSED').length).toBeLessThan(
      20,
    );
    const seen = new Set(before.map(({ dedupe_key }) => dedupe_key));
    const expected = Array.from({ length: 20 }, (_, i) => `bundle-refused:${i}`);
    // Until all have come; the time of the test is the bound.
    while (!expected.every((key) => seen.has(key))) {
      // Shipped records make room, and each alert takes some.
      while ((await ledger.prune(tenantId, 0, 1_000)) > 0);
      for (const { dedupe_key } of await alertsOf()) seen.add(dedupe_key);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });

  it('reports it after a restart, though nothing has changed', async () => {
    await open({ readUsedShare: async () => 0.97 });
    expect(await alertsOf()).toMatchObject([
      { alert_type: 'DISK_WATERMARK', severity: 'critical', details: { used_percent: 97 } },
    ]);
  });
});
