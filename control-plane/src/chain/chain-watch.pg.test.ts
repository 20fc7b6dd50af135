import { beforeEach, describe, expect, it } from 'vitest';
import { aDataPlane, aDecision, type TestDataPlane } from '../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testIngest } from '../testing/test-ingest.ts';
import { LOG_STREAM } from './chain-breaks.ts';
import { createChainWatch } from './chain-watch.ts';
import { RECEIPT_STREAM } from './verification-run.ts';

const HOUR = 60 * 60 * 1000;
let time = Date.UTC(2026, 0, 1);
const now = () => new Date(time);
const { breaks, db, ingest, superuser, test, verifier } = await testIngest({ now });

/** As a leader of its own, with nothing remembered in memory. */
function aLeader(limits = {}) {
  const shares = { newShare: 1, fullShare: 1 };
  const log = { error: expect.unreachable };
  const deps = { db, breaks, ingest, log, now, limits: { ...shares, ...limits } };
  const [newTask, fullTask] = createChainWatch(deps);
  const { signal } = new AbortController();
  return { walkNew: () => newTask?.run(signal), walkAll: () => fullTask?.run(signal) };
}

const actor = { id: 'system', username: 'system', role: 'system' as const };
let tenantId: string;
let plane: TestDataPlane;

beforeEach(async () => {
  // Those of the tests before have had their turn.
  await aLeader().walkAll();
  const scope = await aTenant(test);
  tenantId = scope.tenantId;
  plane = await aDataPlane(test, scope);
  plane.boot();
  await ship(20);
});

async function ship(decisions: number): Promise<void> {
  const from = plane.records.findLastIndex((record) => shipped.has(record.hash)) + 1;
  for (let i = 0; i < decisions; i++) plane.append(aDecision());
  await ingest.ingestBatch(tenantId, plane.deploymentId, plane.batch(from));
  for (const record of plane.records) shipped.add(record.hash);
}
const shipped = new Set<string>();

const breaksNow = async () =>
  (
    await superuser.query(
      'SELECT stream, kind, epoch, seq::int FROM chain_breaks WHERE tenant_id = $1 ORDER BY kind',
      [tenantId],
    )
  ).rows;

const streamsOf = (breaks: { stream: string }[]) =>
  new Set(breaks.map(({ stream }) => stream)).size;

const alertsNow = async () =>
  (await superuser.query('SELECT alert_type FROM alerts WHERE tenant_id = $1', [tenantId])).rows;

const edit = (seq: number) =>
  superuser.query(
    `UPDATE ledger_records SET bytes = set_byte(bytes, 20, get_byte(bytes, 20) # 1)
     WHERE stream = $1 AND seq = $2`,
    [plane.deploymentId, seq],
  );

const progress = () => verifier.readProgress(tenantId);

describe('verification that nobody asks for', () => {
  it('walks what is new from where it was, and says how far it is', async () => {
    await aLeader().walkNew();
    expect((await progress()).new).toEqual({
      at: now(),
      records: 23,
      leaves: 0,
      upTo: 23,
      breaks: 0,
    });
    await ship(5);
    // What was walked is not looked at again: that is the daily walk's.
    await edit(3);
    await aLeader().walkNew();
    expect((await progress()).new).toMatchObject({ records: 28, upTo: 28, breaks: 0 });
    await aLeader().walkAll();
    expect(await breaksNow()).toMatchObject([{ kind: 'content', seq: 3 }]);
    expect((await progress()).full).toMatchObject({ upTo: 28, breaks: 1 });
  });

  it.each([
    ['edited', () => edit(21), 'content'],
    [
      'removed with its head',
      async () => {
        await superuser.query(`DELETE FROM ledger_records WHERE stream = $1 AND seq = 21`, [
          plane.deploymentId,
        ]);
        await superuser.query(
          `UPDATE stream_heads SET next_seq = 21, head = $2 WHERE stream = $1`,
          [plane.deploymentId, plane.records[19]?.hash],
        );
      },
      'head',
    ],
    [
      'removed as a whole',
      async () => {
        for (const table of ['ledger_records', 'stream_heads', 'ledger_batches']) {
          await superuser.query(`DELETE FROM ${table} WHERE stream = $1`, [plane.deploymentId]);
        }
      },
      'head',
    ],
  ])('finds an end that was %s with the next walk over what is new, and tells it once', async (_, tamper, kind) => {
    await aLeader().walkNew();
    await tamper();
    for (let i = 0; i < 3; i++) await aLeader().walkNew();
    const found = { stream: plane.deploymentId, kind, epoch: 1, seq: 21 };
    expect(await breaksNow()).toContainEqual(found);
    // One of the stream; where its leaves are gone, too, another one of the log.
    const alerts = (await alertsNow()).map((one) => one.alert_type);
    expect(alerts).toEqual(Array(streamsOf(await breaksNow())).fill('CHAIN_BREAK'));
  });

  it('walks everything once a day', async () => {
    await aLeader().walkAll();
    const first = (await progress()).full;
    expect(first).toMatchObject({ records: 23, upTo: 23, breaks: 0 });
    time += 23 * HOUR;
    await edit(3);
    await aLeader().walkAll();
    expect((await progress()).full).toEqual(first);
    time += HOUR;
    await aLeader().walkAll();
    expect((await progress()).full).toMatchObject({ at: now(), breaks: 1 });
    // A clock that is set back puts nothing off.
    time -= 12 * HOUR;
    await aLeader().walkAll();
    expect((await progress()).full?.at).toEqual(now());
  });

  it('goes on where another process was stopped, page after page, and comes to the same end', async () => {
    await ship(1_200);
    await edit(1_100);
    await edit(15);
    const records: number[] = [];
    for (let turn = 0; (await progress()).full === null; turn++) {
      expect(turn).toBeLessThan(20);
      // Each turn ends after one page, as a process that dies then.
      await aLeader({ sliceMs: 0 }).walkAll();
      const { running } = await progress();
      if (running) records.push(running.records);
    }
    expect(records.length).toBeGreaterThan(2);
    expect(records).toEqual(records.toSorted((a, b) => a - b));
    // The alert of the first break is a record that came meanwhile.
    expect((await progress()).full).toMatchObject({ upTo: 1_223, breaks: 2 });
    expect(await breaksNow()).toMatchObject([
      { kind: 'content', seq: 15 },
      { kind: 'content', seq: 1_100 },
    ]);
  });

  it('finds a stream that was removed with all that names it, by the order of receipt', async () => {
    for (const table of ['ledger_records', 'stream_heads', 'ledger_batches']) {
      await superuser.query(`DELETE FROM ${table} WHERE stream = $1`, [plane.deploymentId]);
    }
    await aLeader().walkAll();
    expect(await breaksNow()).toMatchObject([
      { stream: RECEIPT_STREAM, kind: 'head' },
      { stream: LOG_STREAM, kind: 'log_size' },
    ]);
  });

  it('tells records that are missing once, and more of them once more', async () => {
    const scope = { tenantId, actor };
    const other = await aDataPlane(test, scope);
    other.boot();
    await ingest.ingestBatch(tenantId, other.deploymentId, other.batch(0));
    const receipts = async () =>
      (await breaksNow()).filter(({ stream }) => stream === RECEIPT_STREAM).length;
    const walkAll = async () => {
      time += 25 * HOUR;
      await aLeader().walkAll();
    };
    const remove = (seq: number) =>
      superuser.query('DELETE FROM ledger_records WHERE stream = $1 AND seq = $2', [
        plane.deploymentId,
        seq,
      ]);
    await remove(5);
    for (let i = 0; i < 2; i++) {
      await walkAll();
      expect(await receipts()).toBe(1);
      await ship(3);
    }
    await remove(7);
    await walkAll();
    expect(await receipts()).toBe(2);
  });

  it('ends between two pages when it is stopped', async () => {
    await ship(1_200);
    const stop = new AbortController();
    const { walkAll } = aLeader();
    const deps = { db, breaks, ingest, log: { error: expect.unreachable }, now };
    const [, fullTask] = createChainWatch({ ...deps, limits: { fullShare: 0.02 } });
    const running = fullTask?.run(stop.signal);
    // With so small a share of the time it pauses for seconds after each page.
    while ((await progress()).running === null || (await progress()).running?.records === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    stop.abort();
    await running;
    expect((await progress()).full).toBeNull();
    await walkAll();
    expect((await progress()).full).toMatchObject({ records: 1_223, breaks: 0 });
  });

  it('goes from tenant to tenant, and from stream to stream, however much one of them writes', async () => {
    await ship(1_500);
    const flooding = plane;
    const tenant = tenantId;
    // Its id comes behind that of the one that floods.
    const small = await aDataPlane(test, { tenantId, actor });
    small.boot();
    small.append(aDecision());
    await ingest.ingestBatch(tenantId, small.deploymentId, small.batch(0));
    const other = await aTenant(test);
    plane = await aDataPlane(test, other);
    tenantId = other.tenantId;
    plane.boot();
    await ship(1);
    const at = async (stream: string) => {
      const { rows } = await superuser.query(
        `SELECT mark FROM verification_marks WHERE stream = $1 AND kind = 'new'`,
        [stream],
      );
      return rows[0] && JSON.parse(rows[0].mark).end?.seq;
    };
    // A page a turn: the admin chain's, then that of the stream with least left.
    const leader = aLeader({ newSliceMs: 0 });
    for (let i = 0; i < 2; i++) await leader.walkNew();
    expect(await at(plane.deploymentId)).toBe(2);
    expect(await at(small.deploymentId)).toBe(2);
    expect(await at(flooding.deploymentId)).toBeUndefined();
    for (let i = 0; i < 5; i++) await leader.walkNew();
    expect(await at(flooding.deploymentId)).toBe(1_521);
    tenantId = tenant;
    expect((await progress()).new).toMatchObject({ breaks: 0 });
  });

  it('is not misled while records come in', async () => {
    let isDone = false;
    const writing = (async () => {
      while (!isDone) {
        await ship(5);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    for (let i = 0; i < 3; i++) await aLeader().walkNew();
    await aLeader().walkAll();
    isDone = true;
    await writing;
    expect((await progress()).full).toMatchObject({ breaks: 0 });
    expect(await breaksNow()).toEqual([]);
  });
});
