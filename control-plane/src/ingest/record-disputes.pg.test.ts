/**
 * What a data plane refers to and the control plane does not have is disputed before the record is
 * stored, by the public interface alone.
 */
import { createPublicKey } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import type { SignedBatch } from '@governance/shared/ledger/audit-batch';
import { expect, it, vi } from 'vitest';
import {
  aDecision,
  aHoldOpened,
  aResultHeld,
  type TestDataPlane,
} from '../../../tests/support/a-data-plane.ts';
import { aShippingPlane } from '../../../tests/support/a-shipping-plane.ts';
import { fillEscalations } from '../../../tests/support/fill-escalations.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { checkBatch } from './batch-check.ts';
import { createIngestService } from './ingest-service.ts';
import { createRecordDisputes } from './record-disputes.ts';
import { MAX_PENDING_OF_STREAM } from './second-holds.ts';

vi.setConfig({ testTimeout: 30_000 });

// The log's own task signs nothing meanwhile.
const plane = await testControlPlane({ env: { SERVICE_CHECKPOINT_SECONDS: '3600' } });
const { call, aTenantAdmin, test } = plane;

type Shipping = Awaited<ReturnType<typeof aShippingPlane>>;

async function aPlane() {
  const admin = await aTenantAdmin();
  const { tenantId } = admin.scope;
  const shipping = await aShippingPlane(plane, admin);
  const disputes = async () => {
    const { rows } = await test.superuser.query<{ record: string; leaf: string | null }>(
      `SELECT convert_from(r.bytes, 'UTF8') AS record, (
         SELECT leaf_index FROM ledger_batches b WHERE b.tenant_id = r.tenant_id
           AND b.stream = r.stream AND b.last_seq >= r.seq ORDER BY b.last_seq LIMIT 1) AS leaf
       FROM ledger_records r WHERE r.tenant_id = $1 AND r.type = 'admin_action'
         AND convert_from(r.bytes, 'UTF8') LIKE '%"action":"record_disputed"%' ORDER BY r.position`,
      [tenantId],
    );
    return rows.map(({ record, leaf }) => ({ leaf: Number(leaf), ...JSON.parse(record) }));
  };
  /** `seq check` of what was disputed. */
  const disputed = async (): Promise<string[]> =>
    (await disputes()).flatMap(({ details }) =>
      details.records.map(({ seq, check }: { seq: number; check: string }) => `${seq} ${check}`),
    );
  const leafOf = async (seq: number): Promise<number> => {
    const { rows } = await test.superuser.query(
      `SELECT leaf_index FROM ledger_batches
       WHERE tenant_id = $1 AND stream = $2 AND $3 BETWEEN first_seq AND last_seq`,
      [tenantId, shipping.deploymentId, seq],
    );
    return Number(rows[0]?.leaf_index);
  };
  /** The alerts about disputes. */
  const alerts = async (): Promise<{ details: { violation?: string } }[]> =>
    (await call('/api/v1/monitor/alerts', { token: admin.token }))
      .json()
      .alerts.filter(
        ({ details }: { details: { violation?: string } }) =>
          details.violation === 'record_disputed',
      );
  return { ...shipping, admin, tenantId, disputes, disputed, leafOf, alerts };
}

/** What ingest hands on of a batch. */
function checked(
  { writer, tenantId }: { writer: TestDataPlane; tenantId: string },
  batch: SignedBatch,
) {
  const { deploymentId: stream, signingKey } = writer;
  const of = { tenantId, stream, key: createPublicKey(signingKey) };
  return checkBatch(of, batch, new Set(['decision']));
}

/** A call that a person approved. */
async function approved({
  admin,
  decide,
  writer,
  ship,
}: Shipping & Pick<Awaited<ReturnType<typeof aPlane>>, 'admin'>) {
  const escalation_id = uuidv7();
  const asked = { tool_name: 'delete_thing' };
  const held = decide({ ...asked, policy_result: 'escalate', escalation_id });
  writer.append(aHoldOpened(held, { escalation_id }));
  await ship();
  const url = `/api/v1/escalations/${escalation_id}/approve`;
  const answer = await call(url, { token: admin.token, body: {} });
  expect(answer.statusCode, answer.body).toBe(200);
  return { ...asked, grant_id: answer.json().grant.id as string };
}

/** Disputes of approvals, so many records before the last. */
const unbound = ({ writer }: Pick<Shipping, 'writer'>, ...before: number[]) =>
  before.map((count) => `${writer.head.seq - count} approval.binding`);

it('inventions are disputed, each in a leaf before that of its record', async () => {
  const one = await aPlane();
  const [grant, delegation] = [uuidv7(), uuidv7()];
  one.decide();
  one.decide({ bundle_revision: 999 });
  one.decide({ grant_id: grant });
  one.decide({ delegation_chain: [delegation], workflow_session_id: uuidv7() });
  await one.ship();
  const [dispute, ...more] = await one.disputes();
  expect(more).toEqual([]);
  const [, , named, used, acted] = one.writer.records;
  expect(dispute).toMatchObject({
    target: `data_plane/${one.deploymentId}`,
    actor: { role: 'system' },
    details: {
      epoch: 1,
      records: [
        { seq: 3, hash: named?.hash, check: 'policy.binding', reference: '999' },
        { seq: 4, hash: used?.hash, check: 'approval.binding', reference: grant },
        { seq: 5, hash: acted?.hash, check: 'delegation.binding', reference: delegation },
      ],
    },
  });
  expect(dispute.leaf).toBeLessThan(await one.leafOf(3));
  expect(await one.alerts()).toMatchObject([
    { severity: 'high', details: { records: 3, first: { seq: 3 } } },
  ]);
});

it('many are disputed in several records, and a batch that comes again in none', async () => {
  const one = await aPlane();
  for (let n = 0; n < 300; n++) one.decide({ bundle_revision: 999 });
  await one.ship();
  await one.ship(0);
  const disputes = await one.disputes();
  expect(disputes.map(({ details }) => details.records.length)).toEqual([250, 50]);
});

it('batches that end in the same unreadable record are disputed each', async () => {
  const one = await aPlane();
  await one.ship();
  const revisions = async () =>
    (await one.disputes()).flatMap(({ details }) =>
      details.records.map(({ reference }: { reference: string }) => reference),
    );
  const disputes = createRecordDisputes({
    db: plane.controlPlane.db,
    signer: { signAll: async () => undefined },
  });
  for (const bundle_revision of [998, 999]) {
    const copy = one.writer.clone();
    copy.append(aDecision({ bundle_revision }));
    copy.appendRaw(() => Buffer.from('not a record'));
    await disputes.raise(one.tenantId, await checked(one, copy.batch(1)));
  }
  expect(await revisions()).toEqual(['998', '999']);
});

it('a batch that is sent several times at once is disputed once', async () => {
  const one = await aPlane();
  await one.ship();
  one.decide({ bundle_revision: 999 });
  // As many as a data plane may have in progress.
  for (let round = 0; round < 4; round++) {
    const answers = await Promise.all([one.send(1), one.send(1)]);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  }
  expect(await one.disputed()).toEqual(['2 policy.binding']);
});

it('while the log cannot be signed, a batch that comes again is disputed once', async () => {
  const one = await aPlane();
  await one.ship();
  one.decide({ bundle_revision: 999 });
  const outages = [new Error('the database'), new Error('the key'), new Error('the key')];
  const fail = (message: string) => {
    if (outages[0]?.message === message) throw outages.shift();
  };
  let signed = 0;
  const disputes = createRecordDisputes({
    db: {
      inTenant: async (...given) => {
        fail('the database');
        return plane.controlPlane.db.inTenant(...given);
      },
    },
    signer: {
      signAll: async () => {
        fail('the key');
        signed++;
      },
    },
  });
  const raise = async () => disputes.raise(one.tenantId, await checked(one, one.writer.batch(1)));
  for (const { message } of [...outages]) await expect(raise()).rejects.toThrow(message);
  for (let n = 0; n < 2; n++) expect((await raise()).violations).toHaveLength(1);
  expect(signed).toBe(1);
  expect(await one.disputed()).toEqual(['2 policy.binding']);
});

it('nothing that the control plane has is disputed', async () => {
  const one = await aPlane();
  const call = await approved(one);
  one.decide(call);
  await one.ship();
  expect(await one.disputed()).toEqual([]);
  expect(await one.alerts()).toEqual([]);
});

it('another’s call, a second use and a late use of an approval are disputed', async () => {
  const one = await aPlane();
  const call = await approved(one);
  const used = one.writer.records.length;
  const late = new Date(Date.now() + 3_600_000).toISOString();
  one.decide({ ...call, tool_name: 'another' });
  one.decide({ ...call, timestamp: late });
  await one.ship();
  expect(await one.disputed()).toEqual([
    `${used + 1} approval.binding`,
    `${used + 2} approval.binding`,
  ]);
  const other = await aPlane();
  const again = await approved(other);
  other.decide(again);
  await other.ship();
  other.decide(again);
  await other.ship();
  expect(await other.disputed()).toEqual([`${other.writer.records.length} approval.binding`]);
});

it('what comes before earlier records is refused, and disputed when it comes after them', async () => {
  const one = await aPlane();
  await one.ship();
  one.decide();
  one.decide({ bundle_revision: 999 });
  for (let n = 0; n < 3; n++) expect((await one.send(2)).statusCode).toBe(409);
  expect(await one.disputed()).toEqual([]);
  await one.ship();
  expect(await one.disputed()).toEqual(['3 policy.binding']);
  expect(await one.alerts()).toHaveLength(1);
});

it('what was refused is not stored undisputed where its gap was closed meanwhile', async () => {
  const one = await aPlane();
  await one.ship();
  one.decide();
  one.decide({ bundle_revision: 999 });
  const { db } = plane.controlPlane;
  const signer = { signAll: async () => expect.unreachable() };
  const disputes = createRecordDisputes({ db, signer });
  const { connections, changes } = test;
  const ingest = createIngestService({
    ...{ ingestPool: connections.ingestPool, projections: [], changes },
    breaks: { record: expect.unreachable, recordQuarantined: expect.unreachable },
    violations: { raise: expect.unreachable },
    markForked: expect.unreachable,
    disputes: {
      raise: async (...given) => {
        const judged = await disputes.raise(...given);
        expect((await one.send(1, 2)).statusCode).toBe(200);
        return judged;
      },
    },
  });
  await expect(
    ingest.ingestBatch(one.tenantId, one.deploymentId, one.writer.batch(2)),
  ).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect((await one.send(2)).statusCode).toBe(200);
  expect(await one.disputed()).toEqual(['3 policy.binding']);
});

it('what contradicts the stored stream is not disputed, since it is not stored', async () => {
  const one = await aPlane();
  await one.ship();
  const copy = one.writer.clone();
  one.decide();
  await one.ship();
  copy.append(aDecision());
  copy.append(aDecision({ bundle_revision: 999 }));
  one.writer.records.splice(0, Number.POSITIVE_INFINITY, ...copy.records);
  const answer = await one.send(1);
  expect(answer.json()).toMatchObject({ errors: [{ type: 'stream_fork' }] });
  expect(await one.disputed()).toEqual([]);
});

it('the operator is told of a batch that was disputed before it could be stored', async () => {
  const one = await aPlane();
  await one.ship();
  one.decide({ bundle_revision: 999 });
  const { superuser } = test;
  await superuser.query(
    `CREATE FUNCTION refuse_batch() RETURNS trigger LANGUAGE plpgsql
       AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON ledger_batches FOR EACH ROW
       WHEN (NEW.stream = '${one.deploymentId}') EXECUTE FUNCTION refuse_batch()`,
  );
  expect((await one.send(1)).statusCode).toBe(500);
  await superuser.query('DROP TRIGGER refuse ON ledger_batches');
  await one.ship();
  expect(await one.disputed()).toEqual(['2 policy.binding']);
  expect(await one.alerts()).toHaveLength(1);
});

it('a record in quarantine is disputed as well, since verifiers read it', async () => {
  const one = await aPlane();
  one.decide({ bundle_revision: 999, id: uuidv7().toUpperCase() });
  await one.ship();
  expect(await one.disputed()).toEqual(['2 policy.binding']);
});

it('a use beside one in quarantine is a second one', async () => {
  const one = await aPlane();
  const call = await approved(one);
  one.decide({ ...call, id: uuidv7().toUpperCase() });
  await one.ship();
  one.decide(call);
  await one.ship();
  expect(await one.disputed()).toEqual(unbound(one, 0));
});

it('of several approvals that a batch uses, those that were used before are disputed', async () => {
  const one = await aPlane();
  const calls = [await approved(one), await approved(one), await approved(one)];
  one.decide(calls[1]);
  await one.ship();
  for (const call of calls) one.decide(call);
  one.decide(calls[2]);
  await one.ship();
  expect(await one.disputed()).toEqual(unbound(one, 2, 0));
});

const holds = [['call', aHoldOpened] as const, ['result', aResultHeld] as const];
it.each(holds)('a second hold of a %s is disputed, the same again is not', async (_, hold) => {
  const [one, escalation_id] = [await aPlane(), uuidv7()];
  const [held, other] = [one.decide(), one.decide()];
  for (let times = 0; times < 2; times += 1) {
    one.writer.append(hold(held, { escalation_id }));
    await one.ship();
  }
  expect(await one.disputed()).toEqual([]);
  // Those in capital letters are in quarantine, where verifiers read them.
  for (const id of [uuidv7(), uuidv7().toUpperCase()])
    one.writer.append(hold(other, { escalation_id, id }));
  one.writer.append((hold === aHoldOpened ? aResultHeld : aHoldOpened)(held, { escalation_id }));
  await one.ship();
  expect(await one.disputed()).toEqual(unbound(one, 2, 1, 0));
});

it('of two holds of one escalation in a batch, both are disputed, and nobody is told', async () => {
  const [one, escalation_id] = [await aPlane(), uuidv7()];
  const [held, other] = [one.decide(), one.decide()];
  one.writer.append(aHoldOpened(held, { escalation_id }));
  one.writer.append(aHoldOpened(other, { escalation_id }));
  await one.ship();
  expect(await one.disputed()).toEqual(unbound(one, 1, 0));
  expect(await one.alerts()).toEqual([]);
});

it('a hold that may find no room is disputed, and nobody is told of it', async () => {
  const [one, other] = [await aPlane(), await aPlane()];
  const hold = ({ decide, writer }: Shipping) => writer.append(aHoldOpened(decide()));
  await fillEscalations(test, one, MAX_PENDING_OF_STREAM - 1);
  hold(one);
  await one.ship();
  expect(await one.disputed()).toEqual([]);
  hold(one);
  await one.ship();
  expect(await one.disputed()).toEqual(unbound(one, 0));
  expect(await one.alerts()).toEqual([]);
  await fillEscalations(test, other, MAX_PENDING_OF_STREAM - 1);
  other.writer.append(aResultHeld(other.decide()));
  hold(other);
  await other.ship();
  expect(await other.disputed()).toEqual(unbound(other, 2, 0));
});

it('a batch whose references are known costs no query', async () => {
  const one = await aPlane();
  one.decide();
  const { db } = plane.controlPlane;
  let transactions = 0;
  const disputes = createRecordDisputes({
    db: {
      inTenant: (...given) => {
        transactions++;
        return db.inTenant(...given);
      },
    },
    signer: { signAll: async () => expect.unreachable() },
  });
  for (let n = 0; n < 3; n++) {
    const batch = await checked(one, one.writer.batch(0));
    expect(await disputes.raise(one.tenantId, batch)).toEqual({
      violations: [],
      isUnjudged: false,
    });
  }
  expect(transactions).toBe(1);
});
