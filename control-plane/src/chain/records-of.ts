import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { Prisma } from '../platform/generated/client.ts';

/** What `LedgerRow` has of a row. */
const COLUMNS = Prisma.sql`l.position, l.type, l.id, l.agent_id, l.policy_result, l.event_time,
  l.received_at, l.stream, l.epoch, l.seq, l.hash, l.prev_hash, l.bytes`;

/**
 * SQL for a FROM clause: the rows of ledger_records with an id, or about the record with that id. They
 * may belong to several streams; the caller filters and orders outside.
 *
 * OFFSET 0 keeps PostgreSQL from moving the caller's conditions into the subquery. There, while a
 * partition has no statistics (in a new month, or after a crash), the planner may prefer the index
 * of streams or of positions to that of ids, and each look-up of a page would read the whole
 * stream. Proven by look-up-plans.pg.test.ts.
 *
 * @param column `id`, or `subject_id` for records about it
 */
export function recordsOf(
  tenantId: string,
  column: 'id' | 'subject_id',
  id: Prisma.Sql,
): Prisma.Sql {
  const name = column === 'id' ? Prisma.sql`l.id` : Prisma.sql`l.subject_id`;
  return Prisma.sql`(
    SELECT ${COLUMNS} FROM ledger_records l
    WHERE l.tenant_id = ${tenantId}::uuid AND ${name} = ${id} OFFSET 0)`;
}

/**
 * SQL for a FROM clause: the first or the newest record of a type that a data plane wrote about the
 * record with an id, in the order of receipt. It is one entry of an index, however many there are.
 *
 * BETWEEN, and the order by what it bounds, leave PostgreSQL that index alone: for an equal id it
 * knows the order by position to be the same, and may read the index of positions, which is the
 * whole ledger. Proven by look-up-plans.pg.test.ts.
 */
export function recordAbout(
  tenantId: string,
  which: 'first' | 'newest',
  of: { type: LedgerRecord['type']; id: Prisma.Sql; stream: Prisma.Sql },
): Prisma.Sql {
  const order =
    which === 'first'
      ? Prisma.sql`l.subject_id, l.position`
      : Prisma.sql`l.subject_id DESC, l.position DESC`;
  return Prisma.sql`(
    SELECT ${COLUMNS} FROM ledger_records l
    WHERE l.tenant_id = ${tenantId}::uuid AND l.subject_id BETWEEN ${of.id} AND ${of.id}
      AND l.stream = ${of.stream} AND l.type = ${of.type}
    ORDER BY ${order} LIMIT 1)`;
}
