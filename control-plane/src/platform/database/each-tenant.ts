import { SYSTEM_ACTOR, type TenantDatabase } from './tenant-scope.ts';

/** Tenant ids per query. */
const PAGE = 500;

/**
 * Runs `work` for one tenant after the other, without holding the whole list. One tenant's failure
 * does not stop the others.
 *
 * @param signal ends the loop before the next tenant
 * @throws the first failure, after all were served
 */
export async function forEachTenant(
  db: Pick<TenantDatabase, 'inPlatform'>,
  signal: AbortSignal,
  work: (tenantId: string) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const tryTo = async (id: string) => {
    try {
      await work(id);
    } catch (error) {
      // Kept is the first: with many tenants a fault of all would keep very many.
      if (failures.length === 0) failures.push(error);
    }
  };
  let after: string | undefined;
  for (;;) {
    const where = after === undefined ? {} : { id: { gt: after } };
    const tenants = await db.inPlatform(SYSTEM_ACTOR, (tx) =>
      tx.db.tenant.findMany({ where, select: { id: true }, orderBy: { id: 'asc' }, take: PAGE }),
    );
    for (const { id } of tenants) {
      if (signal.aborted) break;
      await tryTo(id);
    }
    after = tenants.at(-1)?.id;
    if (signal.aborted || tenants.length < PAGE) break;
  }
  if (failures.length > 0) throw failures[0];
}
