import type { TenantTransaction } from '../database/tenant-scope.ts';
import type { Prisma } from '../generated/client.ts';
import { pageTooLarge } from './schemas.ts';

/** A page is one answer, and in memory as a whole; that of events has the same limit. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

/**
 * Asks before a page of large rows is read.
 *
 * @param sizes selects the `bytes` of the page's rows, in their order
 * @param what the rows are, for the caller
 * @throws AppError VALIDATION_FAILED that says how many fit
 */
export async function requireFits(
  db: TenantTransaction['db'],
  sizes: Prisma.Sql,
  what: string,
): Promise<void> {
  const [row] = await db.$queryRaw<{ asked: bigint; fitting: bigint }[]>`
    SELECT count(*) AS asked, count(*) FILTER (WHERE so_far <= ${MAX_PAGE_BYTES}) AS fitting
    FROM (
      SELECT sum(bytes) OVER (ROWS UNBOUNDED PRECEDING) AS so_far FROM (${sizes}) AS page
    ) AS counted`;
  const fitting = Number(row?.fitting ?? 0);
  if (fitting < Number(row?.asked ?? 0)) throw pageTooLarge(fitting, what);
}
