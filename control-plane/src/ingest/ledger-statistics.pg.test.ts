import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createLedgerStatistics } from './ledger-statistics.ts';

const test = await testDatabase();
await test.superuser.query('SELECT ensure_ledger_partitions(1)');
const task = createLedgerStatistics(test.connections);
const run = (signal = new AbortController().signal) => task.run(signal);
const tenantId = randomUUID();
let records = 0;

async function append(count: number): Promise<void> {
  await test.superuser.query(
    `INSERT INTO ledger_records (tenant_id, received_at, position, stream, epoch, seq, type, id,
       event_time, hash, prev_hash, bytes)
     SELECT $1, now(), n, $1, 1, n, 'decision', gen_random_uuid(), now(), repeat('a', 64),
       repeat('b', 64), convert_to(repeat('c', 700), 'utf8')
     FROM generate_series($2::int, $3::int) n`,
    [tenantId, records + 1, records + count],
  );
  records += count;
}

/** How many rows PostgreSQL believes in, by partition; -1 where it never looked. */
async function believed(): Promise<number[]> {
  const { rows } = await test.superuser.query<{ rows: number }>(
    `SELECT reltuples AS rows FROM pg_class c JOIN pg_inherits ON inhrelid = c.oid
     WHERE inhparent = 'ledger_records'::regclass ORDER BY reltuples DESC`,
  );
  return rows.map((row) => row.rows);
}

it('tells PostgreSQL of the ledger when it has grown to twice what it knows', async () => {
  await append(50);
  await run();
  expect(await believed()).toEqual([-1, -1, -1]);

  await append(950);
  await run(AbortSignal.abort());
  expect(await believed()).toEqual([-1, -1, -1]);
  await run();
  expect(await believed()).toEqual([1_000, -1, -1]);

  await append(500);
  await run();
  expect(await believed()).toEqual([1_000, -1, -1]);
  await append(1_500);
  await run();
  expect(await believed()).toEqual([3_000, -1, -1]);
});

it('waits for nobody who has the table, and looks at it the next time', async () => {
  await append(10_000);
  const other = await test.superuser.connect();
  try {
    await other.query('BEGIN');
    await other.query('LOCK TABLE ledger_records IN SHARE UPDATE EXCLUSIVE MODE');
    await run();
    expect(await believed()).toEqual([3_000, -1, -1]);
  } finally {
    await other.query('ROLLBACK');
    other.release();
  }
  await run();
  expect(await believed()).toEqual([13_000, -1, -1]);
});
