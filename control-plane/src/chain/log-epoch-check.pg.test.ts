/**
 * The statements that begin log epochs, as the walks verify them: numbers that a restore lost are
 * no break, and a statement that somebody removed, edited or added is one.
 */
import { randomBytes } from 'node:crypto';
import { logOrigin, signCheckpoint } from '@governance/shared/evidence/checkpoint';
import { MAX_LOG_EPOCHS, signEvidenceStatement } from '@governance/shared/evidence/evidence-keys';
import { uuidv7 } from '@governance/shared/ids';
import { Secret } from '@governance/shared/settings';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aDataPlane, aDecision, type TestDataPlane } from '../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { beginLogEpoch } from '../evidence/begin-log-epoch.ts';
import { createLogGrowth } from '../evidence/log-growth.ts';
import { createIngestService } from '../ingest/ingest-service.ts';
import { createViolationAlerts } from '../ingest/violations.ts';
import { systemScope, type TenantScope } from '../platform/database/tenant-scope.ts';
import { createServiceKeys } from '../platform/keys/keys.ts';
import { createMasterKey } from '../platform/keys/master-key.ts';
import { createChainBreakRecorder, LOG_STREAM } from './chain-breaks.ts';
import { createChainVerifier } from './chain-verification.ts';
import { readEvidenceKeys } from './evidence-keys.ts';
import { checkLogEpochs } from './log-epoch-check.ts';
import { newLogMark } from './log-mark.ts';
import type { LogBreak } from './log-places.ts';
import { type LogStore, logRows } from './log-rows.ts';

vi.setConfig({ testTimeout: 120_000 });

const test = await testDatabase();
const { db, superuser, changes, connections } = test;
const now = () => new Date();
const serviceKeys = createServiceKeys({
  db,
  masterKey: createMasterKey(new Secret(randomBytes(32))),
});
const signer = await serviceKeys.evidenceKey('checkpoint');
const breaks = createChainBreakRecorder({ db, now });
const ingest = createIngestService({
  projections: [],
  ingestPool: connections.ingestPool,
  changes,
  breaks,
  violations: createViolationAlerts({ db, now }),
  markForked: async () => expect.unreachable(),
});
const growth = createLogGrowth({ db, serviceKeys, checkpointMs: 1_000, now });
const evidenceKeys = () => readEvidenceKeys(serviceKeys);
const verifier = createChainVerifier({ db, breaks, ingest, evidenceKeys, now });

let scope: TenantScope;
let plane: TestDataPlane;
let shipped: number;

const begin = () =>
  db.inTenant(systemScope(scope.tenantId), (tx) => beginLogEpoch(tx, signer, now()));

async function ship(): Promise<void> {
  plane.append(aDecision());
  await ingest.ingestBatch(scope.tenantId, plane.deploymentId, plane.batch(shipped));
  shipped = plane.records.length;
  await growth.grow(scope.tenantId);
}

async function readNewest(): Promise<{ size: number; root: string }> {
  const { rows } = await superuser.query<{ size: string; root: string }>(
    'SELECT size, root FROM log_checkpoints WHERE tenant_id = $1 ORDER BY size DESC LIMIT 1',
    [scope.tenantId],
  );
  const { root, size } = rows[0] ?? expect.unreachable();
  return { size: Number(size), root };
}

/** A data plane has seen this epoch, whose statement a restore lost. */
async function lose(epoch: number): Promise<void> {
  const { size, root } = await readNewest();
  const origin = logOrigin(scope.tenantId, epoch);
  const note = signCheckpoint({ origin, size, root, time: now().toISOString() }, signer.key);
  await superuser.query(
    `INSERT INTO log_watches (tenant_id, deployment_id, epoch, size, root, note, seen_at)
     VALUES ($1, $2, $3, $4, $5, $6, now())`,
    [scope.tenantId, uuidv7(), epoch, size, root, note],
  );
}

async function remove(epoch: number): Promise<void> {
  const sql = 'DELETE FROM log_epochs WHERE tenant_id = $1 AND epoch = $2';
  expect((await superuser.query(sql, [scope.tenantId, epoch])).rowCount).toBe(1);
}

/** Adds statements to the table as a holder of the signing key could. */
async function add(epochs: readonly { epoch: number; continued: number }[]): Promise<void> {
  const place = await readNewest();
  const { tenantId } = scope;
  const time = now().toISOString();
  const all = epochs.map(({ epoch, continued }) =>
    signEvidenceStatement(signer, {
      ...{ type: 'log_epoch', v: 1, tenant_id: tenantId, epoch, time, highest_lost: null },
      restored: { ...place, epoch: continued },
    }),
  );
  await superuser.query(
    `INSERT INTO log_epochs (tenant_id, epoch, statement, kid, signature, begun_at)
     SELECT $1, (s::jsonb->>'epoch')::int, s, $2, g, now() FROM unnest($3::text[], $4::text[]) AS a (s, g)`,
    [
      ...[tenantId, signer.kid, all.map(({ statement }) => JSON.stringify(statement))],
      all.map(({ signature }) => signature),
    ],
  );
}

const setHead = (epoch: number) =>
  superuser.query('UPDATE log_heads SET epoch = $2 WHERE tenant_id = $1', [scope.tenantId, epoch]);

async function verify() {
  const { verification } = await verifier.verify(scope.tenantId, { fresh: true });
  return verification;
}

const inLog = <T>(read: (store: LogStore) => Promise<T>): Promise<T> =>
  db.inTenant(systemScope(scope.tenantId), (tx) => read(logRows(tx)));

async function readRecorded(): Promise<string[]> {
  const { rows } = await superuser.query<{ detail: string }>(
    'SELECT detail FROM chain_breaks WHERE tenant_id = $1 ORDER BY id',
    [scope.tenantId],
  );
  return rows.map(({ detail }) => detail);
}

const findBroken = async () =>
  (await verify()).breaks.map(({ stream, kind, epoch, actual, detail }) => {
    expect({ stream, kind }).toEqual({ stream: LOG_STREAM, kind: 'log_epoch' });
    return [epoch, actual, detail];
  });

const MISSING = ['none', 'the log epoch has no statement'];

beforeEach(async () => {
  scope = await aTenant(test);
  plane = await aDataPlane(test, scope);
  plane.boot();
  shipped = 0;
  await ship();
});

describe('the numbers of log epochs', () => {
  it('have gaps where restores lost some', async () => {
    await lose(4);
    expect((await begin()).epoch).toBe(5);
    expect(await verify()).toMatchObject({ valid: true, breaks: [] });
    await ship();
    await lose(8);
    await begin();
    const { epoch, restored } = await begin();
    expect([epoch, restored.epoch]).toEqual([10, 9]);
    expect(await verify()).toMatchObject({ valid: true, breaks: [] });
  });

  it('hide no statement that was removed', async () => {
    await begin();
    await lose(4);
    for (const epoch of [5, 6, 7]) expect((await begin()).epoch).toBe(epoch);
    expect(await findBroken()).toEqual([]);
    await remove(5);
    expect(await findBroken()).toEqual([[5, ...MISSING]]);
    await remove(7);
    await remove(2);
    // What epoch 5 continued is said by nothing that is left.
    expect(await findBroken()).toEqual([
      [7, ...MISSING],
      [5, ...MISSING],
    ]);
  });

  it('hide neither the first statement nor the last', async () => {
    await begin();
    await begin();
    await remove(2);
    expect(await findBroken()).toEqual([[2, ...MISSING]]);
    await remove(3);
    expect(await findBroken()).toEqual([[3, ...MISSING]]);
  });
});

describe('a statement of a log epoch', () => {
  it('is recorded once where it is missing, however the log grows', async () => {
    await begin();
    await remove(2);
    await verify();
    await ship();
    expect(await verify()).toMatchObject({ valid: false, breaksOpen: 1 });
  });

  it('is recorded for each fault, once', async () => {
    await begin();
    await remove(2);
    await verify();
    await add([{ epoch: 2, continued: 2 }]);
    for (let i = 0; i < 2; i++) await verify();
    const NO_EARLIER = 'the statement continues no earlier log epoch';
    expect(await readRecorded()).toEqual([MISSING[1], NO_EARLIER]);
  });

  it('is left to the next walk where it was begun since this one read where the log ends', async () => {
    const end = await inLog((store) => store.readEnd());
    await begin();
    const found: LogBreak[] = [];
    await checkLogEpochs({
      ...{ tenantId: scope.tenantId, end, mark: { ...newLogMark(), size: end.size } },
      // Read before the key that signed the statement was made.
      keys: { batch: [], checkpoint: [], bundle: [] },
      ...{ walkedBefore: 0, isWhole: true, now: now(), inLog },
      onBreak: (broken) => void found.push(broken),
      onStep: async () => {},
    });
    expect(found).toEqual([]);
  });

  it('is not valid beyond the present epoch', async () => {
    await add([{ epoch: 3, continued: 1 }]);
    expect(await findBroken()).toEqual([
      [3, signer.kid, 'it belongs to a larger log, or to an epoch that the log does not have'],
    ]);
  });

  it('is not valid in a place that no later epoch continues', async () => {
    await lose(4);
    await begin();
    await add([{ epoch: 3, continued: 1 }]);
    expect(await findBroken()).toEqual([
      [3, 'epoch 1 was continued', 'no later log epoch continues this one'],
    ]);
  });

  it('continues an earlier epoch', async () => {
    await add([{ epoch: 2, continued: 2 }]);
    await setHead(2);
    expect(await findBroken()).toEqual([
      [2, 'epoch 2', 'the statement continues no earlier log epoch'],
    ]);
  });

  it('is one break where it was edited, whatever it says of the epoch before', async () => {
    for (let i = 0; i < 3; i++) await begin();
    await superuser.query(
      `UPDATE log_epochs SET statement = replace(statement, '"epoch":2', '"epoch":1')
       WHERE tenant_id = $1 AND epoch = 3`,
      [scope.tenantId],
    );
    expect(await findBroken()).toEqual([[3, signer.kid, 'no known checkpoint key signed it']]);
  });

  it('names a tree of the log', async () => {
    await begin();
    await begin();
    await superuser.query(`UPDATE log_nodes SET hash = sha256('x') WHERE tenant_id = $1`, [
      scope.tenantId,
    ]);
    const { breaks: found } = await verify();
    const detail = 'the log does not have the tree that the statement names';
    for (const epoch of [2, 3]) {
      expect(found).toContainEqual(expect.objectContaining({ kind: 'log_epoch', epoch, detail }));
    }
  });
});

describe('many log epochs', () => {
  const epochsUpTo = (last: number) =>
    Array.from({ length: last - 1 }, (_, i) => ({ epoch: i + 2, continued: i + 1 }));

  it('are all verified', async () => {
    await add(epochsUpTo(MAX_LOG_EPOCHS + 1));
    await setHead(MAX_LOG_EPOCHS + 1);
    expect(await verify()).toMatchObject({ valid: true, breaks: [] });
    await remove(830);
    await remove(3);
    expect(await findBroken()).toEqual([
      [830, ...MISSING],
      [3, ...MISSING],
    ]);
  });

  it('are read up to the number that a log may have', async () => {
    await add(epochsUpTo(MAX_LOG_EPOCHS + 2));
    await setHead(MAX_LOG_EPOCHS + 2);
    expect(await findBroken()).toEqual([
      [2, signer.kid, 'the log has more than 1000 statements of log epochs'],
    ]);
  });
});
