import type { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import type { SignedBatch } from '@governance/shared/ledger/audit-batch';
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

const { changes, connections, ingest, superuser, test, verifier } = await testIngest();
const scope = await aTenant(test);
const { tenantId } = scope;

const send = (plane: TestDataPlane, batch: SignedBatch) =>
  ingest.ingestBatch(tenantId, plane.deploymentId, batch);

async function stored(stream: string): Promise<{ epoch: number; seq: string; hash: string }[]> {
  const { rows } = await superuser.query<{ epoch: number; seq: string; hash: string }>(
    'SELECT epoch, seq, hash FROM ledger_records WHERE stream = $1 ORDER BY epoch, seq, position',
    [stream],
  );
  return rows;
}

function place({ epoch, seq, hash }: { epoch: number; seq: number | string; hash: string }) {
  return `${epoch}/${seq}/${hash}`;
}

async function aPlaneWith(decisions: number): Promise<TestDataPlane> {
  const plane = await aDataPlane(test, scope);
  plane.boot();
  for (let i = 0; i < decisions; i++) plane.append(aDecision());
  return plane;
}

async function breaksOf(stream: string) {
  const { rows } = await superuser.query('SELECT * FROM chain_breaks WHERE stream = $1', [stream]);
  return rows;
}

describe('ingestBatch', () => {
  it('stores the bytes verbatim, with columns to find them by', async () => {
    const plane = await aPlaneWith(0);
    const decision = aDecision({ policy_result: 'deny', policy_reason: 'ünïcode ✓ \u2028' });
    plane.append(decision);
    plane.append(anOutcome(decision.id));
    const received: unknown[] = [];
    const end = changes.subscribe((change) => received.push(change), expect.unreachable);
    const receipt = await send(plane, plane.batch(0));
    end();
    expect(receipt).toEqual({
      status: 'accepted',
      stream: plane.deploymentId,
      epoch: 1,
      last_seq: 3,
      head: plane.head.head,
    });
    const { rows } = await superuser.query(
      'SELECT * FROM ledger_records WHERE stream = $1 ORDER BY seq',
      [plane.deploymentId],
    );
    expect(rows.map((row) => row.bytes)).toEqual(plane.records.map((record) => record.bytes));
    expect(rows.map((row) => row.type)).toEqual(['epoch_start', 'decision', 'outcome']);
    expect(rows[1]).toMatchObject({
      id: decision.id,
      agent_id: decision.agent_id,
      policy_result: 'deny',
      event_time: new Date(decision.timestamp),
      prev_hash: plane.records[0]?.hash,
      hash: plane.records[1]?.hash,
    });
    expect(rows[2]).toMatchObject({ subject_id: decision.id, agent_id: null });
    expect(received).toEqual([{ tenantId, position: Number(rows[2].position) }]);
    expect(rows.map((row) => Number(row.position) - Number(rows[0].position))).toEqual([0, 1, 2]);
  });

  it('notifies nobody inside its transaction, and publishes behind the commit', async () => {
    const plane = await aPlaneWith(3);
    const happened: string[] = [];
    const watched = new WeakSet<object>();
    connections.ingestPool.on('acquire', (client) => {
      if (watched.has(client)) return;
      watched.add(client);
      const query = client.query.bind(client) as (...given: unknown[]) => unknown;
      client.query = ((...given: [string | { text: string }, ...unknown[]]) => {
        happened.push(typeof given[0] === 'string' ? given[0] : given[0].text);
        return query(...given);
      }) as typeof client.query;
    });
    const end = changes.subscribe(() => happened.push('published'), expect.unreachable);
    await send(plane, plane.batch(0));
    end();
    expect(happened.slice(-2)).toEqual(['COMMIT', 'published']);
    expect(happened.join(' ')).toMatch(/COPY ledger_records/);
    expect(happened.join(' ')).not.toMatch(/notify/i);
    // Nor does the database by itself.
    const { rows } = await superuser.query('SELECT tgname FROM pg_trigger WHERE NOT tgisinternal');
    expect(rows).toEqual([]);
  });

  it('acknowledges the same batch again without storing it twice', async () => {
    const plane = await aPlaneWith(4);
    await send(plane, plane.batch(0));
    const again = await send(plane, plane.batch(0));
    expect(again).toMatchObject({ status: 'already_stored', last_seq: 5, head: plane.head.head });
    expect(await send(plane, plane.batch(1, 3))).toMatchObject({ status: 'already_stored' });
    expect(await stored(plane.deploymentId)).toHaveLength(5);
  });

  it('stores only what is new of a batch that overlaps', async () => {
    const plane = await aPlaneWith(4);
    await send(plane, plane.batch(0, 3));
    expect(await send(plane, plane.batch(1))).toMatchObject({ status: 'accepted', last_seq: 5 });
    expect((await stored(plane.deploymentId)).map(place)).toEqual(plane.records.map(place));
  });

  it('follows a writer into its next epoch', async () => {
    const plane = await aPlaneWith(2);
    await send(plane, plane.batch(0));
    plane.boot();
    plane.append(aDecision());
    expect(await send(plane, plane.batch(3))).toMatchObject({ status: 'accepted', epoch: 2 });
    // What belongs to the epoch before is still known.
    expect(await send(plane, plane.batch(0, 3))).toMatchObject({ status: 'already_stored' });
  });

  it('says what comes next when earlier records are missing, and records no break', async () => {
    const plane = await aPlaneWith(4);
    const early = send(plane, plane.batch(2));
    await expect(early).rejects.toMatchObject({
      code: 'BATCH_CONFLICT',
      errors: [{ type: 'stream_gap', loc: ['stream', 1, 1] }],
    });
    await send(plane, plane.batch(0, 2));
    plane.boot();
    await expect(send(plane, plane.batch(5))).rejects.toMatchObject({
      errors: [{ type: 'stream_gap', loc: ['stream', 1, 3] }],
    });
    expect(await breaksOf(plane.deploymentId)).toEqual([]);
  });

  it.each([
    ['other records', (plane: TestDataPlane) => plane.append(aDecision())],
    ['another end of the epoch', (plane: TestDataPlane) => plane.boot()],
  ])('refuses a fork with %s, keeps what is stored and says so', async (_, diverge) => {
    const plane = await aPlaneWith(2);
    const clone = plane.clone();
    plane.append(aDecision());
    await send(plane, plane.batch(0));
    const before = await stored(plane.deploymentId);
    diverge(clone);
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(send(clone, clone.batch(3))).rejects.toMatchObject({
        code: 'BATCH_CONFLICT',
        errors: [{ type: 'stream_fork' }],
      });
    }
    expect(await stored(plane.deploymentId)).toEqual(before);
    expect(await breaksOf(plane.deploymentId)).toMatchObject([{ kind: 'fork' }]);
    const { rows: alerts } = await superuser.query(`SELECT * FROM alerts WHERE dedupe_key = $1`, [
      `chain_break:${plane.deploymentId}`,
    ]);
    expect(alerts).toMatchObject([
      { alert_type: 'CHAIN_BREAK', severity: 'critical', status: 'open' },
    ]);
    plane.append(aDecision());
    expect(await send(plane, plane.batch(4))).toMatchObject({ status: 'accepted' });
  });

  it('refuses records beyond the end of a closed epoch as a fork', async () => {
    const plane = await aPlaneWith(1);
    const clone = plane.clone();
    plane.boot();
    await send(plane, plane.batch(0, 2));
    await send(plane, plane.batch(2));
    clone.append(aDecision());
    await expect(send(clone, clone.batch(1))).rejects.toMatchObject({ code: 'BATCH_CONFLICT' });
  });

  it('projects alerts, once while one with the same key is unresolved', async () => {
    const plane = await aPlaneWith(0);
    const alert = (dedupeKey: string | null) =>
      ({
        type: 'alert',
        id: uuidv7(),
        timestamp: '2026-01-02T03:04:05.678Z',
        bundle_revision: null,
        alert_type: 'POLICY_OUT_OF_FUEL',
        severity: 'high',
        agent_id: null,
        title: 'A policy ran out of fuel',
        details: { policy: 'p' },
        dedupe_key: dedupeKey,
      }) as const;
    for (const key of ['fuel:p', 'fuel:p', null, null]) plane.append(alert(key));
    await send(plane, plane.batch(0));
    const { rows } = await superuser.query(
      `SELECT dedupe_key, details, created_at FROM alerts
       WHERE tenant_id = $1 AND alert_type = 'POLICY_OUT_OF_FUEL'`,
      [tenantId],
    );
    expect(rows.map((row) => row.dedupe_key).sort()).toEqual([
      `data-plane:${plane.deploymentId}:fuel:p`,
      null,
      null,
    ]);
    expect(rows[0]).toMatchObject({
      details: '{"policy":"p"}',
      created_at: new Date('2026-01-02T03:04:05.678Z'),
    });
  });

  it('lets no data plane keep back what the control plane has to tell of it', async () => {
    const plane = await aPlaneWith(1);
    const { deploymentId } = plane;
    for (const key of [`chain_break:${deploymentId}`, `data-plane-forked/${deploymentId}`]) {
      plane.append({
        type: 'alert',
        id: uuidv7(),
        timestamp: '2026-01-02T03:04:05.678Z',
        bundle_revision: null,
        alert_type: 'POLICY_FAILED',
        severity: 'info',
        agent_id: null,
        title: 'Nothing happened',
        details: {},
        dedupe_key: key,
      });
    }
    const clone = plane.clone();
    plane.append(aDecision());
    clone.append(aDecision());
    await send(plane, plane.batch(0));
    await expect(send(clone, clone.batch(4))).rejects.toMatchObject({ code: 'BATCH_CONFLICT' });
    const { rows } = await superuser.query(
      `SELECT alert_type FROM alerts WHERE tenant_id = $1 AND dedupe_key LIKE '%' || $2`,
      [tenantId, deploymentId],
    );
    expect(rows.map((row) => row.alert_type)).toContain('CHAIN_BREAK');
  });

  it('refuses what a key of small order signed, whose signature anybody makes', async () => {
    const other = await aTenant(test);
    const plane = await aDataPlane(test, other);
    plane.boot();
    const point = Buffer.from(`01${'00'.repeat(31)}`, 'hex');
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') };
    // Versions before this one registered such keys.
    await superuser.query('UPDATE data_planes SET signing_key = $1 WHERE deployment_id = $2', [
      JSON.stringify(jwk),
      plane.deploymentId,
    ]);
    const signature = Buffer.concat([point, Buffer.alloc(32)]).toString('base64url');
    const batch = { ...plane.batch(0), signature };
    const sent = ingest.ingestBatch(other.tenantId, plane.deploymentId, batch);
    await expect(sent).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(await stored(plane.deploymentId)).toEqual([]);
  });

  it('refuses what its writer did not sign, and stores none of it', async () => {
    const plane = await aPlaneWith(2);
    const stranger = await aDataPlane(test, scope);
    const forged = createWriter(tenantId, plane.deploymentId, stranger.signingKey, plane.records);
    const good = plane.batch(0);
    const flipped = Buffer.from(good.records[1] as Buffer);
    flipped[20] = (flipped[20] ?? 0) ^ 1;
    const beginsWrong = await aDataPlane(test, scope);
    beginsWrong.head.epoch = 1;
    beginsWrong.append(aDecision());
    const cases: [TestDataPlane, SignedBatch, RegExp][] = [
      [plane, forged.batch(0), /signature/],
      [plane, { ...good, signature: '' }, /signature/],
      [plane, { ...good, header: { ...good.header, epoch: 2 } }, /signature/],
      [plane, { ...good, header: { ...good.header, tenant_id: uuidv7() } }, /another tenant/],
      [stranger, good, /another stream/],
      [plane, { ...good, records: good.records.slice(1) }, /number of records/],
      [
        plane,
        { ...good, records: [good.records[0] as Buffer, flipped, good.records[2] as Buffer] },
        // The edited one cannot be read, which is no refusal; but the next no longer follows it.
        /seq [23] /,
      ],
      [beginsWrong, beginsWrong.batch(0), /seq 1 begins an epoch but is no epoch_start/],
      [plane, { ...good, header: {} as never }, /header/],
    ];
    for (const [from, batch, detail] of cases) {
      await expect(send(from, batch)).rejects.toMatchObject({
        code: 'VALIDATION_FAILED',
        detail: expect.stringMatching(detail),
      });
    }
    expect(await stored(plane.deploymentId)).toEqual([]);
    await expect(ingest.ingestBatch(tenantId, uuidv7(), good)).rejects.toMatchObject({
      code: 'DATA_PLANE_NOT_FOUND',
    });
    const elsewhere = await aTenant(test);
    await expect(
      ingest.ingestBatch(elsewhere.tenantId, plane.deploymentId, good),
    ).rejects.toMatchObject({ code: 'DATA_PLANE_NOT_FOUND' });
  });

  it('stores each record once, whatever the order and doubling of batches', async () => {
    const ranges = fc.array(fc.tuple(fc.nat(29), fc.integer({ min: 1, max: 12 }), fc.boolean()), {
      minLength: 5,
      maxLength: 25,
    });
    await fc.assert(
      fc.asyncProperty(
        ranges,
        fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }),
        async (cuts, boots) => {
          const plane = await aDataPlane(test, scope);
          for (const [i, boot] of boots.entries()) {
            if (i === 0 || (boot && i % 5 === 0)) plane.boot();
            else plane.append(aDecision());
          }
          const acknowledged = new Set<string>();
          const deliver = async (from: number, to: number) => {
            const first = plane.records[from];
            if (!first) return;
            let end = from;
            while (end < to && plane.records[end]?.epoch === first.epoch) end++;
            try {
              await send(plane, plane.batch(from, end));
              for (const record of plane.records.slice(from, end)) acknowledged.add(place(record));
            } catch (error) {
              expect((error as AppError).errors?.[0]?.type).toBe('stream_gap');
            }
          };
          // Some batches travel at the same time as the next one.
          const inFlight: Promise<void>[] = [];
          for (const [from, length, wait] of cuts) {
            inFlight.push(deliver(from, from + length));
            if (wait) await Promise.all(inFlight.splice(0));
          }
          await Promise.all(inFlight);
          const partial = (await stored(plane.deploymentId)).map(place);
          expect(new Set(partial).size).toBe(partial.length);
          expect(partial).toEqual(plane.records.slice(0, partial.length).map(place));
          for (const record of acknowledged) expect(partial).toContain(record);
          // The writer ships everything once more, as after a restart: the stream is whole.
          for (let from = 0; from < plane.records.length; ) {
            const { epoch } = plane.records[from] as { epoch: number };
            let to = from;
            while (plane.records[to]?.epoch === epoch) to++;
            await deliver(from, to);
            from = to;
          }
          expect((await stored(plane.deploymentId)).map(place)).toEqual(plane.records.map(place));
          expect(await breaksOf(plane.deploymentId)).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
    const { verification } = await verifier.verify(tenantId, { fresh: true });
    // The forks of the tests before stand; nothing that is stored is broken.
    expect(verification.breaks.filter(({ kind }) => kind !== 'fork')).toEqual([]);
  });
});
