/**
 * The rows of the table of attacks in docs/audit-and-alerts.md that the database's owner can carry
 * out alone: each by raw SQL, with every number and head beside it moved. Those on the admin chain
 * are in admin-chain-cut.pg.test.ts.
 */
import { generateKeyPairSync } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { signBatch } from '@governance/shared/ledger/audit-batch';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  aDataPlane,
  aDecision,
  createWriter,
  type TestDataPlane,
} from '../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testIngest } from '../testing/test-ingest.ts';
import { ledgerColumns, quarantinedColumns } from './ledger-columns.ts';
import { readAsEarlier } from './ledger-row.ts';

const actor = { id: 'system', username: 'system', role: 'system' as const };
const { db, ingest, superuser, test, verifier } = await testIngest({
  onForked: async (tenantId, deploymentId) => {
    await db.inTenant({ tenantId, actor }, async (tx) =>
      tx.audit.append({ action: 'data_plane_forked', target: `data_plane/${deploymentId}` }),
    );
  },
});

let tenantId: string;
let plane: TestDataPlane;
let stream: string;

beforeEach(async () => {
  const scope = await aTenant(test);
  tenantId = scope.tenantId;
  plane = await aDataPlane(test, scope);
  stream = plane.deploymentId;
  plane.boot();
  for (let i = 0; i < 5; i++) plane.append(aDecision());
  await ingest.ingestBatch(tenantId, stream, plane.batch(0, 4));
  await ingest.ingestBatch(tenantId, stream, plane.batch(4));
  expect(await kinds()).toEqual([]);
});

const verify = async () => (await verifier.verify(tenantId, { fresh: true })).verification;
const kinds = async () => [...new Set((await verify()).breaks.map(({ kind }) => kind))].sort();
const run = async (sql: string, values: unknown[] = []) => {
  expect((await superuser.query(sql, values)).rowCount, sql).toBeGreaterThan(0);
};

/** What the data plane tells with its next heartbeat. */
async function beat(): Promise<void> {
  const { epoch, seq, head } = plane.head;
  const told = {
    deployment_id: stream,
    active_agent_count: 0,
    proxy_rpm_1m: 0,
    escalations_pending: 0,
    opa_bundle_version: '1',
    uptime_seconds: 1,
    shipped: { epoch, seq, head },
  };
  await run('UPDATE data_planes SET last_heartbeat = $2 WHERE deployment_id = $1', [
    stream,
    JSON.stringify(told),
  ]);
}

/** Gives the order of receipt no hole, as if what was removed had never come. */
async function closeHoles(): Promise<void> {
  await run(
    `UPDATE ledger_records l SET position = n.n FROM
       (SELECT position, row_number() OVER (ORDER BY position) AS n FROM ledger_records WHERE tenant_id = $1) n
     WHERE l.tenant_id = $1 AND l.position = n.position`,
    [tenantId],
  );
  await run(
    `UPDATE tenant_positions SET position = (SELECT count(*) FROM ledger_records WHERE tenant_id = $1)
     WHERE tenant_id = $1`,
    [tenantId],
  );
  await superuser.query(
    `UPDATE ledger_batches b SET leaf_index = n.n - 1 FROM
       (SELECT leaf_index, row_number() OVER (ORDER BY leaf_index) AS n FROM ledger_batches WHERE tenant_id = $1) n
     WHERE b.tenant_id = $1 AND b.leaf_index = n.leaf_index`,
    [tenantId],
  );
  await run(
    `UPDATE tenant_positions SET log_size = (SELECT count(*) FROM ledger_batches WHERE tenant_id = $1)
     WHERE tenant_id = $1`,
    [tenantId],
  );
}

async function removeStream(): Promise<void> {
  for (const table of ['ledger_records', 'ledger_batches', 'stream_heads']) {
    await run(`DELETE FROM ${table} WHERE stream = $1`, [stream]);
  }
  await closeHoles();
}

async function swapKey(): Promise<ReturnType<typeof generateKeyPairSync>['privateKey']> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await run('UPDATE data_planes SET signing_key = $2 WHERE deployment_id = $1', [
    stream,
    JSON.stringify(publicKey.export({ format: 'jwk' })),
  ]);
  return privateKey;
}

describe('an attack by the database’s owner', () => {
  it('row "cut the tail": to the end of a signed batch, with its head, is found by the heartbeat', async () => {
    await beat();
    await run('DELETE FROM ledger_records WHERE stream = $1 AND seq > 4', [stream]);
    await run('DELETE FROM ledger_batches WHERE stream = $1 AND last_seq > 4', [stream]);
    await run('UPDATE stream_heads SET next_seq = 5, head = $2 WHERE stream = $1', [
      stream,
      plane.records[3]?.hash,
    ]);
    await closeHoles();
    expect(await kinds()).toEqual(['missing']);
  });

  it('row "delete a stream": is found by the heartbeat', async () => {
    await beat();
    await removeStream();
    expect(await kinds()).toEqual(['missing']);
  });

  it('row "delete a stream": is found by a data plane that has nothing left to ship', async () => {
    await run(
      `UPDATE data_planes SET feed_read_at = now(), backlog_records = 0 WHERE deployment_id = $1`,
      [stream],
    );
    await removeStream();
    expect(await kinds()).toEqual(['missing']);
  });

  it('row "delete a stream": with its data plane is found by the registration', async () => {
    await removeStream();
    await run('DELETE FROM data_planes WHERE deployment_id = $1', [stream]);
    expect(await kinds()).toEqual(['registration']);
  });

  it('says nothing of a data plane that has registered and shipped nothing yet', async () => {
    await aDataPlane(test, { tenantId, actor });
    expect(await verify()).toMatchObject({ valid: true, streams: [{}, {}] });
  });

  it('row "swap a key": is found by the registration', async () => {
    await swapKey();
    expect(await kinds()).toEqual(['registration']);
  });

  it.each([
    ['a key of another kind', `signing_key = replace(signing_key, '"crv"', '"crw"')`],
    ['a fork that there was not', `status = 'forked', status_at = now()`],
  ])('row "swap a key": %s is found by the registration', async (_what, change) => {
    await run(`UPDATE data_planes SET ${change} WHERE deployment_id = $1`, [stream]);
    expect(await kinds()).toEqual(['registration']);
  });

  it('row "put in a data plane": is found by the registration that is not there', async () => {
    await run(
      `INSERT INTO data_planes (tenant_id, deployment_id, signing_key, sealing_key)
       SELECT tenant_id, $2, signing_key, sealing_key FROM data_planes WHERE deployment_id = $1`,
      [stream, uuidv7()],
    );
    expect(await kinds()).toEqual(['registration']);
  });

  const recordedAs = async (kind: string) => {
    await verify();
    const sql = 'SELECT FROM chain_breaks WHERE tenant_id = $1 AND kind = $2';
    return (await superuser.query(sql, [tenantId, kind])).rowCount;
  };

  it('records each fault of a registration, once', async () => {
    await swapKey();
    for (let i = 0; i < 2; i++) expect(await recordedAs('registration')).toBe(1);
    await run('DELETE FROM data_planes WHERE deployment_id = $1', [stream]);
    for (let i = 0; i < 2; i++) expect(await recordedAs('registration')).toBe(2);
  });

  it('records once that a stream has no registered writer, however it grows', async () => {
    const id = uuidv7();
    await run(
      `INSERT INTO data_planes (tenant_id, deployment_id, signing_key, sealing_key)
       SELECT tenant_id, $2, signing_key, sealing_key FROM data_planes WHERE deployment_id = $1`,
      [stream, id],
    );
    const unregistered = createWriter(tenantId, id, plane.signingKey);
    unregistered.boot();
    for (let i = 0; i < 2; i++) {
      unregistered.append(aDecision());
      await ingest.ingestBatch(tenantId, id, unregistered.batch(2 * i));
      unregistered.append(aDecision());
      expect(await recordedAs('signature')).toBe(1);
    }
  });

  it('row "sign everything anew": with a key of one’s own is found by registration and signatures', async () => {
    const key = await swapKey();
    const forger = createWriter(tenantId, stream, key);
    forger.boot();
    for (let i = 0; i < 5; i++) forger.append(aDecision({ policy_result: 'deny' }));
    for (const [i, record] of forger.records.entries()) {
      const { id, timestamp, type, policy_result: result } = JSON.parse(`${record.bytes}`);
      await run(
        `UPDATE ledger_records SET bytes = $3, hash = $4, prev_hash = $5, id = $6, event_time = $7,
           policy_result = $8 WHERE stream = $1 AND seq = $2 AND type = $9`,
        [stream, i + 1, record.bytes, record.hash, record.prevHash, id, timestamp, result, type],
      );
    }
    const { head } = forger.head;
    await run('UPDATE stream_heads SET head = $2 WHERE stream = $1', [stream, head]);
    await run('DELETE FROM ledger_batches WHERE stream = $1 AND last_seq < 6', [stream]);
    const whole = { tenant_id: tenantId, stream, epoch: 1, first_seq: 1, last_seq: 6 };
    const prev_head = forger.records[0]?.prevHash ?? '';
    const hashes = forger.records.map((record) => record.hash);
    const { header, signature } = signBatch(key, { ...whole, prev_head, head }, hashes);
    await run(
      'UPDATE ledger_batches SET first_seq = 1, header = $2, signature = $3 WHERE stream = $1',
      [stream, canonicalize(header), signature],
    );
    expect(await kinds()).toEqual(['registration', 'signature']);
    await run('UPDATE data_planes SET signing_key = $2 WHERE deployment_id = $1', [
      stream,
      JSON.stringify(publicJwk(plane)),
    ]);
    expect(await kinds()).toEqual(['signature']);
  });

  /** Exactly as ingest keeps a record in quarantine. */
  async function hold(record: { seq: number; hash: string; bytes: Uint8Array }, kind: string) {
    const { id, eventTime } = quarantinedColumns(record.hash);
    await run(
      `UPDATE ledger_records SET type = 'quarantined', id = $3, agent_id = NULL, subject_id = NULL,
         policy_result = NULL, event_time = $4 WHERE hash = $1 AND seq = $2`,
      [record.hash, record.seq, id, eventTime],
    );
    await run(
      `INSERT INTO ledger_quarantine (tenant_id, id, stream, epoch, seq, kind, hash, reason, bytes)
       SELECT tenant_id, $1, stream, epoch, seq, $2, hash, 'claims the act of an administrator', $3
       FROM ledger_records WHERE hash = $4`,
      [uuidv7(), kind, record.bytes, record.hash],
    );
  }

  it.each([
    'unreadable',
    'forbidden',
  ])('row "call it unreadable": is found by reading it, where it is called %s', async (kind) => {
    const record = plane.records[3] ?? expect.unreachable();
    await hold(record, kind);
    const { breaks: found } = await verify();
    expect(found).toMatchObject([{ kind: 'content', seq: 4, actual: 'a readable record' }]);
  });

  it.each([
    'unreadable',
    'forbidden',
  ])('row "call it unreadable": hides no record of the admin chain, called %s', async (kind) => {
    const { rows } = await superuser.query(
      `SELECT stream, seq::int, hash, bytes FROM ledger_records
       WHERE tenant_id = $1 AND convert_from(bytes, 'UTF8') LIKE '%data_plane_registered%'`,
      [tenantId],
    );
    await hold(rows[0], kind);
    const { breaks: found } = await verify();
    expect(found).toContainEqual(
      expect.objectContaining({ kind: 'content', stream: rows[0].stream, seq: rows[0].seq }),
    );
  });

  it.each([
    ['read', {}],
    // No verifier reads it, and earlier versions stored such a record as read.
    ['too deep for a reader', { params: deep(40) }],
  ])('a forbidden record outside quarantine is found, one %s', async (_, more) => {
    const { bytes } = plane.append({
      ...{ type: 'admin_action', id: uuidv7(), timestamp: new Date().toISOString() },
      bundle_revision: null,
      actor: { id: 'root', username: 'root', role: 'admin', break_glass: false },
      ...{ action: 'exception_created', target: 'exceptions/1', details: more },
    });
    await ingest.ingestBatch(tenantId, stream, plane.batch(6));
    expect(await verify()).toMatchObject({ valid: true, breaks: [] });
    const columns = ledgerColumns(readAsEarlier(bytes) ?? expect.unreachable());
    await run(
      `UPDATE ledger_records SET type = $2, id = $3, agent_id = $4, subject_id = $5,
         policy_result = $6, event_time = $7 WHERE stream = $1 AND seq = 7`,
      [
        ...[stream, columns.type, columns.id, columns.agentId, columns.subjectId],
        ...[columns.policyResult, columns.eventTime],
      ],
    );
    await run('DELETE FROM ledger_quarantine WHERE stream = $1', [stream]);
    expect(await verify()).toMatchObject({
      valid: false,
      breaks: [{ kind: 'content', seq: 7, expected: 'quarantined', actual: 'admin_action' }],
    });
  });

  it('row "hide a fork": is found by what the admin chain says of it', async () => {
    const clone = plane.clone();
    plane.append(aDecision());
    clone.append(aDecision());
    await ingest.ingestBatch(tenantId, stream, plane.batch(6));
    await expect(ingest.ingestBatch(tenantId, stream, clone.batch(6))).rejects.toMatchObject({
      code: 'BATCH_CONFLICT',
    });
    await run(`UPDATE data_planes SET status = 'forked' WHERE deployment_id = $1`, [stream]);
    expect(await verify()).toMatchObject({ valid: false, breaks: [{ kind: 'fork' }] });
    await run('DELETE FROM chain_breaks WHERE stream = $1', [stream]);
    await run('DELETE FROM ledger_quarantine WHERE stream = $1', [stream]);
    expect(await verify()).toMatchObject({ valid: false, breaks: [{ kind: 'fork' }] });
  });
});

function deep(levels: number): object {
  return levels === 0 ? {} : { a: deep(levels - 1) };
}

function publicJwk({ signingKey }: TestDataPlane) {
  const { kty, crv, x } = signingKey.export({ format: 'jwk' });
  return { kty, crv, x };
}
