/**
 * Records that are good links of their chain and cannot be read or stored: the stream goes on, the
 * chain stays whole, and an administrator is told. And the records of a fork, kept as evidence.
 */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { signBatch } from '@governance/shared/ledger/audit-batch';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import {
  type ChainHead,
  chainRecord,
  MAX_RECORD_BYTES,
  type UnchainedRecord,
} from '@governance/shared/ledger/ledger-record';
import { describe, expect, it } from 'vitest';
import {
  aDataPlane,
  aDecision,
  anOutcome,
  aPolicyAlert,
  type TestDataPlane,
} from '../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { alertProjection } from '../alerts/alert-projection.ts';
import { createAuditService } from '../audit/audit-service.ts';
import { testIngest } from '../testing/test-ingest.ts';
import { createIngestService } from './ingest-service.ts';
import { MAX_FORK_RECORDS } from './ingest-store.ts';
import { createViolationAlerts } from './violations.ts';

const { breaks, changes, connections, db, forked, ingest, superuser, test, verifier } =
  await testIngest();
const audit = createAuditService({ db });

async function aPlane() {
  const scope = await aTenant(test);
  const plane = await aDataPlane(test, scope);
  plane.boot();
  const send = (batch = plane.batch(0), from = plane) =>
    ingest.ingestBatch(scope.tenantId, from.deploymentId, batch);
  const verify = async () => (await verifier.verify(scope.tenantId, { fresh: true })).verification;
  return { scope, plane, send, verify };
}

const rowsOf = async (plane: TestDataPlane) =>
  (
    await superuser.query(
      'SELECT * FROM ledger_records WHERE stream = $1 ORDER BY epoch, seq, position',
      [plane.deploymentId],
    )
  ).rows;

const quarantineOf = async (plane: TestDataPlane) =>
  (
    await superuser.query('SELECT * FROM ledger_quarantine WHERE stream = $1 ORDER BY epoch, seq', [
      plane.deploymentId,
    ])
  ).rows;

const alertsOf = async (tenantId: string) =>
  (
    await superuser.query('SELECT * FROM alerts WHERE tenant_id = $1 ORDER BY created_at', [
      tenantId,
    ])
  ).rows;

/** A decision's text, with something done to it. */
const edited = (edit: (record: Record<string, unknown>) => string) => (place: ChainHead) => {
  const { tenant_id, stream, epoch, seq, head: prev_hash } = place;
  return Buffer.from(edit({ ...aDecision(), v: 2, tenant_id, stream, epoch, seq, prev_hash }));
};
const asRecord = (record: UnchainedRecord) => (place: ChainHead) =>
  chainRecord({ ...place, seq: place.seq - 1 }, record).bytes;

const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) });

/** An outcome with a finding that says more than it has to. */
const aFinding = (more: object): UnchainedRecord => ({
  ...anOutcome(uuidv7()),
  inspection: {
    step: null,
    inbound_findings: [Object.assign(Object.create(null), more, { class: 'x', severity: 'low' })],
    dlp_findings_count: 0,
    dlp_findings: [],
    replacement_digest: null,
    escalation_id: null,
  },
});

const anAct = (details: object): UnchainedRecord => ({
  type: 'admin_action',
  id: uuidv7(),
  timestamp: new Date().toISOString(),
  bundle_revision: null,
  actor: { id: 'anna', username: 'anna', role: 'admin', break_glass: false },
  action: 'policy_created',
  target: 'policy',
  details: { ...details },
});

const POISON: [string, (place: ChainHead) => Uint8Array, RegExp][] = [
  ['no JSON', () => Buffer.from('garbage'), /StrictJsonError: syntax/],
  ['no UTF-8', () => Buffer.from([0x7b, 0xff, 0x00]), /TypeError/],
  ['no bytes at all', () => Buffer.alloc(0), /StrictJsonError: syntax/],
  // Verifiers would read none of these.
  ['a finding that is nested too deeply', asRecord(aFinding(nested(40))), /StrictJsonError: depth/],
  ['a finding with a long key', asRecord(aFinding({ ['k'.repeat(9_000)]: 1 })), /key_length/],
  ['a finding with __proto__', asRecord(aFinding(JSON.parse('{"__proto__":1}'))), /proto_key/],
  ['an action that nobody may write, nested too deeply', asRecord(anAct(nested(40))), /depth/],
  ['a newer version', edited((r) => canonicalize({ ...r, v: 3 })), /is of version 3/],
  ['no version', edited((r) => canonicalize({ ...r, v: 'new' })), /ZodError at v/],
  ['a newer field', edited((r) => canonicalize({ ...r, mood: 'good' })), /ZodError/],
  ['a newer type', edited((r) => canonicalize({ ...r, type: 'approval' })), /ZodError at type/],
  ['an id that is none', edited((r) => canonicalize({ ...r, id: 'x' })), /ZodError at id/],
  ['an id in capitals', asRecord(aDecision({ id: uuidv7().toUpperCase() })), /capital letters/],
  [
    'a text with NUL',
    edited((r) => canonicalize({ ...r, target: 'a\u0000b' })),
    /ZodError at target/,
  ],
  ['another order of keys', edited((r) => JSON.stringify({ z: 1, ...r })), /TypeError/],
  [
    'arrays so deep that no recursion comes back',
    edited(
      (r) => `${JSON.stringify(r).slice(0, -1)},"x":${'['.repeat(90_000)}${']'.repeat(90_000)}}`,
    ),
    /StrictJsonError: depth/,
  ],
  ['the year 0', asRecord(aDecision({ timestamp: '0000-01-01T00:00:00.000Z' })), /before 1970/],
  ['too many bytes', asRecord(aDecision({ target: 'x'.repeat(MAX_RECORD_BYTES) })), /too large/],
  // What PostgreSQL refuses though every check was passed: a text too long for its index.
  [
    'a key too long for an index',
    asRecord(aPolicyAlert({ dedupe_key: randomBytes(8_000).toString('hex') })),
    /54000/,
  ],
];

describe('a record that cannot be read or stored', () => {
  it.each(POISON)('(%s) is kept, and the stream goes on', async (_, make, reason) => {
    const { scope, plane, send, verify } = await aPlane();
    const decision = aDecision();
    plane.append(decision);
    plane.append(aPolicyAlert({ dedupe_key: 'before' }));
    plane.appendRaw(make);
    plane.append(aPolicyAlert());
    plane.append(anOutcome(decision.id));
    expect(await send()).toMatchObject({ status: 'accepted', head: plane.head.head });

    const rows = await rowsOf(plane);
    expect(rows.map((row) => row.hash)).toEqual(plane.records.map((record) => record.hash));
    expect(
      rows.map((row) => Buffer.compare(row.bytes, plane.records[row.seq - 1]?.bytes ?? row)),
    ).toEqual(rows.map(() => 0));
    expect(rows.map((row) => row.type)).toEqual([
      'epoch_start',
      'decision',
      'alert',
      'quarantined',
      'alert',
      'outcome',
    ]);
    expect(await quarantineOf(plane)).toMatchObject([
      {
        kind: 'unreadable',
        seq: '4',
        hash: plane.records[3]?.hash,
        reason: expect.stringMatching(reason),
      },
    ]);
    expect((await alertsOf(scope.tenantId)).map((alert) => alert.alert_type).sort()).toEqual([
      'LEDGER_RECORD_QUARANTINED',
      'POLICY_FAILED',
      'POLICY_FAILED',
    ]);
    const told = (await alertsOf(scope.tenantId)).find((one) =>
      one.alert_type.startsWith('LEDGER'),
    );
    expect(Object.keys(JSON.parse(told.details).first).sort()).toEqual([
      'epoch',
      'hash',
      'reason',
      'seq',
    ]);
    expect(await verify()).toMatchObject({ valid: true, recordsQuarantined: 1, breaks: [] });

    // Again: nothing is new. And on: what comes behind is taken.
    expect(await send()).toMatchObject({ status: 'already_stored' });
    plane.append(aDecision());
    expect(await send(plane.batch(2))).toMatchObject({ status: 'accepted' });
    plane.boot();
    expect(await send(plane.batch(7))).toMatchObject({ status: 'accepted', epoch: 2 });
    expect(await quarantineOf(plane)).toHaveLength(1);
    expect(await alertsOf(scope.tenantId)).toHaveLength(3);
    expect(await verify()).toMatchObject({ valid: true, recordsQuarantined: 1, breaks: [] });
    const events = await audit.listEvents(scope, {}, { limit: 100, offset: 0 });
    const ofPlane = events.events.filter((event) => event.stream === plane.deploymentId);
    expect(ofPlane.map((event) => event.id)).toHaveLength(2);
    expect(ofPlane.every((event) => event.readable)).toBe(true);
  });

  it('is reported before the batch is acknowledged, and again if that failed', async () => {
    const { scope, plane } = await aPlane();
    plane.appendRaw(() => Buffer.from('garbage'));
    let attempts = 0;
    const unlucky = createIngestService({
      projections: [alertProjection],
      ingestPool: connections.ingestPool,
      changes,
      violations: createViolationAlerts({ db, now: () => new Date() }),
      markForked: async () => {},
      breaks: {
        ...breaks,
        recordQuarantined: async (...given) => {
          attempts += 1;
          if (attempts === 1) throw new Error('the database went away');
          return breaks.recordQuarantined(...given);
        },
      },
    });
    const send = () => unlucky.ingestBatch(scope.tenantId, plane.deploymentId, plane.batch(0));
    await expect(send()).rejects.toThrow('went away');
    expect(await send()).toMatchObject({ status: 'already_stored' });
    expect(await alertsOf(scope.tenantId)).toMatchObject([
      { alert_type: 'LEDGER_RECORD_QUARANTINED', severity: 'high', status: 'open' },
    ]);
  });

  it('may begin an epoch, if it says which one it follows', async () => {
    const { plane, send, verify } = await aPlane();
    plane.append(aDecision());
    await send();
    const { epoch, seq: last_seq, head } = plane.head;
    const begin = (previous: unknown) => (place: ChainHead) => {
      const { tenant_id, stream, epoch, seq } = place;
      const fields = { type: 'epoch_start', v: 2, tenant_id, stream, epoch, seq, previous };
      return Buffer.from(canonicalize({ ...fields, prev_hash: place.head }));
    };
    const startEpoch = (from: TestDataPlane, previous: unknown) => {
      from.head.epoch += 1;
      from.head.seq = 0;
      from.appendRaw(begin(previous));
    };
    const [silent, wrong] = [plane.clone(), plane.clone()];
    startEpoch(silent, 'not told');
    await expect(send(silent.batch(2), silent)).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    });
    startEpoch(wrong, { epoch, last_seq: last_seq - 1, head });
    await expect(send(wrong.batch(2), wrong)).rejects.toMatchObject({
      errors: [{ type: 'stream_fork' }],
    });
    startEpoch(plane, { epoch, last_seq, head });
    plane.append(aDecision());
    expect(await send(plane.batch(2))).toMatchObject({ status: 'accepted', epoch: 2 });
    // The fork stands; what is stored is whole.
    const { recordsQuarantined, breaks } = await verify();
    expect([recordsQuarantined, breaks.map(({ kind }) => kind)]).toEqual([1, ['fork']]);
  });

  it('refuses the batch where it is larger than a package can show', async () => {
    const { plane, send } = await aPlane();
    await send();
    plane.appendRaw(() => Buffer.alloc(2 * MAX_RECORD_BYTES, 'x'));
    expect(await send(plane.batch(1))).toMatchObject({ status: 'accepted' });
    plane.appendRaw(() => Buffer.alloc(2 * MAX_RECORD_BYTES + 1, 'x'));
    await expect(send(plane.batch(2))).rejects.toThrow(/larger than evidence can show/);
  });

  it('refuses the batch where it says that it belongs elsewhere', async () => {
    const { plane, send } = await aPlane();
    const cases: [Record<string, unknown>, RegExp][] = [
      [{ tenant_id: uuidv7() }, /another tenant/],
      [{ stream: uuidv7() }, /another stream/],
      [{ epoch: 7 }, /another epoch/],
      [{ seq: 9 }, /says it is 9/],
      [{ prev_hash: 'a'.repeat(64) }, /does not follow/],
      [{ type: 'epoch_start' }, /is an epoch_start but does not begin an epoch/],
    ];
    for (const [lie, detail] of cases) {
      const liar = plane.clone();
      liar.appendRaw(edited((record) => canonicalize({ ...record, v: 2, ...lie })));
      await expect(send(liar.batch(0), liar)).rejects.toMatchObject({
        code: 'VALIDATION_FAILED',
        detail: expect.stringMatching(detail),
      });
    }
    expect(await rowsOf(plane)).toEqual([]);
  });

  it('is found by bisection among many, and holds up no other stream', async () => {
    const { scope, plane, send, verify } = await aPlane();
    const other = await aDataPlane(test, scope);
    other.boot();
    const bad = new Set([17, 18, 140, 299]);
    for (let i = 1; i < 300; i++) {
      plane.append(
        bad.has(i) ? aPolicyAlert({ dedupe_key: randomBytes(8_000).toString('hex') }) : aDecision(),
      );
      other.append(aDecision());
    }
    const batches = [send(plane.batch(0, 10)), send(plane.batch(10)), send(other.batch(0), other)];
    for (const receipt of await Promise.all(batches)) expect(receipt.status).toBe('accepted');
    const rows = await rowsOf(plane);
    expect(rows.map((row) => row.hash)).toEqual(plane.records.map((record) => record.hash));
    expect(rows.flatMap((row, i) => (row.type === 'quarantined' ? [i] : []))).toEqual([...bad]);
    expect(await rowsOf(other)).toHaveLength(300);
    expect(await verify()).toMatchObject({ valid: true, recordsQuarantined: 4 });
  });

  it('cannot be feigned to hide an event', async () => {
    const { plane, send, verify } = await aPlane();
    plane.append(aDecision());
    plane.appendRaw(() => Buffer.from('garbage'));
    await send();
    // Exactly the columns that a record in quarantine would have.
    const { rowCount } = await superuser.query(
      `UPDATE ledger_records SET type = 'quarantined', policy_result = NULL, agent_id = NULL,
         event_time = 'epoch', id = overlay(overlay(left(hash, 32) placing '8' from 13)
           placing to_hex((('x' || substr(hash, 17, 1))::bit(4) & '0011' | '1000')::int) from 17)::uuid
       WHERE stream = $1 AND type = 'decision'`,
      [plane.deploymentId],
    );
    expect(rowCount).toBe(1);
    const { breaks: found, valid } = await verify();
    expect(valid).toBe(false);
    expect(found).toMatchObject([
      { kind: 'content', seq: 2, detail: expect.stringMatching(/type/) },
    ]);
    // One whose columns say more than that is found as well.
    await superuser.query(`UPDATE ledger_records SET agent_id = $1 WHERE stream = $2 AND seq = 3`, [
      uuidv7(),
      plane.deploymentId,
    ]);
    expect((await verify()).breaks).toMatchObject([{ seq: 2 }, { seq: 3, kind: 'content' }]);
  });
});

describe('a fork', () => {
  it('may begin with a record that cannot be read, behind another one than before', async () => {
    const { plane, send } = await aPlane();
    plane.append(aDecision());
    plane.appendRaw(() => Buffer.from('garbage'));
    await send();
    plane.append(aDecision());
    const { header, records } = plane.batch(2);
    const hashes = records.map(recordHash);
    const { event_root: _, v: __, ...rest } = header;
    const signed = signBatch(plane.signingKey, { ...rest, prev_head: 'f'.repeat(64) }, hashes);
    await expect(send({ ...signed, records })).rejects.toMatchObject({
      errors: [{ type: 'stream_fork', loc: ['records', 3] }],
    });
    expect(await quarantineOf(plane)).toMatchObject([
      { kind: 'unreadable', seq: '3' },
      { kind: 'fork', seq: '4' },
    ]);
  });

  it('is kept as evidence from the first record that contradicts, once', async () => {
    const { plane, send } = await aPlane();
    plane.append(aDecision());
    const clone = plane.clone();
    plane.append(aDecision());
    await send();
    for (let i = 0; i < 3; i++) clone.append(aDecision());
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(send(clone.batch(0), clone)).rejects.toMatchObject({
        errors: [{ type: 'stream_fork', loc: ['records', 3] }],
      });
    }
    const kept = await quarantineOf(plane);
    expect(kept).toMatchObject([3, 4, 5].map((seq) => ({ kind: 'fork', seq: String(seq) })));
    expect(kept.map((row) => row.bytes)).toEqual(clone.records.slice(2).map(({ bytes }) => bytes));
    expect(forked).toContain(plane.deploymentId);
    // The ledger holds none of it, and its own chain goes on.
    expect(await rowsOf(plane)).toHaveLength(3);
    plane.append(aDecision());
    expect(await send(plane.batch(3))).toMatchObject({ status: 'accepted' });
  });

  it('fills no more than its share', async () => {
    const { plane, send } = await aPlane();
    plane.append(aDecision());
    const clone = plane.clone();
    plane.append(aDecision());
    await send();
    for (let i = 0; i < 1_200; i++) clone.append(aDecision());
    for (const to of [602, 1_202, 1_202]) {
      await expect(send(clone.batch(2, to), clone)).rejects.toMatchObject({
        errors: [{ type: 'stream_fork' }],
      });
    }
    const { rows } = await superuser.query(
      'SELECT count(*)::int AS kept FROM ledger_quarantine WHERE stream = $1',
      [plane.deploymentId],
    );
    expect(rows).toEqual([{ kept: MAX_FORK_RECORDS }]);
  });
});
