import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError, type ErrorCode } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import type { SignedBatch } from '@governance/shared/ledger/audit-batch';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLedger, type DurableLedger } from '../../ledger/ledger.ts';
import {
  createTestControlPlane,
  type TestControlPlane,
  until,
} from '../../testing/test-control-plane.ts';
import { aDecision, anAlert } from '../../testing/test-records.ts';
import { LinkError } from '../link/link-error.ts';
import { type Shipper, type ShipperOptions, startShipper } from './shipper.ts';

const { privateKey: signingKey } = generateKeyPairSync('ed25519');
const publicKey = createPublicKey(signingKey);
const tenantId = uuidv7();
const deploymentId = uuidv7();
let dataDir: string;
let ledger: DurableLedger;
let plane: TestControlPlane;
let shippers: Shipper[];
let stopped: string[];

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shipper-'));
  plane = createTestControlPlane({ tenantId, deploymentId, publicKey });
  shippers = [];
  stopped = [];
  ledger = await boot();
});

afterEach(async () => {
  await Promise.all(shippers.map((shipper) => shipper.stop()));
  await ledger.stop();
  rmSync(dataDir, { recursive: true });
});

async function boot(): Promise<DurableLedger> {
  const opened = await createLedger({
    dataDir,
    signingKey,
    writerVersion: '1.0.0',
    onFatal: (error) => {
      throw error;
    },
    readUsedShare: async () => 0,
  });
  await opened.open(tenantId, deploymentId);
  return opened;
}

function aShipper(over: Partial<ShipperOptions> = {}): Shipper {
  const shipper = startShipper({
    tenantId,
    link: plane.link,
    ledger,
    delayMs: 5,
    onStopped: ({ state }) => stopped.push(state),
    onResumed: () => stopped.push('resumed'),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    now: Date.now,
    backoffLimits: { first: 5, longest: 20 },
    ...over,
  });
  shippers.push(shipper);
  return shipper;
}

const append = (count: number) =>
  Promise.all(Array.from({ length: count }, () => ledger.append(tenantId, aDecision())));

/** @returns what is acknowledged then, as a heartbeat tells it */
async function idleAt(shipper: Shipper, seq: number) {
  await until(() => shipper.acknowledged()?.seq === seq && shipper.status().state === 'idle');
  // The run ends a moment after it has nothing more to ship.
  await new Promise((resolve) => setTimeout(resolve, 10));
  const told = shipper.acknowledged();
  if (!told) throw new Error('nothing is acknowledged');
  return told;
}

/** Some 200 KB each: twenty-one fill a batch. */
const appendLarge = (count: number) => {
  const dlp_findings = [{ class: 'x', severity: 'low' as const, note: 'x'.repeat(200_000) }];
  return Promise.all(
    Array.from({ length: count }, () => ledger.append(tenantId, aDecision({ dlp_findings }))),
  );
};

describe('the shipper', () => {
  it('ships what waits at its start and what comes after, in batches of at most 500', async () => {
    await append(1_200);
    const shipper = aShipper();
    await until(() => plane.records.length === 1_201);
    expect(plane.batches()).toBe(3);
    await append(3);
    // Its status follows the receipt, which follows what the control plane stored.
    await until(() => shipper.status().last_shipped?.seq === 1_204);
    expect(plane.records).toHaveLength(1_204);
    expect(shipper.status()).toMatchObject({ last_shipped: { epoch: 1 }, failure: null });
  });

  it('collects records for its delay, and ships an urgent one at once', async () => {
    const shipper = aShipper({ delayMs: 60_000 });
    expect(await shipper.flush(15_000)).toBe(true);
    await append(5);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(plane.records).toHaveLength(1);
    await ledger.append(tenantId, anAlert());
    await until(() => plane.records.length === 7);
    expect(plane.batches()).toBe(2);
  });

  it('collects what comes while a batch is under way, and ships it when asked', async () => {
    const waiting: (() => void)[] = [];
    const shipBatch = async (batch: SignedBatch) => {
      await new Promise<void>((resolve) => void waiting.push(resolve));
      return plane.link.shipBatch(batch);
    };
    const shipper = aShipper({ delayMs: 60_000, link: { ...plane.link, shipBatch } });
    await until(() => waiting.length === 1);
    await append(5);
    waiting[0]?.();
    await until(() => shipper.status().state === 'idle');
    expect(shipper.status()).toMatchObject({ backlog: 5, last_shipped: { seq: 1 } });
    const all = shipper.flush(15_000);
    await until(() => waiting.length === 2);
    await append(5);
    waiting[1]?.();
    // Whoever waits for everything gets what came meanwhile, too.
    await until(() => waiting.length === 3);
    waiting[2]?.();
    expect(await all).toBe(true);
    expect(plane.records).toHaveLength(11);
  });

  it('collects large records only until they fill a batch', async () => {
    const shipper = aShipper({ delayMs: 60_000 });
    expect(await shipper.flush(15_000)).toBe(true);
    await appendLarge(15);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(plane.records).toHaveLength(1);
    await appendLarge(10);
    await until(() => shipper.status().state === 'idle' && plane.records.length >= 21);
    // What did not fill a batch any more is collected again.
    expect(ledger.fillsBatch(tenantId, 500)).toBe(false);
  });

  it('ships large records that filled a batch while another was under way', async () => {
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let sent = 0;
    const shipBatch = async (batch: SignedBatch) => {
      sent++;
      await held;
      return plane.link.shipBatch(batch);
    };
    const shipper = aShipper({ delayMs: 60_000, link: { ...plane.link, shipBatch } });
    await until(() => sent === 1);
    await appendLarge(25);
    release?.();
    await until(() => shipper.status().state === 'idle' && plane.records.length >= 21);
  });

  it('recovers from an outage of any length, and stores nothing twice when receipts are lost', async () => {
    plane.setAway(true);
    const shipper = aShipper();
    await append(700);
    await until(() => shipper.status().state === 'retrying');
    expect(shipper.status().failure).toMatchObject({ stage: 'ship', code: 'UNAVAILABLE' });
    plane.loseReceipts(3);
    plane.setAway(false);
    await until(() => plane.records.length === 701);
    expect(await shipper.flush(15_000)).toBe(true);
    expect(shipper.status()).toMatchObject({ state: 'idle', failure: null });
    expect(new Set(plane.records.map(({ id }) => id)).size).toBe(701);
  });

  it('continues after restarts from the position of the control plane', async () => {
    const first = aShipper();
    await append(10);
    await first.flush(15_000);
    await first.stop();
    await append(10);
    await ledger.stop();
    ledger = await boot();
    const second = aShipper();
    expect(await second.flush(15_000)).toBe(true);
    const places = plane.records.map(({ epoch, seq }) => `${epoch}/${seq}`);
    expect(new Set(places).size).toBe(places.length);
    expect(plane.records.filter(({ epoch }) => epoch === 1)).toHaveLength(21);
    expect(plane.records.filter(({ epoch }) => epoch === 2).length).toBeGreaterThan(20);
  });

  it('has ended before anybody is told that the stream forked', async () => {
    const order: string[] = [];
    const onAppended: DurableLedger['onAppended'] = (listener) => {
      const end = ledger.onAppended(listener);
      return () => {
        order.push('ended');
        end();
      };
    };
    const shipBatch = () => Promise.reject(new AppError('DATA_PLANE_FORKED', 'another writer'));
    aShipper({
      ledger: { ...ledger, onAppended },
      link: { ...plane.link, shipBatch },
      onStopped: ({ state }) => order.push(state),
    });
    await until(() => order.includes('forked'));
    expect(order).toEqual(['ended', 'forked']);
  });

  it('stops a stream that forked, once and for all, and keeps its records', async () => {
    const shipper = aShipper();
    await append(2);
    await shipper.flush(15_000);
    plane.fork();
    await append(1);
    await until(() => shipper.status().state === 'forked');
    expect(shipper.status().failure).toMatchObject({ code: 'BATCH_CONFLICT' });
    const tried = plane.batches();
    await ledger.append(tenantId, anAlert());
    shipper.kick();
    expect(await shipper.flush(50)).toBe(false);
    expect(plane.batches()).toBe(tried);
    expect(stopped).toEqual(['forked']);
    expect(shipper.status().backlog).toBe(2);
    expect(await ledger.nextBatch(tenantId, 10)).toMatchObject({ header: { first_seq: 4 } });
    await shipper.stop();
    expect(shipper.status().state).toBe('forked');
  });

  it('ships again to a control plane that was restored, from where it stands', async () => {
    const first = aShipper();
    await append(700);
    await first.flush(15_000);
    await first.stop();
    await ledger.stop();
    ledger = await boot();
    const second = aShipper();
    await append(5);
    await second.flush(15_000);
    const all = plane.records.map(({ epoch, seq }) => `${epoch}/${seq}`);
    for (const kept of [703, 701, 650, 1, 0]) {
      plane.restore(kept);
      await append(1);
      all.push(`2/${all.length - 701 + 1}`);
      expect(await second.flush(15_000)).toBe(true);
      expect(plane.records.map(({ epoch, seq }) => `${epoch}/${seq}`)).toEqual(all);
      expect(second.status()).toMatchObject({ state: 'idle', backlog: 0, failure: null });
    }
    expect(stopped).toEqual([]);
  });

  it('ships what a control plane lacks that was restored while nothing was to be shipped', async () => {
    const shipper = aShipper();
    await append(300);
    const told = await idleAt(shipper, 301);
    plane.restore(100);
    shipper.goBackTo({ epoch: 1, seq: 101 }, told);
    expect(await shipper.flush(15_000)).toBe(true);
    expect(plane.records.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 301 }, (_, index) => index + 1),
    );
    expect(stopped).toEqual([]);
  });

  it('ships nothing again for an answer that is outdated, or says that nothing is lacking', async () => {
    const shipper = aShipper();
    await append(3);
    const told = await idleAt(shipper, 4);
    const shipped = plane.batches();
    shipper.goBackTo({ epoch: 1, seq: 5 }, told);
    shipper.goBackTo({ epoch: 2, seq: 1 }, told);
    await append(1);
    await idleAt(shipper, 5);
    shipper.goBackTo({ epoch: 1, seq: 5 }, told);
    expect(await shipper.flush(15_000)).toBe(true);
    expect(plane.batches()).toBe(shipped + 1);
  });

  it('stays as it is where a heartbeat asks for what is no longer kept, until a batch is refused', async () => {
    const shipper = aShipper();
    for (let group = 0; group < 30; group++) await append(10);
    const told = await idleAt(shipper, 301);
    expect(await ledger.prune(tenantId, 0, 1_000)).toBeGreaterThan(200);
    plane.restore(10);
    shipper.goBackTo({ epoch: 1, seq: 11 }, told);
    expect(await shipper.flush(15_000)).toBe(true);
    expect(stopped).toEqual([]);
    expect(shipper.acknowledged()).toEqual(told);
    await append(1);
    await until(() => shipper.status().state === 'conflict');
  });

  it('stops where the control plane lacks what is no longer kept, and says so', async () => {
    const shipper = aShipper();
    for (let group = 0; group < 30; group++) await append(10);
    await shipper.flush(15_000);
    // With nothing to be kept for: all but the end of the chain.
    expect(await ledger.prune(tenantId, 0, 1_000)).toBeGreaterThan(200);
    plane.restore(10);
    await append(1);
    await until(() => shipper.status().state === 'conflict');
    expect(shipper.status().failure?.message).toContain(
      'lacks records from epoch 1, record 11 that are no longer kept',
    );
    expect(stopped).toEqual(['conflict']);
  });

  it('gets on by itself when the control plane that lacked them has them again', async () => {
    let isOld = false;
    const loc = ['stream', 1, 11];
    const lacks = () =>
      new AppError('BATCH_CONFLICT', 'a gap', { errors: [{ loc, msg: '', type: 'stream_gap' }] });
    const shipper = aShipper({
      stalledRetryMs: 10,
      link: {
        shipBatch: (batch) => (isOld ? Promise.reject(lacks()) : plane.link.shipBatch(batch)),
      },
    });
    await append(300);
    await shipper.flush(15_000);
    await ledger.prune(tenantId, 0, 1_000);
    isOld = true;
    await append(1);
    await until(() => shipper.status().state === 'conflict');
    expect(shipper.status().stop).toMatchObject({ at: { epoch: 1, seq: 11 } });
    isOld = false;
    await until(() => shipper.status().state === 'idle');
    expect(stopped).toEqual(['conflict', 'resumed']);
  });

  it.each([
    'VALIDATION_FAILED',
    'BODY_TOO_LARGE',
    'FORBIDDEN',
  ] as const)('stops at a batch that is refused again and again (%s), says where, and gets on once it is not', async (code) => {
    let refuses = true;
    let tries = 0;
    const errors = [{ loc: ['records', 3], msg: 'is wrong', type: 'batch_refused' }];
    const shipper = aShipper({
      stalledRetryMs: 10,
      link: {
        shipBatch: async (batch) => {
          tries += 1;
          if (refuses) throw new AppError(code, 'The record with seq 3 is wrong.', { errors });
          return plane.link.shipBatch(batch);
        },
      },
    });
    await append(4);
    await until(() => shipper.status().stop !== null);
    expect(shipper.status()).toMatchObject({
      state: 'refused',
      backlog: 5,
      stop: { at: { epoch: 1 }, failure: { code } },
    });
    // It looks now and then whether the reason has gone, and is not told of as new.
    const before = tries;
    await until(() => tries > before + 1);
    expect(shipper.status()).toMatchObject({ state: 'refused' });
    expect(await shipper.flush(15_000)).toBe(false);
    expect(stopped).toEqual(['refused']);
    refuses = false;
    await until(() => shipper.status().state === 'idle');
    expect(shipper.status()).toMatchObject({ stop: null, failure: null, backlog: 0 });
    expect(stopped).toEqual(['refused', 'resumed']);
    expect(plane.records).toHaveLength(5);
  });

  it('does not stop for one refusal, a token or an outage', async () => {
    const answers = ['VALIDATION_FAILED', 'VALIDATION_FAILED', 'UNAVAILABLE', 'VALIDATION_FAILED'];
    answers.push(...Array<string>(5).fill('DATA_PLANE_TOKEN_INVALID'), 'RATE_LIMITED');
    const shipper = aShipper({
      link: {
        shipBatch: (batch) => {
          const code = answers.shift() as ErrorCode | undefined;
          return code ? Promise.reject(new AppError(code)) : plane.link.shipBatch(batch);
        },
      },
    });
    await until(() => shipper.status().state === 'idle');
    expect(stopped).toEqual([]);
  });

  it('leaves a busy control plane alone for as long as it asks', async () => {
    let busy = 1;
    const times: number[] = [];
    const shipper = aShipper({
      link: {
        shipBatch: async (batch) => {
          times.push(performance.now());
          if (busy-- > 0) throw new LinkError('RATE_LIMITED', 'busy', { retryAfterMs: 300 });
          return plane.link.shipBatch(batch);
        },
      },
    });
    await until(() => shipper.status().state === 'retrying');
    // Neither a record, an alert nor a kick ends that wait.
    await append(3);
    await ledger.append(tenantId, anAlert());
    shipper.kick();
    expect(await shipper.flush(15_000)).toBe(true);
    expect(times).toHaveLength(2);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(290);
  });

  it('does not retry an absent one sooner because records come', async () => {
    plane.setAway(true);
    let tries = 0;
    const shipper = aShipper({
      delayMs: 1,
      backoffLimits: { first: 60_000, longest: 60_000 },
      link: {
        shipBatch: (batch) => {
          tries++;
          return plane.link.shipBatch(batch);
        },
      },
    });
    await until(() => shipper.status().state === 'retrying');
    for (let i = 0; i < 20; i++) {
      await append(1);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    expect(tries).toBe(1);
    plane.setAway(false);
    expect(await shipper.flush(15_000)).toBe(true);
    expect(plane.records).toHaveLength(21);
  });

  it('ships a full batch without its delay', async () => {
    const shipper = aShipper({ delayMs: 60_000 });
    expect(await shipper.flush(15_000)).toBe(true);
    await append(500);
    await until(() => plane.records.length === 501);
  });

  it('does not believe a receipt for something else', async () => {
    let lies = 0;
    const lying: ShipperOptions['link'] = {
      shipBatch: async (batch) => {
        const receipt = await plane.link.shipBatch(batch);
        return lies++ < 2 ? { ...receipt, head: '0'.repeat(64) } : receipt;
      },
    };
    const shipper = aShipper({ link: lying });
    await append(1);
    expect(await shipper.flush(15_000)).toBe(true);
    expect(lies).toBeGreaterThan(2);
    expect(plane.records).toHaveLength(2);
  });

  it('ends in the same chain for any schedule of outages, lost receipts, restores and appends', async () => {
    const shipper = aShipper();
    const step = fc.oneof(
      fc.record({ append: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ away: fc.boolean() }),
      fc.record({ lose: fc.nat(2) }),
      fc.record({ restore: fc.nat(300) }),
      fc.constant('kick' as const),
    );
    let expected = 1;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        for (const one of steps) {
          if (one === 'kick') shipper.kick();
          else if ('away' in one) plane.setAway(one.away);
          else if ('lose' in one) plane.loseReceipts(one.lose);
          else if ('restore' in one) plane.restore(one.restore);
          else {
            await append(one.append);
            expected += one.append;
          }
        }
        plane.setAway(false);
        // What a restore lost shows with the next batch.
        await append(1);
        expected++;
        expect(await shipper.flush(15_000)).toBe(true);
        expect(plane.records.map(({ seq }) => seq)).toEqual(
          Array.from({ length: expected }, (_, index) => index + 1),
        );
      }),
      { numRuns: 25 },
    );
  });
});
