/**
 * Locks that serialise the transactions of one tenant, across replicas: two that count what a tenant
 * may have a limited number of must not both take the last place.
 */
import type { Prisma } from './generated/client.ts';

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
