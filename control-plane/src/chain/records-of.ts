import { Prisma } from '../platform/generated/client.ts';

/**
 * SQL for a FROM clause: the rows of ledger_records with an id, or about the record with that id,
 * with what `LedgerRow` has of them. They may belong to several streams; the caller filters and
 * orders outside.
 *
 * OFFSET 0 keeps PostgreSQL from moving the caller's conditions into the subquery. There, while a
 * partition has no statistics (in a new month, or after a crash), the planner may prefer the index
 * of streams or of positions to that of ids, and each look-up of a page would read the whole
 * stream. Proven by look-up-plans.pg.test.ts.
 *
 * @param column `id`, or `subject_id` for records about it
 * @param most of them, where whoever writes many must not make each look-up long. An index has equal
 *   entries in the order of their rows, so these are the first that were received; of rows that
 *   several data planes write at once, nearly so. LIMIT keeps conditions out like OFFSET 0. BETWEEN
 *   is estimated without statistics, by which the planner would read the whole ledger for each
 *   record where nearly all are about one.
 */
export function recordsOf(
  tenantId: string,
  column: 'id' | 'subject_id',
  id: Prisma.Sql,
  most?: number,
): Prisma.Sql {
  const name = column === 'id' ? Prisma.sql`l.id` : Prisma.sql`l.subject_id`;
  const found =
    most === undefined
      ? Prisma.sql`${name} = ${id} OFFSET 0`
      : Prisma.sql`${name} BETWEEN ${id} AND ${id} LIMIT ${most}`;
  return Prisma.sql`(
    SELECT l.position, l.type, l.id, l.agent_id, l.policy_result, l.event_time, l.received_at,
      l.stream, l.epoch, l.seq, l.hash, l.prev_hash, l.bytes FROM ledger_records l
    WHERE l.tenant_id = ${tenantId}::uuid AND ${found})`;
}
