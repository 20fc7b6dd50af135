/**
 * What PostgreSQL reads for a look-up of records by what they are about, whatever it knows of the
 * ledger: nothing, as of a new month or after its crash, or what it was long ago.
 */
import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { auditStore } from '../audit/audit-store.ts';
import { PLANE_CHANGES, readEndings } from '../data-planes/plane-records.ts';
import type { EvidenceRequest } from '../evidence/export/evidence-request.ts';
import { listSelected } from '../evidence/export/selected-records.ts';
import { newestSince } from '../platform/database/newest-records.ts';
import { systemScope, type TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import { POLICY_CHANGES } from '../policies/newest-records.ts';
import { recordsOf } from './records-of.ts';

const test = await testDatabase();
await test.superuser.query('SELECT ensure_ledger_partitions(1)');

const CALLS = 4_000;
const PAGE = 100;
/** Some scans of all records; one for each record that is listed would be ten times as much. */
const MOST = 8 * (CALLS + 40);
/** A position that no call takes, since the first ones are open. */
const STARTED_AT = 3;
const BEGAN = Date.UTC(2026, 0, 2);

/** What PostgreSQL is told while the ledger is small; undefined: it is told at the end. */
const KNOWING = [
  ['before PostgreSQL knows anything of the ledger', ''],
  ['by what PostgreSQL knew of a small ledger', 'ANALYZE ledger_records'],
  ['by what PostgreSQL knows of this ledger', undefined],
] as const;

interface Ledger {
  tenantId: string;
  stream: string;
  agentId: string;
  calls: number;
}

const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;

/** Appends calls: a decision each, and its outcome behind it unless it is still open. */
async function append(ledger: Ledger, calls: number, isOpen = false): Promise<void> {
  const { tenantId, stream, agentId, calls: before } = ledger;
  await test.superuser.query(
    `INSERT INTO ledger_records (tenant_id, received_at, position, stream, epoch, seq, type, id,
       subject_id, agent_id, policy_result, event_time, hash, prev_hash, bytes)
     SELECT $1, now(), 2 * n + o, $2, 1, 2 * n + o, CASE o WHEN 0 THEN 'decision' ELSE 'outcome' END,
       ('00000000-0000-7000-8000-' || lpad((2 * n + o)::text, 12, '0'))::uuid,
       CASE o WHEN 1 THEN ('00000000-0000-7000-8000-' || lpad((2 * n)::text, 12, '0'))::uuid END,
       CASE o WHEN 0 THEN $3::uuid END, CASE o WHEN 0 THEN 'allow' END,
       $4::timestamptz + n * interval '1 ms', repeat('a', 64), repeat('b', 64),
       convert_to(repeat('c', 700), 'utf8')
     FROM generate_series($5::int, $6::int) n, generate_series(0, $7::int) o`,
    [tenantId, stream, agentId, new Date(BEGAN), before + 1, before + calls, isOpen ? 0 : 1],
  );
  ledger.calls += calls;
}

/** A connection of the application's pool that keeps what it knows of the tables. */
async function onConnection(
  tenantId: string,
  work: (client: PoolClient) => Promise<void>,
): Promise<void> {
  const client = await test.connections.pool.connect();
  try {
    await client.query(`SELECT set_config('app.tenant_id', $1, false)`, [tenantId]);
    await work(client);
  } finally {
    client.release(true);
  }
}

/** The query that `ask` would make. */
async function queryOf(
  tenantId: string,
  ask: (tx: TenantTransaction) => Promise<unknown>,
): Promise<Prisma.Sql> {
  let asked: Prisma.Sql | undefined;
  const db = {
    $queryRaw: async (strings: TemplateStringsArray, ...values: unknown[]) => {
      asked = Prisma.sql(strings, ...values);
      return [];
    },
  };
  await ask({ db, scope: systemScope(tenantId) } as unknown as TenantTransaction);
  if (!asked) throw new Error('nothing was asked');
  return asked;
}

interface PlanNode {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

/** How many rows of tables a query reads, used or not. */
async function countRead(client: PoolClient, { text, values }: Prisma.Sql): Promise<number> {
  const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>({
    text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values: [...values],
  });
  const count = (node: PlanNode): number => {
    const own = node['Relation Name']
      ? node['Actual Rows'] +
        (node['Rows Removed by Filter'] ?? 0) +
        (node['Rows Removed by Index Recheck'] ?? 0)
      : 0;
    return (node.Plans ?? []).map(count).reduce((a, b) => a + b, own * node['Actual Loops']);
  };
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
  if (!plan) throw new Error('no plan');
  return count(plan);
}

/** Removes all records, and what PostgreSQL knows of them. */
async function forget(): Promise<void> {
  await test.superuser.query('TRUNCATE ledger_records');
  await test.superuser.query(
    `DELETE FROM pg_statistic WHERE starelid::regclass::text LIKE '%ledger_records%'`,
  );
}

const newLedger = (): Ledger => ({
  tenantId: randomUUID(),
  stream: randomUUID(),
  agentId: randomUUID(),
  calls: 0,
});

const pageOf = ({ tenantId }: Ledger, to?: Date) =>
  queryOf(tenantId, (tx) =>
    auditStore(tx).listEvents({ policyResult: 'allow', to }, { limit: PAGE, offset: 0 }),
  );

const selectionOf = ({ tenantId, agentId }: Ledger) => {
  const request: EvidenceRequest = {
    id: randomUUID(),
    from: new Date(BEGAN),
    to: new Date(BEGAN + PAGE),
    agentIds: [agentId],
    workflowSessionId: null,
    includePayloads: false,
    anchorSizes: [],
  };
  return queryOf(tenantId, (tx) => listSelected(tx, request, { start: 0, end: 10 }, PAGE));
};

const decisionOf = ({ tenantId, stream }: Ledger, ...positions: number[]) =>
  queryOf(tenantId, (tx) =>
    auditStore(tx).findStarted(positions.map((position) => ({ id: idOf(2), stream, position }))),
  );

/** Appends starts of the answer to the first call, which is still open, at these positions. */
const startAnswer = ({ tenantId, stream }: Ledger, from: number, to = from) =>
  test.superuser.query(
    `INSERT INTO ledger_records (tenant_id, received_at, position, stream, epoch, seq, type, id,
       subject_id, event_time, hash, prev_hash, bytes)
     SELECT $1, now(), n, $2, 1, n, 'answer_started', gen_random_uuid(), $5, $6, repeat('a', 64),
       repeat('b', 64), 'c'
     FROM generate_series($3::int, $4::int) n`,
    [tenantId, stream, from, to, idOf(2), new Date(BEGAN)],
  );

const recordOf = ({ tenantId, stream }: Ledger, column: 'id' | 'subject_id') =>
  Prisma.sql`SELECT bytes FROM ${recordsOf(tenantId, column, Prisma.sql`${idOf(2 * CALLS)}::uuid`)} r
    WHERE stream = ${stream}::uuid ORDER BY position LIMIT 1`;

describe('looking for records by what they are about', () => {
  it.each(KNOWING)('does not read a stream again for each record, %s', async (_, early) => {
    const ledger = newLedger();
    await onConnection(ledger.tenantId, async (client) => {
      // An index that had few entries stays small in the eyes of a connection that saw it then.
      await append(ledger, 20, true);
      await countRead(client, await pageOf(ledger));
      await append(ledger, 20);
      await startAnswer(ledger, STARTED_AT);
      if (early) await test.superuser.query(early);
      await append(ledger, CALLS);
      if (early === undefined) await test.superuser.query('ANALYZE ledger_records');

      expect(await countRead(client, await pageOf(ledger))).toBeLessThan(MOST);
      expect(await countRead(client, await selectionOf(ledger))).toBeLessThan(MOST);
      const decision = await decisionOf(ledger, STARTED_AT);
      expect(await countRead(client, decision)).toBeLessThan(10);
      const { text, values } = decision;
      const { rows } = await client.query({ text, values: [...values] });
      expect(rows).toMatchObject([{ id: idOf(2), begun_at: `${STARTED_AT}` }]);
      for (const column of ['id', 'subject_id'] as const)
        expect(await countRead(client, recordOf(ledger, column))).toBeLessThan(10);
    });
    await forget();
  });
});

describe('a call about which a data plane writes without end', () => {
  const [FIRST, LAST] = [100_000, 103_000];
  const LAST_PAGE = Array.from({ length: 50 }, (_, n) => LAST - n);
  /** A start, an outcome and a decision of each, and some. */
  const FEW = 10;

  it.each(KNOWING)('is not read to its end for each page of the stream, %s', async (_, early) => {
    const ledger = newLedger();
    await onConnection(ledger.tenantId, async (client) => {
      await append(ledger, 20, true);
      await startAnswer(ledger, STARTED_AT);
      await countRead(client, await decisionOf(ledger, STARTED_AT));
      if (early) await test.superuser.query(early);
      await append(ledger, CALLS);
      await startAnswer(ledger, FIRST, LAST);
      if (early === undefined) await test.superuser.query('ANALYZE ledger_records');
      for (const [page, started] of [
        [[STARTED_AT], [`${STARTED_AT}`]],
        [[STARTED_AT, FIRST], [`${STARTED_AT}`]],
        [LAST_PAGE, []],
      ] as const) {
        const asked = await decisionOf(ledger, ...page);
        expect(await countRead(client, asked)).toBeLessThan(FEW);
        const { rows } = await client.query({ text: asked.text, values: [...asked.values] });
        expect(rows.map(({ begun_at }) => begun_at)).toEqual(started);
      }
    });
    await forget();
  });

  it('does not have the whole ledger read for others, where nearly all records are about it', async () => {
    const ledger = newLedger();
    const { tenantId, stream } = ledger;
    await onConnection(tenantId, async (client) => {
      await append(ledger, 20, true);
      await startAnswer(ledger, FIRST, LAST);
      await test.superuser.query('ANALYZE ledger_records');
      const starts = Array.from({ length: 19 }, (_, n) => ({
        id: idOf(4 + 2 * n),
        stream,
        position: n,
      }));
      const asked = await queryOf(tenantId, (tx) => auditStore(tx).findStarted(starts));
      expect(await countRead(client, asked)).toBeLessThan(3 * FEW);
    });
    await forget();
  });

  it('is not read to its end for a page of the list', async () => {
    const ledger = newLedger();
    await onConnection(ledger.tenantId, async (client) => {
      await append(ledger, 20, true);
      await startAnswer(ledger, STARTED_AT);
      await append(ledger, CALLS);
      await startAnswer(ledger, FIRST, LAST);
      await test.superuser.query('ANALYZE ledger_records');
      const asked = await pageOf(ledger, new Date(BEGAN + 20));
      expect(await countRead(client, asked)).toBeLessThan(20 * FEW);
      const { rows } = await client.query({ text: asked.text, values: [...asked.values] });
      expect(rows.filter(({ started_bytes }) => started_bytes !== null)).toHaveLength(1);
    });
    await forget();
  });
});

describe('an id that a data plane repeats', () => {
  it('is looked up once for a page of events', async () => {
    const ledger = newLedger();
    const { tenantId, stream, agentId } = ledger;
    const outcomes = 400;
    await onConnection(tenantId, async (client) => {
      await test.superuser.query(
        `INSERT INTO ledger_records (tenant_id, received_at, position, stream, epoch, seq, type, id,
           subject_id, agent_id, policy_result, event_time, hash, prev_hash, bytes)
         SELECT $1, now(), n, $2, 1, n, CASE WHEN n <= $5 THEN 'decision' ELSE 'outcome' END,
           CASE WHEN n <= $5 THEN $7 ELSE gen_random_uuid() END, CASE WHEN n > $5 THEN $7::uuid END,
           CASE WHEN n <= $5 THEN $3::uuid END, CASE WHEN n <= $5 THEN 'allow' END,
           $4::timestamptz + n * interval '1 ms', repeat('a', 64), repeat('b', 64),
           convert_to(n::text, 'utf8')
         FROM generate_series(1, $6::int) n`,
        [tenantId, stream, agentId, new Date(BEGAN), PAGE, PAGE + outcomes, idOf(1)],
      );
      const page = await pageOf(ledger);
      expect(await countRead(client, page)).toBeLessThan(5 * (PAGE + outcomes));
      const { rows } = await client.query({ text: page.text, values: [...page.values] });
      expect(rows).toHaveLength(PAGE);
      // The newest one.
      for (const row of rows) expect(`${row.outcome_bytes}`).toBe(`${PAGE + outcomes}`);
    });
    await test.superuser.query('TRUNCATE ledger_records');
  });
});

describe('the list of what data loss prevention blocked', () => {
  const BLOCKS = 5;

  /** Appends denials, the first of them by data loss prevention. */
  const deny = ({ tenantId, stream, agentId }: Ledger, from: number, to: number) =>
    test.superuser.query(
      `INSERT INTO ledger_records (tenant_id, received_at, position, stream, epoch, seq, type, id,
         agent_id, policy_result, event_time, hash, prev_hash, bytes)
       SELECT $1, now(), n, $2, 1, n, 'decision', gen_random_uuid(), $3, 'deny',
         $4::timestamptz + n * interval '1 ms', repeat('a', 64), repeat('b', 64),
         convert_to('{"action":"read","dlp_action":' || CASE WHEN n <= $7 THEN '"blocked"' ELSE 'null' END
           || ',"target":"' || repeat('c', 700) || '"}', 'utf8')
       FROM generate_series($5::int, $6::int) n`,
      [tenantId, stream, agentId, new Date(BEGAN), from, to, BLOCKS],
    );

  it.each(KNOWING)('reads none of the other denials, %s', async (_, early) => {
    const ledger = newLedger();
    await onConnection(ledger.tenantId, async (client) => {
      const asked = await queryOf(ledger.tenantId, (tx) =>
        auditStore(tx).listEvents({ policyResult: 'dlp_block' }, { limit: PAGE, offset: 0 }),
      );
      const counted = await queryOf(ledger.tenantId, (tx) =>
        auditStore(tx).countEvents({ policyResult: 'dlp_block' }, 10_000),
      );
      await deny(ledger, 1, 20);
      await countRead(client, asked);
      if (early) await test.superuser.query(early);
      await deny(ledger, 21, CALLS);
      if (early === undefined) await test.superuser.query('ANALYZE ledger_records');
      for (const query of [asked, counted]) {
        expect(await countRead(client, query)).toBeLessThan(10 * BLOCKS);
      }
      const { rows } = await client.query({ text: asked.text, values: [...asked.values] });
      expect(rows.map(({ position }) => Number(position))).toEqual([5, 4, 3, 2, 1]);
    });
    await forget();
  });
});

describe.each([
  { of: 'policies', kind: POLICY_CHANGES, change: 'policy_updated', other: 'policy_change_x' },
  {
    ...{ of: 'data planes', kind: PLANE_CHANGES },
    ...{ change: 'data_plane_updated', other: 'data_plane_token_renewed' },
  },
])('the newest records about $of', ({ kind, change, other }) => {
  const CHANGES = 5;
  const ADMIN = 2_000;
  const id = idOf(7);

  /** Appends admin records; the first are changes of one row. */
  const act = ({ tenantId, stream }: Ledger, from: number, to: number) =>
    test.superuser.query(
      `INSERT INTO ledger_records (tenant_id, received_at, position, stream, epoch, seq, type, id,
         event_time, hash, prev_hash, bytes)
       SELECT $1, now(), n, $2, 1, n, 'admin_action', gen_random_uuid(),
         $3::timestamptz + n * interval '1 ms', repeat('a', 64), repeat('b', 64),
         convert_to('{"action":"' || CASE WHEN n <= $6 THEN $8 ELSE $9 END
           || '","details":"' || repeat('c', 700) || '","target":"' || $7 || '"}', 'utf8')
       FROM generate_series($4::int, $5::int) n`,
      [tenantId, stream, new Date(BEGAN), from, to, CHANGES, `${kind.target}${id}`, change, other],
    );

  it.each(KNOWING)('are found without the other admin records, %s', async (_, early) => {
    const ledger = newLedger();
    await onConnection(ledger.tenantId, async (client) => {
      const asked = newestSince(ledger.tenantId, kind, [id], 0n);
      await act(ledger, 1, 20);
      await countRead(client, asked);
      if (early) await test.superuser.query(early);
      await act(ledger, 21, ADMIN);
      if (early === undefined) await test.superuser.query('ANALYZE ledger_records');
      expect(await countRead(client, asked)).toBeLessThan(10 * CHANGES);
      const { rows } = await client.query({ text: asked.text, values: [...asked.values] });
      expect(rows.map(({ position }) => Number(position))).toEqual([CHANGES]);
    });
    await forget();
  });
});

describe('the records that end data planes and tokens', () => {
  it('are found without the other admin records', async () => {
    const { tenantId, stream } = newLedger();
    const ends = 5;
    await onConnection(tenantId, async (client) => {
      const asked = await queryOf(tenantId, readEndings);
      await test.superuser.query(
        `INSERT INTO ledger_records (tenant_id, received_at, position, stream, epoch, seq, type, id,
           event_time, hash, prev_hash, bytes)
         SELECT $1, now(), n, $2, 1, n, 'admin_action', gen_random_uuid(), now(), repeat('a', 64),
           repeat('b', 64), convert_to('{"action":"data_plane_token_' ||
             CASE WHEN n <= $3 THEN 'revoked' ELSE 'renewed' END || '"}', 'utf8')
         FROM generate_series(1, 2000) n`,
        [tenantId, stream, ends],
      );
      expect(await countRead(client, asked)).toBeLessThan(10 * ends);
      const { rows } = await client.query({ text: asked.text, values: [...asked.values] });
      expect(rows).toHaveLength(ends);
    });
    await test.superuser.query('TRUNCATE ledger_records');
  });
});
