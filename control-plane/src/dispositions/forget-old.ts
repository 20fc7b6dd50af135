import { DAY_MS } from '@governance/shared/time/durations';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';

const KEPT_MS = DAY_MS;
/** Limits per agent and per tenant; the newest are kept. */
const MAX_OF_AGENT = 1_000;
const MAX_OF_TENANT = 100_000;

const TABLES = ['dispositions', 'detector_states', 'dlp_sightings'].map((name) => Prisma.raw(name));

/**
 * What was written while the clock was ahead counts as written just before now: otherwise it would
 * be the newest, and push out all that is new, until the time that the clock showed.
 */
export async function dateBeforeNow({ db, scope }: TenantTransaction, now: Date): Promise<void> {
  const present = new Date(now.getTime() - 1);
  for (const table of TABLES) {
    await db.$executeRaw`
      UPDATE ${table} SET updated_at = ${present}
      WHERE tenant_id = ${scope.tenantId}::uuid AND updated_at > ${now}`;
  }
}

/** Deletes rows that no detector reads any more. */
export async function forgetOld({ db, scope }: TenantTransaction, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  for (const table of TABLES) {
    await db.$executeRaw`
      DELETE FROM ${table} WHERE tenant_id = ${scope.tenantId}::uuid AND updated_at < ${before}`;
  }
}

/** Deletes the oldest rows beyond the limits. */
export async function keepWithinBounds({ db, scope }: TenantTransaction): Promise<void> {
  const { tenantId } = scope;
  await db.$executeRaw`
    DELETE FROM detector_states WHERE tenant_id = ${tenantId}::uuid
      AND (detector, subject, item) IN (
        SELECT detector, subject, item FROM detector_states WHERE tenant_id = ${tenantId}::uuid
        ORDER BY updated_at DESC OFFSET ${MAX_OF_TENANT})`;
  await db.$executeRaw`
    DELETE FROM dlp_sightings WHERE tenant_id = ${tenantId}::uuid
      AND (agent_id, seen_at, event_id, pattern) IN (
        SELECT agent_id, seen_at, event_id, pattern FROM dlp_sightings
        WHERE tenant_id = ${tenantId}::uuid
        ORDER BY updated_at DESC OFFSET ${MAX_OF_TENANT})`;
  // With no more rows than one agent's limit, no limit is exceeded.
  if ((await db.disposition.count({ where: { tenantId } })) <= MAX_OF_AGENT) return;
  await db.$executeRaw`
    DELETE FROM dispositions d USING (
      SELECT requester_key, action_key, session_id,
        row_number() OVER (PARTITION BY agent_id ORDER BY updated_at DESC) AS of_agent,
        row_number() OVER (ORDER BY updated_at DESC) AS of_tenant
      FROM dispositions WHERE tenant_id = ${tenantId}::uuid
    ) o
    WHERE d.tenant_id = ${tenantId}::uuid AND d.requester_key = o.requester_key
      AND d.action_key = o.action_key AND d.session_id = o.session_id
      AND (o.of_agent > ${MAX_OF_AGENT} OR o.of_tenant > ${MAX_OF_TENANT})`;
}
