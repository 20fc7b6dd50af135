import { SYSTEM_ACTOR, type TenantDatabase } from './tenant-scope.ts';

/** Tenant ids per query. */
const PAGE = 500;

/**
 * Runs `work` for one tenant after the other, without holding the whole list.
 *
 * @param signal ends the loop before the next tenant
 */
export async function forEachTenant(
  db: Pick<TenantDatabase, 'inPlatform'>,
  signal: AbortSignal,
  work: (tenantId: string) => Promise<void>,
): Promise<void> {
  let after: string | undefined;
  for (;;) {
    const where = after === undefined ? {} : { id: { gt: after } };
    const tenants = await db.inPlatform(SYSTEM_ACTOR, (tx) =>
      tx.db.tenant.findMany({ where, select: { id: true }, orderBy: { id: 'asc' }, take: PAGE }),
    );
    for (const { id } of tenants) {
      if (signal.aborted) return;
      await work(id);
    }
    after = tenants.at(-1)?.id;
    if (tenants.length < PAGE) return;
  }
}
