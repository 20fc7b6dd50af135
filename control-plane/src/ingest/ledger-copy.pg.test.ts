import { randomUUID } from 'node:crypto';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { listedTime } from '../platform/database/record-time.ts';
import { copyInto, copyStatement, encodeCopy, type NewLedgerRow } from './ledger-copy.ts';

const test = await testDatabase();
const { ingestPool } = test.connections;

const uuid = fc.uuid();
const hex = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((b) => Buffer.from(b).toString('hex'));
const time = fc
  .date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());

const row: fc.Arbitrary<NewLedgerRow> = fc.record({
  stream: uuid,
  epoch: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  hash: hex,
  prevHash: hex,
  // Some rows fill a message of the protocol, or more than one.
  bytes: fc.oneof(
    { weight: 10, arbitrary: fc.uint8Array({ maxLength: 300 }) },
    { weight: 1, arbitrary: fc.nat(150_000).map((length) => Buffer.alloc(length, length % 256)) },
  ),
  columns: fc.record({
    type: fc.constantFrom('decision', 'outcome', 'quarantined', 'ünïcode ✓'),
    id: uuid,
    subjectId: fc.option(uuid),
    agentId: fc.option(uuid),
    policyResult: fc.option(fc.constantFrom('allow', 'dlp_block', '')),
    eventTime: time,
  }),
});

const RECEIVED_AT = 1_700_000_000_123;

const copy = async (tenantId: string, rows: NewLedgerRow[], firstPosition: number) => {
  const client = await ingestPool.connect();
  try {
    const payload = encodeCopy(tenantId, rows, { firstPosition, receivedAt: RECEIVED_AT });
    return await copyInto(client, copyStatement('ledger_records'), payload);
  } finally {
    client.release();
  }
};

it('stores any row as it is, and a time that cannot be as that of receipt', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 2 ** 52 }),
      async (rows, firstPosition) => {
        const tenantId = randomUUID();
        expect(await copy(tenantId, rows, firstPosition)).toBe(rows.length);
        const stored = await test.superuser.query(
          'SELECT * FROM ledger_records WHERE tenant_id = $1 ORDER BY position',
          [tenantId],
        );
        const withHash = (of: { bytes: Uint8Array }) => ({ ...of, bytes: recordHash(of.bytes) });
        expect(stored.rows.map(withHash)).toEqual(
          rows.map(({ columns, ...of }, i) => ({
            tenant_id: tenantId,
            received_at: new Date(RECEIVED_AT),
            position: String(firstPosition + i),
            stream: of.stream,
            epoch: of.epoch,
            seq: String(of.seq),
            type: columns.type,
            id: columns.id,
            subject_id: columns.subjectId,
            agent_id: columns.agentId,
            policy_result: columns.policyResult,
            event_time: new Date(listedTime(Date.parse(columns.eventTime), RECEIVED_AT)),
            hash: of.hash,
            prev_hash: of.prevHash,
            bytes: recordHash(of.bytes),
          })),
        );
      },
    ),
    { numRuns: 40 },
  );
});

it('rejects what PostgreSQL refuses, and leaves the connection usable', async () => {
  const [good] = fc.sample(row, 1) as [NewLedgerRow];
  const tenantId = randomUUID();
  const bad = { ...good, columns: { ...good.columns, type: 'nul \u0000' } };
  await expect(copy(tenantId, [good, bad], 1)).rejects.toMatchObject({ code: '22021' });
  const client = await ingestPool.connect();
  const payload = encodeCopy(tenantId, [good], { firstPosition: 1, receivedAt: 0 });
  await expect(copyInto(client, 'COPY nothing FROM STDIN', payload)).rejects.toMatchObject({
    code: '42P01',
  });
  expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  client.release();
  expect(await copy(tenantId, [good], 1)).toBe(1);
});

it('has no form for an id that is none, or a time that is none', () => {
  const [good] = fc.sample(row, 1) as [NewLedgerRow];
  const place = { firstPosition: 1, receivedAt: 0 };
  for (const columns of [{ id: 'xyz' }, { eventTime: 'never' }, { agentId: '' }]) {
    const bad = { ...good, columns: { ...good.columns, ...columns } };
    expect(() => encodeCopy(randomUUID(), [bad], place)).toThrow();
  }
});
