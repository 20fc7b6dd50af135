import { Prisma } from '../platform/generated/client.ts';

/**
 * The rows of ledger_records that have an id, or are about one, for a FROM: `type`, `stream`,
 * `position`, `received_at` and `bytes`. They may belong to several streams; the caller filters and
 * orders outside.
 *
 * OFFSET 0 keeps those conditions outside. Inside, and where PostgreSQL knows nothing of a
 * partition yet (a new month, or after its crash), the index of a stream or of positions looks as
 * good as the one of the id, and each of a page's look-ups reads the whole stream. Proven by
 * look-up-plans.pg.test.ts.
 *
 * @param column `id`, or `subject_id` for what is about it
 */
export function recordsOf(
  tenantId: string,
  column: 'id' | 'subject_id',
  id: Prisma.Sql,
): Prisma.Sql {
  const name = column === 'id' ? Prisma.sql`l.id` : Prisma.sql`l.subject_id`;
  return Prisma.sql`(
    SELECT l.type, l.stream, l.position, l.received_at, l.bytes FROM ledger_records l
    WHERE l.tenant_id = ${tenantId}::uuid AND ${name} = ${id} OFFSET 0)`;
}
