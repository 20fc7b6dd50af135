/**
 * Locks that serialise the transactions of one tenant, across replicas: two that count what a tenant
 * may have a limited number of must not both take the last place.
 */
import type { Prisma } from '../generated/client.ts';

export type LockedInTenant =
  | 'administrators'
  | 'blast-radius'
  | 'bundles'
  | 'change-requests'
  | 'credentials'
  | 'data-planes'
  | 'delegations'
  | 'enrollment'
  | 'evidence'
  | 'exceptions'
  | 'inbound-rules'
  | 'pinned-tools'
  | 'policies'
  | 'policy-records'
  | 'policy-sizes'
  | 'rate-limits'
  | 'roles'
  | 'unregistered'
  | 'workflow-sessions'
  | 'workflows';

/** Waits for other transactions of the tenant that hold the lock, and holds it until this one ends. */
export async function lockInTenant(
  db: Prisma.TransactionClient,
  what: LockedInTenant,
  tenantId: string,
): Promise<void> {
  await db.$queryRaw`
    SELECT pg_advisory_xact_lock(hashtextextended(${`${what}/${tenantId}`}, 0))::text`;
}

/** Less than others wait for a lock (tenant-scope.ts), so that these are not refused. */
const HELD_IDLE = '3s';

/**
 * Bounds how long the transaction may keep its locks without a statement: a process that hangs would
 * keep the tenant's other changes waiting for a minute, its kill switch too. PostgreSQL ends the
 * session then, and nothing of it is stored. Called before a lock that all changes of the tenant
 * need; from there to the commit nothing but the database may be waited for.
 */
export async function boundHeldLocks(db: Prisma.TransactionClient): Promise<void> {
  await db.$queryRaw`
    SELECT set_config('idle_in_transaction_session_timeout', ${HELD_IDLE}, true)`;
}

/** The same, as a column of another statement. */
export const BOUND_HELD_LOCKS = `set_config('idle_in_transaction_session_timeout', '${HELD_IDLE}', true)`;
