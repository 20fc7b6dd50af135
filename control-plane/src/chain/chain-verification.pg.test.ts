import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aDataPlane,
  aDecision,
  anOutcome,
  createWriter,
  type TestDataPlane,
} from '../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testIngest } from '../testing/test-ingest.ts';
import { RECEIPT_STREAM } from './verification-run.ts';

const { db, ingest, superuser, test, verifier } = await testIngest();

async function aLedger(): Promise<{ tenantId: string; plane: TestDataPlane }> {
  const scope = await aTenant(test);
  const { tenantId } = scope;
  const plane = await aDataPlane(test, scope);
  plane.boot();
  for (let i = 0; i < 4; i++) {
    const decision = aDecision({ target: `/file-${i}` });
    plane.append(decision);
    plane.append(anOutcome(decision.id));
  }
  const firstEpoch = plane.records.length;
  plane.boot();
  for (let i = 0; i < 3; i++) plane.append(aDecision());
  await ingest.ingestBatch(tenantId, plane.deploymentId, plane.batch(0, firstEpoch));
  await ingest.ingestBatch(tenantId, plane.deploymentId, plane.batch(firstEpoch));
  for (const name of ['one', 'two']) {
    await db.inTenant(scope, async (tx) => {
      tx.audit.append({ action: 'thing_done', target: name });
    });
  }
  return { tenantId, plane };
}

const verifyNow = async (tenantId: string) =>
  (await verifier.verify(tenantId, { fresh: true })).verification;

/** Runs an edit behind the product's back, verifies, and undoes it. */
async function tampered(tenantId: string, sql: string, values: unknown[] = []) {
  const client = await superuser.connect();
  const tables = [
    'ledger_records',
    'ledger_batches',
    'stream_heads',
    'tenant_heads',
    'tenant_positions',
    'data_planes',
  ];
  try {
    for (const table of tables) {
      await client.query(`CREATE TEMP TABLE saved_${table} AS SELECT * FROM ${table}`);
    }
    const { rowCount } = await client.query(sql, values);
    expect(rowCount).toBeGreaterThan(0);
    return await verifier
      .verify(tenantId, { fresh: true })
      .then(({ verification }) => verification);
  } finally {
    for (const table of tables) {
      await client.query(`DELETE FROM ${table}`);
      await client.query(`INSERT INTO ${table} SELECT * FROM saved_${table}`);
      await client.query(`DROP TABLE saved_${table}`);
    }
    client.release();
  }
}

describe('verify', () => {
  it('finds whole chains valid, with their heads', async () => {
    const { tenantId, plane } = await aLedger();
    const verification = await verifyNow(tenantId);
    expect(verification).toMatchObject({ valid: true, recordsVerified: 17, breaks: [] });
    expect(verification.streams).toMatchObject([
      { kind: 'admin', records: 4, firstBreak: null },
      {
        kind: 'data_plane',
        stream: plane.deploymentId,
        records: 13,
        end: { epoch: 2, seq: 4, head: plane.head.head },
      },
    ]);
  });

  it('reuses a result for a while, and runs again on request', async () => {
    const { tenantId } = await aLedger();
    const both = await Promise.all([
      verifier.verify(tenantId, { fresh: false }),
      verifier.verify(tenantId, { fresh: false }),
    ]);
    expect(both[0].verification).toBe(both[1].verification);
    expect(await verifier.verify(tenantId, { fresh: false })).toEqual({
      verification: both[0].verification,
      cached: true,
    });
    const fresh = await verifier.verify(tenantId, { fresh: true });
    expect(fresh.cached).toBe(false);
    expect(fresh.verification).not.toBe(both[0].verification);
  });

  it('finds any one-byte edit of a record', async () => {
    const { tenantId } = await aLedger();
    const { rows } = await superuser.query<{ position: string; size: number }>(
      `SELECT position, octet_length(bytes) AS size FROM ledger_records
       WHERE tenant_id = $1 ORDER BY position`,
      [tenantId],
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 255 }), async (r, b, mask) => {
        const row = rows[r % rows.length] as (typeof rows)[number];
        const at = b % row.size;
        const flip = () =>
          superuser.query(
            `UPDATE ledger_records SET bytes = set_byte(bytes, $3, get_byte(bytes, $3) # $4)
             WHERE tenant_id = $1 AND position = $2`,
            [tenantId, row.position, at, mask],
          );
        await flip();
        const edited = await verifyNow(tenantId);
        await flip();
        expect(edited.valid).toBe(false);
        expect(edited.breaks[0]).toMatchObject({ kind: 'content' });
        expect((await verifyNow(tenantId)).valid).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  const anywhere = `tenant_id = $1 AND stream = (SELECT stream FROM stream_heads WHERE tenant_id = $1)`;
  it.each([
    ['the hash', `UPDATE ledger_records SET hash = repeat('a', 64) WHERE ${anywhere} AND seq = 3`],
    [
      'prev_hash',
      `UPDATE ledger_records SET prev_hash = repeat('a', 64) WHERE ${anywhere} AND seq = 3`,
    ],
    [
      'the result',
      `UPDATE ledger_records SET policy_result = 'deny' WHERE ${anywhere} AND seq = 2 AND epoch = 1`,
    ],
    [
      'the agent',
      `UPDATE ledger_records SET agent_id = gen_random_uuid() WHERE ${anywhere} AND seq = 2`,
    ],
    ['the id', `UPDATE ledger_records SET id = gen_random_uuid() WHERE ${anywhere} AND seq = 2`],
    [
      'what it belongs to',
      `UPDATE ledger_records SET subject_id = gen_random_uuid() WHERE ${anywhere} AND seq = 3`,
    ],
    ['the type', `UPDATE ledger_records SET type = 'alert' WHERE ${anywhere} AND seq = 2`],
    [
      'the time',
      `UPDATE ledger_records SET event_time = event_time + interval '1 ms' WHERE ${anywhere} AND seq = 2`,
    ],
    ['the seq', `UPDATE ledger_records SET seq = 99 WHERE ${anywhere} AND seq = 3 AND epoch = 1`],
    ['the epoch', `UPDATE ledger_records SET epoch = 3 WHERE ${anywhere} AND epoch = 2`],
    [
      'the stream',
      `UPDATE ledger_records SET stream = gen_random_uuid() WHERE ${anywhere} AND epoch = 2 AND seq = 4`,
    ],
    [
      'the order of receipt',
      `UPDATE ledger_records SET position = position + 100 WHERE ${anywhere} AND seq = 2 AND epoch = 1`,
    ],
    ['a record removed', `DELETE FROM ledger_records WHERE ${anywhere} AND seq = 3 AND epoch = 1`],
    [
      'the beginning removed',
      `DELETE FROM ledger_records WHERE ${anywhere} AND seq = 1 AND epoch = 1`,
    ],
    ['the tail removed', `DELETE FROM ledger_records WHERE ${anywhere} AND seq = 4 AND epoch = 2`],
    ['an epoch removed', `DELETE FROM ledger_records WHERE ${anywhere} AND epoch = 1`],
    ['every record removed', `DELETE FROM ledger_records WHERE ${anywhere}`],
    [
      'a record doubled',
      `INSERT INTO ledger_records SELECT tenant_id, received_at, position + 1000, stream, epoch, seq, type, id, subject_id, agent_id, policy_result, event_time, hash, prev_hash, bytes FROM ledger_records WHERE ${anywhere} AND seq = 2 AND epoch = 1`,
    ],
    [
      'an admin record removed',
      `DELETE FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'`,
    ],
    ['a head', `UPDATE stream_heads SET head = repeat('b', 64) WHERE tenant_id = $1`],
    ['a head moved back', `UPDATE stream_heads SET next_seq = 3 WHERE tenant_id = $1`],
    ['a head removed', `DELETE FROM stream_heads WHERE tenant_id = $1`],
    ['the admin head', `UPDATE tenant_heads SET admin_head = repeat('b', 64) WHERE tenant_id = $1`],
    [
      'a signature',
      `UPDATE ledger_batches SET signature = 'AAAA' WHERE tenant_id = $1 AND epoch = 1`,
    ],
    [
      'a signed header',
      `UPDATE ledger_batches SET header = replace(header, '"first_seq":1', '"first_seq":2') WHERE tenant_id = $1 AND epoch = 1`,
    ],
    ['an old batch removed', `DELETE FROM ledger_batches WHERE tenant_id = $1 AND epoch = 1`],
    ['the newest batch removed', `DELETE FROM ledger_batches WHERE tenant_id = $1 AND epoch = 2`],
    ['the registered key', `UPDATE data_planes SET signing_key = '{}' WHERE tenant_id = $1`],
    ['the count', `UPDATE tenant_positions SET position = position + 1 WHERE tenant_id = $1`],
  ])('finds %s changed', async (_, sql) => {
    const { tenantId } = await aLedger();
    expect((await verifyNow(tenantId)).valid).toBe(true);
    const verification = await tampered(tenantId, sql, [tenantId]);
    expect(verification.valid).toBe(false);
    expect(verification.breaks.length).toBeGreaterThan(0);
  });

  it('finds records rewritten with every hash and head, by somebody without the key', async () => {
    const { tenantId, plane } = await aLedger();
    const last = plane.records.at(-1);
    const forger = createWriter(
      tenantId,
      plane.deploymentId,
      plane.signingKey,
      plane.records.slice(0, -1),
    );
    const decision = aDecision({ policy_result: 'deny' });
    const forged = forger.append(decision);
    await superuser.query(
      `UPDATE ledger_records SET bytes = $3, hash = $4, id = $5, event_time = $6,
         policy_result = 'deny'
       WHERE tenant_id = $1 AND hash = $2`,
      [tenantId, last?.hash, forged.bytes, forged.hash, decision.id, decision.timestamp],
    );
    await superuser.query('UPDATE stream_heads SET head = $2 WHERE tenant_id = $1', [
      tenantId,
      forged.hash,
    ]);
    const { breaks: found } = await verifyNow(tenantId);
    expect(found).toMatchObject([
      {
        kind: 'signature',
        epoch: 2,
        seq: 4,
        detail: 'the signed head differs from the stored one',
      },
    ]);
  });

  it('finds a stream removed together with its head', async () => {
    const { tenantId, plane } = await aLedger();
    await superuser.query('DELETE FROM stream_heads WHERE stream = $1', [plane.deploymentId]);
    await superuser.query('DELETE FROM ledger_records WHERE stream = $1', [plane.deploymentId]);
    const verification = await verifyNow(tenantId);
    expect(verification.breaks).toMatchObject([{ stream: RECEIPT_STREAM, kind: 'head' }]);
  });

  it('records a break and raises its alert once, and never reuses a bad result', async () => {
    const { tenantId, plane } = await aLedger();
    await superuser.query(
      `UPDATE ledger_records SET bytes = set_byte(bytes, 9, 65) WHERE stream = $1 AND seq = 2`,
      [plane.deploymentId],
    );
    await verifyNow(tenantId);
    const again = await verifier.verify(tenantId, { fresh: false });
    expect(again).toMatchObject({ cached: false, verification: { valid: false, breakCount: 2 } });
    const { rows } = await superuser.query(
      'SELECT kind, epoch, seq FROM chain_breaks WHERE tenant_id = $1 ORDER BY epoch',
      [tenantId],
    );
    expect(rows).toEqual([
      { kind: 'content', epoch: 1, seq: '2' },
      { kind: 'content', epoch: 2, seq: '2' },
    ]);
    const { rows: alerts } = await superuser.query('SELECT * FROM alerts WHERE tenant_id = $1', [
      tenantId,
    ]);
    expect(alerts).toMatchObject([{ alert_type: 'CHAIN_BREAK', severity: 'critical' }]);
    // The alert's own audit record continues the admin chain, which is whole.
    const { streams } = await verifyNow(tenantId);
    expect(streams[0]).toMatchObject({ kind: 'admin', records: 5, firstBreak: null });
  });

  it('stays valid while records come in', async () => {
    const { tenantId, plane } = await aLedger();
    let stop = false;
    const writing = (async () => {
      while (!stop) {
        const from = plane.records.length;
        for (let i = 0; i < 20; i++) plane.append(aDecision());
        await ingest.ingestBatch(tenantId, plane.deploymentId, plane.batch(from));
      }
    })();
    for (let i = 0; i < 10; i++) expect((await verifyNow(tenantId)).breaks).toEqual([]);
    stop = true;
    await writing;
  });
});
