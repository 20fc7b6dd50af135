import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogWatchReport } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { parseCheckpoint } from '@governance/shared/evidence/checkpoint';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../testing/test-control-plane.ts';
import { createTestLog, type TestLog } from '../../testing/test-log.ts';
import {
  type Contradiction,
  type LogWatchStore,
  MAX_CONTRADICTIONS,
  openLogWatchStore,
} from './log-watch-store.ts';
import { type LogWatcher, startLogWatcher } from './log-watcher.ts';

const TENANT = '0190aaaa-0000-7000-8000-000000000001';
const PLANE = '0190aaaa-0000-7000-8000-000000000002';

let folder: string;
let store: LogWatchStore;
let watcher: LogWatcher | undefined;
let log: TestLog;
let told: Contradiction[];
let looks: number;
let answer: (held: { epoch: number; size: number }) => ReturnType<TestLog['read']>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-watch-'));
  store = openLogWatchStore(join(folder, 'log-watch.db'));
  log = createTestLog(TENANT);
  told = [];
  looks = 0;
  answer = log.read;
});
afterEach(async () => {
  await watcher?.stop();
  watcher = undefined;
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Looks as often as it can, until it has looked this often. */
async function look(times = 1): Promise<LogWatcher> {
  const ended = looks + times;
  const started = startLogWatcher({
    tenantId: TENANT,
    deploymentId: PLANE,
    store,
    link: {
      readLog: async (held) => {
        looks++;
        if (looks > ended) await new Promise(() => undefined);
        return answer(held);
      },
    },
    onContradicted: (found) => told.push(found),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    now: () => Date.UTC(2026, 4, 4) + looks * 60_000,
    everyMs: 1,
    firstMs: 1,
  });
  await until(() => looks > ended);
  // The look beyond hangs, and ends with the process.
  watcher = { ...started, stop: async () => undefined };
  looks = ended;
  return started;
}

const sizes = () => store.listCheckpoints(TENANT).map(({ size }) => size);

describe('the log as it is shown', () => {
  it('is kept as it grows, over restarts too', async () => {
    log.grow(3);
    await look();
    log.grow(4);
    const status = (await look()).status();
    expect(sizes()).toEqual([3, 7]);
    expect(status).toMatchObject({
      checkpoint: { epoch: 1, size: 7, root: log.place().root },
      ...{ checkpoints: 2, contradictions: 0, failure: null },
    });
    expect(status.last_shown_at).not.toBeNull();
    expect(told).toEqual([]);
  });

  it('is kept once while it stays as it is', async () => {
    log.grow(3);
    await look(3);
    expect(sizes()).toEqual([3]);
  });

  it('continues under rotated keys, even if a rotation is shown only once', async () => {
    log.grow(2);
    await look();
    log.rotate();
    log.grow(2);
    await look();
    log.rotate();
    log.grow(2);
    // The control plane repeats only its newest statement.
    answer = async (held) => {
      const view = await log.read(held);
      return { ...view, rotations: view.rotations.slice(1) };
    };
    const status = (await look()).status();
    expect(sizes()).toEqual([2, 4, 6]);
    expect(status.contradictions).toBe(0);
  });

  it('does not continue under a key that was revoked since, even if that is not shown again', async () => {
    log.grow(2);
    await look();
    const stolen = log.revoke();
    log.grow(2);
    await look();
    expect(sizes()).toEqual([2, 4]);
    log.grow(2);
    log.signAs(stolen);
    answer = async (held) => {
      const view = await log.read(held);
      return { ...view, keys: view.keys.map((one) => ({ ...one, revoked_at: null })) };
    };
    const status = (await look()).status();
    expect(sizes()).toEqual([2, 4]);
    expect(status.last_contradiction?.reason).toBe('key_unknown');
  });

  it('does not contradict while nobody answers, or the answer is no log', async () => {
    log.grow(3);
    await look();
    answer = async () => {
      throw new AppError('NOT_FOUND');
    };
    const away = (await look(2)).status();
    expect(away).toMatchObject({ failure: { code: 'NOT_FOUND' }, contradictions: 0 });
    answer = async (held) => ({ ...(await log.read(held)), note: 'no note' });
    const odd = (await look()).status();
    expect(odd).toMatchObject({ contradictions: 0, checkpoints: 1 });
    expect(odd.failure?.message).toContain('no signatures');
    answer = log.read;
    log.grow(1);
    expect((await look()).status().failure).toBeNull();
    expect(sizes()).toEqual([3, 4]);
  });
});

describe('a log that contradicts', () => {
  const attacks: [string, Contradiction['reason'], () => void][] = [
    ['was cut', 'went_back', () => log.cut(2)],
    [
      'was written anew, and is longer',
      'not_consistent',
      () => {
        log.cut(2);
        log.grow(9, 'b');
      },
    ],
    [
      'was written anew, and is as long',
      'root_differs',
      () => {
        log.cut(2);
        log.grow(3, 'b');
      },
    ],
    [
      'was cut by a restore that is announced',
      'epoch_cut',
      () => {
        log.cut(2);
        log.announce();
        log.grow(4, 'b');
      },
    ],
    [
      'is signed by a swapped key',
      'key_unknown',
      () => {
        log.swapKey();
        log.grow(1);
      },
    ],
    ['is gone', 'went_back', () => log.cut(0)],
  ];

  it.each(
    attacks,
  )('because it %s is kept, told and reported, once', async (_what, reason, change) => {
    log.grow(5);
    await look();
    const known = store.findCurrent(TENANT)?.note;
    change();
    const status = (await look(3)).status();
    expect(told).toMatchObject([{ reason, known }]);
    expect(store.listContradictions(TENANT)).toEqual(told);
    expect(status).toMatchObject({ contradictions: 1, last_contradiction: { reason } });
    // A new process tells the same.
    const report = LogWatchReport.parse((await look()).report());
    expect(report).toMatchObject({ contradictions: 1, contradicted: { reason, known } });
    const largest = Math.max(
      ...report.checkpoints.map((note) => parseCheckpoint(note).checkpoint.size),
    );
    expect(largest).toBeGreaterThanOrEqual(5);
  });

  it('is watched on from there, so that the next cut shows too', async () => {
    log.grow(5);
    await look();
    log.cut(3);
    await look();
    log.grow(4, 'b');
    await look();
    log.cut(4);
    await look();
    expect(told.map(({ reason }) => reason)).toEqual(['went_back', 'went_back']);
    expect(store.listCheckpoints(TENANT).map(({ line, size }) => [line, size])).toEqual([
      [1, 5],
      [2, 3],
      [2, 7],
      [3, 4],
    ]);
    expect(store.findHighest(TENANT)?.size).toBe(7);
  });

  it('repeatedly cannot fill the disk: the first are kept, all are counted', async () => {
    log.grow(5);
    await look();
    log.swapKey();
    for (let n = 0; n < MAX_CONTRADICTIONS + 5; n++) {
      log.grow(1);
      const found = { reason: 'key_unknown' as const, seenAt: '2026-05-04T00:00:00.000Z' };
      const { note } = await log.read({ epoch: 1, size: 0 });
      const rest = { known: null, told: note, path: null, logEpochs: [] };
      store.contradict(TENANT, { ...found, ...rest }, null);
    }
    expect(store.listContradictions(TENANT)).toHaveLength(MAX_CONTRADICTIONS);
    expect(store.countContradictions(TENANT)).toBe(MAX_CONTRADICTIONS + 5);
    const report = (await look()).report();
    expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(3_000);
  });

  it('does not make the plane trust what it says about keys', async () => {
    log.grow(5);
    await look();
    log.swapKey();
    log.grow(1);
    await look(2);
    log.rotate();
    log.grow(1);
    await look(2);
    expect(new Set(told.map(({ reason }) => reason))).toEqual(new Set(['key_unknown']));
    expect(store.findTrust(TENANT)?.keys).toHaveLength(1);
  });
});
