/**
 * A second verification of what was verified before costs little, and finds whatever was edited
 * since, in any page.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aDataPlane, aDecision } from '../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testIngest } from '../testing/test-ingest.ts';
import { createChainVerifier, type Verification } from './chain-verification.ts';
import { pageStore } from './page-digests.ts';

const { db, breaks, ingest, superuser, test, verifier } = await testIngest();

/** Two pages and a part of one, in batches that cross the pages' ends. */
async function aLongStream() {
  const scope = await aTenant(test);
  const { tenantId } = scope;
  const plane = await aDataPlane(test, scope);
  plane.boot();
  for (let i = 0; i < 1_200; i++) plane.append(aDecision());
  for (let from = 0; from < plane.records.length; from += 120) {
    const to = Math.min(from + 120, plane.records.length);
    await ingest.ingestBatch(tenantId, plane.deploymentId, plane.batch(from, to));
  }
  return { scope, tenantId, plane };
}

const verify = async (tenantId: string, by = verifier) =>
  (await by.verify(tenantId, { fresh: true })).verification;

/** A verifier that counts the rows that it reads and the signatures' batches. */
function aCountingVerifier() {
  const queries: string[] = [];
  const counted: typeof db.inTenant = (scope, work, options) =>
    db.inTenant(
      scope,
      (tx) => {
        const spied = new Proxy(tx.db, {
          get: (target, name, receiver) => {
            const value = Reflect.get(target, name, receiver);
            if (name !== '$queryRaw') return value;
            return (...given: unknown[]) => {
              const [parts] = given as [TemplateStringsArray];
              queries.push(parts.join('?'));
              return (value as (...args: unknown[]) => unknown).apply(target, given);
            };
          },
        });
        return work({ ...tx, db: spied });
      },
      options,
    );
  const verifierOf = createChainVerifier({
    db: { inTenant: counted },
    ...{ breaks, ingest, now: () => new Date() },
  });
  const pages = () => queries.filter((sql) => sql.includes('bytes_before')).length;
  return { verifier: verifierOf, pages, forget: () => queries.splice(0) };
}

describe('a verification after another', () => {
  it('reads no row of a page that is as it was verified, and those that came since', async () => {
    const { tenantId, plane } = await aLongStream();
    const { verifier, pages, forget } = aCountingVerifier();
    const first = await verify(tenantId, verifier);
    expect(first).toMatchObject({ valid: true, recordsVerified: 1_203 });
    const whole = pages();
    forget();
    const second = await verify(tenantId, verifier);
    expect(second).toMatchObject({ valid: true, recordsVerified: 1_203 });
    expect(second.streams).toEqual(first.streams);
    // The admin chain is always read, and the end of the stream is asked for.
    expect(whole - pages()).toBe(3);
    plane.append(aDecision());
    await ingest.ingestBatch(tenantId, plane.deploymentId, plane.batch(1_201));
    expect(await verify(tenantId, verifier)).toMatchObject({ valid: true, recordsVerified: 1_204 });
    // Another process trusts nothing of this.
    forget();
    expect(await verify(tenantId, aCountingVerifier().verifier)).toMatchObject({ valid: true });
  });

  it('finds every kind of edit, wherever it is, and is valid again once that is undone', async () => {
    const { tenantId, plane } = await aLongStream();
    const { deploymentId: stream } = plane;
    expect(await verify(tenantId)).toMatchObject({ valid: true });
    const at = (seq: number) =>
      `tenant_id = '${tenantId}' AND stream = '${stream}' AND seq = ${seq}`;
    const batchAt = (last: number) =>
      `tenant_id = '${tenantId}' AND stream = '${stream}' AND last_seq = ${last}`;
    const columns = [
      [`type = type || ' '`, 'ledger_records', at(3)],
      ['id = gen_random_uuid()', 'ledger_records', at(501)],
      ['subject_id = gen_random_uuid()', 'ledger_records', at(500)],
      ['agent_id = gen_random_uuid()', 'ledger_records', at(700)],
      [`policy_result = 'deny'`, 'ledger_records', at(1_000)],
      [`event_time = event_time + interval '1 millisecond'`, 'ledger_records', at(1_001)],
      [`hash = reverse(hash)`, 'ledger_records', at(1_100)],
      [`prev_hash = reverse(prev_hash)`, 'ledger_records', at(900)],
      ['bytes = set_byte(bytes, 40, 33)', 'ledger_records', at(250)],
      ['seq = 5000', 'ledger_records', at(600)],
      [`header = replace(header, '"epoch":1', '"epoch":2')`, 'ledger_batches', batchAt(120)],
      ['signature = reverse(signature)', 'ledger_batches', batchAt(1_080)],
      ['first_seq = first_seq + 1', 'ledger_batches', batchAt(600)],
    ] as const;
    for (const [change, table, where] of columns) {
      const client = await superuser.connect();
      try {
        await client.query(`CREATE TEMP TABLE saved AS SELECT * FROM ${table} WHERE ${where}`);
        const { rowCount } = await client.query(`UPDATE ${table} SET ${change} WHERE ${where}`);
        expect(rowCount, change).toBe(1);
        expect(await verify(tenantId), change).toMatchObject({ valid: false });
        const edited = change.startsWith('seq =') ? at(5_000) : where;
        await client.query(`DELETE FROM ${table} WHERE ${edited}`);
        expect(await verify(tenantId), `without: ${change}`).toMatchObject({ valid: false });
        await client.query(`INSERT INTO ${table} SELECT * FROM saved`);
        await client.query('DROP TABLE saved');
      } finally {
        client.release();
      }
    }
    await superuser.query('DELETE FROM chain_breaks WHERE tenant_id = $1', [tenantId]);
    expect(await verify(tenantId)).toMatchObject({ valid: true });
  });

  it('finds what a verifier finds that remembers nothing, while the stream grows', async () => {
    const { tenantId, plane } = await aLongStream();
    const edit = fc.record({
      seq: fc.integer({ min: 1, max: 1_201 }),
      what: fc.constantFrom(
        ...['bytes = set_byte(bytes, octet_length(bytes) - 3, 48)', `type = 'outcome'`],
        ...['seq = seq + 1', 'epoch = 2', 'position = -position', 'id = gen_random_uuid()'],
        ...['hash = prev_hash', `event_time = event_time - interval '1 day'`],
      ),
    });
    const ofStream = ({ breaks: found, streams }: Verification) => ({
      breaks: found
        .filter(({ stream }) => stream === plane.deploymentId)
        .map(({ kind, epoch, seq, expected, actual }) => [kind, epoch, seq, expected, actual]),
      end: streams.find(({ stream }) => stream === plane.deploymentId),
    });
    const mine = `tenant_id = '${tenantId}' AND stream = '${plane.deploymentId}'`;
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 2 }), async (edits) => {
        plane.append(aDecision());
        const from = plane.records.length - 1;
        await ingest.ingestBatch(tenantId, plane.deploymentId, plane.batch(from));
        expect(await verify(tenantId)).toMatchObject({ valid: true });
        await superuser.query(
          `CREATE TABLE saved_records AS SELECT * FROM ledger_records WHERE ${mine}`,
        );
        try {
          for (const { seq, what } of edits) {
            await superuser.query(
              `UPDATE ledger_records SET ${what} WHERE ${mine} AND seq = ${seq}`,
            );
          }
          const without = createChainVerifier({ db, breaks, ingest, now: () => new Date() });
          const [found, expected] = [await verify(tenantId), await verify(tenantId, without)];
          expect(ofStream(found)).toEqual(ofStream(expected));
          expect(found.valid).toBe(false);
        } finally {
          await superuser.query(`DELETE FROM ledger_records WHERE ${mine}`);
          await superuser.query('INSERT INTO ledger_records SELECT * FROM saved_records');
          await superuser.query('DROP TABLE saved_records');
          await superuser.query('DELETE FROM chain_breaks WHERE tenant_id = $1', [tenantId]);
        }
      }),
      { numRuns: 12 },
    );
  }, 120_000);

  it('verifies anew what another key is registered for', async () => {
    const { tenantId, plane, scope } = await aLongStream();
    expect(await verify(tenantId)).toMatchObject({ valid: true });
    const other = await aDataPlane(test, scope);
    // Somebody who can write all tables registers a key of their own for the stream.
    const { rows } = await superuser.query(
      'SELECT signing_key FROM data_planes WHERE deployment_id = $1',
      [other.deploymentId],
    );
    await db.inTenant(scope, async (tx) => {
      tx.audit.append({
        action: 'data_plane_registered',
        target: `data_plane/${plane.deploymentId}`,
        details: { signing_key: JSON.parse(rows[0].signing_key).x },
      });
    });
    expect(await verify(tenantId)).toMatchObject({ valid: false });
  });

  it('gives the digest of the rows that were read, also of empty ranges', async () => {
    const { tenantId, scope, plane } = await aLongStream();
    expect(await verify(tenantId)).toMatchObject({ valid: true });
    const none = { after: { epoch: 9, seq: 1, position: 1 }, end: { epoch: 9, seq: 2 } };
    const batches = { after: { epoch: 9, lastSeq: 0 }, end: { epoch: 9, seq: 2 } };
    const digests = await db.inTenant(scope, (tx) =>
      pageStore(tx).readDigests(plane.deploymentId, [{ rows: none, batches }]),
    );
    expect(digests).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });
});
