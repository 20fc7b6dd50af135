/**
 * The tenant's log under an owner of the database who edits it: every row of it is in a relation
 * that the walks verify. A break is recorded once, raises its alert once, and stays acknowledged.
 */
import { randomBytes } from 'node:crypto';
import { Secret } from '@governance/shared/settings';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aDataPlane, aDecision, type TestDataPlane } from '../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createLogGrowth } from '../evidence/log-growth.ts';
import { createTrustAnchors } from '../evidence/trust-anchor.ts';
import { createIngestService } from '../ingest/ingest-service.ts';
import { createViolationAlerts } from '../ingest/violations.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { createServiceKeys } from '../platform/keys/keys.ts';
import { createMasterKey } from '../platform/keys/master-key.ts';
import { createBreakService } from './break-service.ts';
import { createChainBreakRecorder, LOG_STREAM } from './chain-breaks.ts';
import { createChainVerifier } from './chain-verification.ts';
import { createChainWatch } from './chain-watch.ts';
import { readEvidenceKeys } from './evidence-keys.ts';

vi.setConfig({ testTimeout: 120_000 });

const test = await testDatabase();
const { db, superuser, changes, connections } = test;
const now = () => new Date();
const serviceKeys = createServiceKeys({
  db,
  masterKey: createMasterKey(new Secret(randomBytes(32))),
});
const evidenceKeys = () => readEvidenceKeys(serviceKeys);
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
const addresses = {
  publicUrl: 'https://x.example',
  verifierUrl: 'https://v.example',
  witnesses: [],
};
const anchors = createTrustAnchors({ db, serviceKeys, ...addresses, now });
const verifier = createChainVerifier({ db, breaks, ingest, evidenceKeys, now });

let scope: TenantScope;
let tenantId: string;
let plane: TestDataPlane;

const grow = () => growth.grow(tenantId);

async function ship(decisions: number): Promise<void> {
  const from = plane.records.length;
  for (let i = 0; i < decisions; i++) plane.append(aDecision());
  await ingest.ingestBatch(tenantId, plane.deploymentId, plane.batch(from));
}

/** Of the walk over new records, as a leader with nothing in memory. */
async function walkNew(): Promise<void> {
  const log = { error: (found: unknown) => expect.unreachable(String(found)) };
  const limits = { newShare: 1, fullShare: 1 };
  const deps = { db, breaks, ingest, evidenceKeys, log, now, limits };
  const [task] = createChainWatch(deps);
  await task?.run(new AbortController().signal);
}

const verify = async () => (await verifier.verify(tenantId, { fresh: true })).verification;
const run = async (sql: string, values: unknown[] = [tenantId]) => {
  expect((await superuser.query(sql, values)).rowCount, sql).toBeGreaterThan(0);
};
const recorded = async () =>
  (
    await superuser.query<{ id: string; kind: string; check_name: string; stream: string }>(
      'SELECT id, kind, check_name, stream FROM chain_breaks WHERE tenant_id = $1 ORDER BY id',
      [tenantId],
    )
  ).rows;
const alerts = async () =>
  (await superuser.query('SELECT alert_type FROM alerts WHERE tenant_id = $1', [tenantId])).rows;

beforeEach(async () => {
  scope = await aTenant(test);
  tenantId = scope.tenantId;
  plane = await aDataPlane(test, scope);
  plane.boot();
  await ingest.ingestBatch(tenantId, plane.deploymentId, plane.batch(0));
  for (let i = 0; i < 3; i++) {
    await ship(3);
    await grow();
  }
  await anchors.issue(scope);
});

const of = 'tenant_id = $1';
const ATTACKS: [name: string, sql: string, kind: string, check: string | null][] = [
  [
    'a record edited with its hash fixed',
    `UPDATE ledger_records SET bytes = b.bytes, hash = encode(sha256('\\x00'::bytea || b.bytes), 'hex')
     FROM (SELECT convert_to(replace(convert_from(bytes, 'UTF8'), '/welcome.txt', '/welcome.txs'), 'UTF8') AS bytes
       FROM ledger_records WHERE ${of} AND type = 'decision' ORDER BY position LIMIT 1) b
     WHERE ${of} AND position = (SELECT min(position) FROM ledger_records WHERE ${of} AND type = 'decision')`,
    'signature',
    'batch.root',
  ],
  [
    'a header edited',
    `UPDATE ledger_batches SET header = replace(header, '"v":1', '"v":2') WHERE ${of} AND leaf_index = 1`,
    'log_leaf',
    'json.strict',
  ],
  [
    'a signature replaced',
    `UPDATE ledger_batches SET signature = repeat('A', 86) WHERE ${of} AND leaf_index = 1`,
    'log_leaf',
    'log.inclusion',
  ],
  [
    'two leaves exchanged',
    `UPDATE ledger_batches SET leaf_index = CASE leaf_index WHEN 1 THEN 1000 ELSE 1 END
     WHERE ${of} AND leaf_index = 1`,
    'log_leaf',
    'log.inclusion',
  ],
  [
    'a node of a leaf edited',
    `UPDATE log_nodes SET hash = set_byte(hash, 3, get_byte(hash, 3) # 1) WHERE ${of} AND level = 0 AND idx = 1`,
    'log_leaf',
    'log.inclusion',
  ],
  [
    'an inner node edited',
    `UPDATE log_nodes SET hash = set_byte(hash, 3, get_byte(hash, 3) # 1) WHERE ${of} AND level = 1 AND idx = 0`,
    'log_node',
    'log.inclusion',
  ],
  [
    'the root of a checkpoint edited',
    `UPDATE log_checkpoints SET root = repeat('a', 64) WHERE ${of} AND size = (SELECT min(size) FROM log_checkpoints WHERE ${of})`,
    'log_checkpoint',
    'log.inclusion',
  ],
  [
    'the note of a checkpoint edited',
    `UPDATE log_checkpoints SET note = replace(note, 'time 20', 'time 19') WHERE ${of} AND size = (SELECT min(size) FROM log_checkpoints WHERE ${of})`,
    'log_checkpoint',
    'checkpoint.signature',
  ],
  [
    'the time of a checkpoint moved',
    `UPDATE log_checkpoints SET made_at = made_at + interval '1 ms' WHERE ${of} AND size = (SELECT min(size) FROM log_checkpoints WHERE ${of})`,
    'log_checkpoint',
    null,
  ],
  [
    'an old checkpoint removed',
    `DELETE FROM log_checkpoints WHERE ${of} AND size = (SELECT min(size) FROM log_checkpoints WHERE ${of})`,
    'log_checkpoint',
    null,
  ],
  [
    'an anchor edited',
    `UPDATE log_anchors SET root = repeat('a', 64) WHERE ${of}`,
    'log_anchor',
    'log.consistency',
  ],
  [
    'the size of the tree moved back',
    `UPDATE log_heads SET size = size - 1 WHERE ${of}`,
    'log_checkpoint',
    'log.consistency',
  ],
  [
    'the end of the admin batches moved',
    `UPDATE log_heads SET admin_seq = admin_seq + 1 WHERE ${of}`,
    'log_size',
    'log.inclusion',
  ],
  [
    'a size of the tree that no walk would reach',
    `UPDATE log_heads SET size = 9007199254740991 WHERE ${of}`,
    'log_size',
    'log.inclusion',
  ],
  [
    'a time that is none',
    `UPDATE ledger_records SET event_time = '200000-01-01' WHERE ${of} AND position = (SELECT min(position) FROM ledger_records WHERE ${of} AND type = 'decision')`,
    'content',
    null,
  ],
  [
    'a hash that is none',
    `UPDATE ledger_records SET hash = 'x' WHERE ${of} AND position = (SELECT min(position) FROM ledger_records WHERE ${of} AND type = 'decision')`,
    'signature',
    'batch.root',
  ],
  [
    'a checkpoint of no time',
    `UPDATE log_checkpoints SET made_at = 'infinity' WHERE ${of} AND size = (SELECT min(size) FROM log_checkpoints WHERE ${of})`,
    'log_checkpoint',
    null,
  ],
  [
    'a batch of the admin chain forged',
    `UPDATE ledger_batches SET signature = repeat('A', 86) WHERE ${of} AND stream = (SELECT admin_stream FROM tenant_heads WHERE ${of})`,
    'signature',
    'batch.signature',
  ],
  [
    'a log epoch without a statement',
    `UPDATE log_heads SET epoch = 2 WHERE ${of}`,
    'log_epoch',
    'log.consistency',
  ],
];

describe('the log', () => {
  it('is whole, and its leaves are counted', async () => {
    const { valid, breaks: found, leavesVerified } = await verify();
    expect(found).toEqual([]);
    expect(valid).toBe(true);
    expect(leavesVerified).toBeGreaterThan(4);
    await walkNew();
    await ship(2);
    await grow();
    await walkNew();
    expect(await recorded()).toEqual([]);
    const { new: progress } = await verifier.readProgress(tenantId);
    expect(progress?.leaves).toBe((await verify()).leavesVerified);
  });

  it.each(ATTACKS)('shows %s, once, and stays acknowledged', async (_, sql, kind, check) => {
    await walkNew();
    await run(sql);
    const { valid } = await verify();
    expect(valid).toBe(false);
    const found = await recorded();
    expect(found).toContainEqual(expect.objectContaining({ kind, check_name: check }));
    const streams = new Set(found.map(({ stream }) => stream));
    expect(await alerts()).toEqual([...streams].map(() => ({ alert_type: 'CHAIN_BREAK' })));
    const service = createBreakService({ db, now });
    for (const { id } of found) await service.acknowledge(scope, id, 'looked at');
    await verify();
    expect(await recorded()).toEqual(found);
    expect(await alerts()).toHaveLength(streams.size);
    expect((await verify()).breaksOpen).toBe(0);
  });

  it.each([
    [
      'the newest checkpoint removed',
      `DELETE FROM log_checkpoints WHERE ${of} AND size = (SELECT max(size) FROM log_checkpoints WHERE ${of})`,
      'log_checkpoint',
    ],
    [
      'its end removed with every number of it',
      `WITH a AS (DELETE FROM log_checkpoints WHERE ${of} AND size > 2),
         b AS (DELETE FROM log_anchors WHERE ${of}), c AS (DELETE FROM log_nodes WHERE ${of} AND (idx + 1) * (2 ^ level) > 2),
         d AS (DELETE FROM ledger_batches WHERE ${of} AND leaf_index > 1),
         e AS (UPDATE tenant_positions SET log_size = 2 WHERE ${of})
       UPDATE log_heads SET size = 2 WHERE ${of}`,
      'log_size',
    ],
    [
      'a node of its edge edited',
      `UPDATE log_nodes SET hash = sha256('x') WHERE ${of} AND level = (SELECT max(level) FROM log_nodes WHERE ${of})`,
      'log_node',
    ],
  ])('shows %s with the next walk over what is new, once', async (_, sql, kind) => {
    await walkNew();
    expect(await recorded()).toEqual([]);
    await run(sql);
    await walkNew();
    const found = await recorded();
    expect(found).toContainEqual(expect.objectContaining({ kind, stream: LOG_STREAM }));
    const told = await alerts();
    await walkNew();
    expect(await recorded()).toEqual(found);
    expect(await alerts()).toEqual(told);
  });

  const recordedAs = async (kind: string) =>
    (await recorded()).filter((found) => found.kind === kind).length;

  it('shows sizes that differ once, however it grows, and each difference', async () => {
    await run(
      `INSERT INTO ledger_batches (tenant_id, stream, epoch, last_seq, first_seq, header, signature,
         leaf_index, first_time, last_time)
       SELECT b.tenant_id, stream, 9, last_seq, first_seq, header, signature, -1, first_time, last_time
       FROM ledger_batches b JOIN tenant_heads t ON t.tenant_id = b.tenant_id AND stream = admin_stream
       WHERE b.tenant_id = $1 LIMIT 1`,
    );
    for (let i = 0; i < 2; i++) {
      await verify();
      expect(await recordedAs('log_size')).toBe(1);
      await ship(1);
      await grow();
    }
    await run('UPDATE tenant_positions SET log_size = log_size + 1 WHERE tenant_id = $1');
    for (let i = 0; i < 2; i++) await verify();
    expect(await recordedAs('log_size')).toBe(2);
  });

  it('shows checkpoints that are gone from a day once, however many the day gets', async () => {
    await walkNew();
    await run(
      `DELETE FROM log_checkpoints WHERE ${of} AND size < (SELECT max(size) FROM log_checkpoints WHERE ${of})`,
    );
    for (let i = 0; i < 2; i++) {
      await verify();
      expect(await recordedAs('log_checkpoint')).toBe(1);
      await ship(1);
      await grow();
      await walkNew();
    }
  });

  it('shows each wrong node of those that one leaf completes', async () => {
    await run(`UPDATE log_nodes SET hash = sha256('x') WHERE ${of} AND level = 1 AND idx = 1`);
    for (let i = 0; i < 2; i++) await verify();
    expect(await recordedAs('log_node')).toBe(2);
  });

  it('shows any one-byte edit of a row of it', async () => {
    const columns: [table: string, column: string, key: string][] = [
      ['ledger_batches', 'header', 'leaf_index'],
      ['ledger_batches', 'signature', 'leaf_index'],
      ['log_checkpoints', 'note', 'size'],
      ['log_checkpoints', 'root', 'size'],
      ['log_anchors', 'root', 'size'],
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...columns),
        fc.nat(),
        fc.nat(),
        fc.constantFrom('0', '1', 'a', 'b', 'z', '"', '\n'),
        async ([table, column, key], r, at, text) => {
          const { rows } = await superuser.query<{ key: string; value: string }>(
            `SELECT ${key}::text AS key, ${column} AS value FROM ${table} WHERE ${of} ORDER BY ${key}`,
            [tenantId],
          );
          const { key: place, value } = rows[r % rows.length] ?? expect.unreachable();
          const i = at % value.length;
          fc.pre(value[i] !== text);
          const set = (to: string) =>
            superuser.query(`UPDATE ${table} SET ${column} = $3 WHERE ${of} AND ${key} = $2`, [
              tenantId,
              place,
              to,
            ]);
          await set(value.slice(0, i) + text + value.slice(i + 1));
          const edited = await verify();
          await set(value);
          expect(edited.valid).toBe(false);
        },
      ),
      { numRuns: 25 },
    );
    expect((await verify()).valid).toBe(true);
  });
});
