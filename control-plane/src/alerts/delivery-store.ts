/**
 * The queue of alerts to post: open alerts that were not delivered. It goes by the database's clock,
 * which is the same for all replicas.
 */

import type { Severity } from '@governance/shared/ledger/ledger-record';
import { CLOCK_JUMP_MS } from '@governance/shared/time/clock-jumps';
import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { Alert, Prisma } from '../platform/generated/client.ts';
import { type AlertView, toAlertView } from './alert-view.ts';
import {
  type DeliveryStatus,
  GIVE_UP_MS,
  GIVE_UP_TRIED_MS,
  MAX_ATTEMPTS,
} from './delivery-status.ts';

export interface DueAlert {
  id: string;
  /** Counts from 1. */
  attempt: number;
  view: AlertView;
}

const FIRST_RETRY_SECONDS = 10;
const BATCH = 20;
const GIVE_UP_AFTER = `${GIVE_UP_MS / 1000} seconds`;
const GIVE_UP_TRIED_AFTER = `${GIVE_UP_TRIED_MS / 1000} seconds`;
/** An attempt that is further ahead was planned before the clock was put back. */
const CLOCK_JUMP = `${CLOCK_JUMP_MS / 1000} seconds`;

/**
 * Claims alerts to post, each until its next attempt, so that two replicas do not post the same one
 * at once.
 *
 * @returns the claimed alerts, and whether others wait for a later attempt
 */
export async function claimAlerts(
  { db, scope: { tenantId } }: TenantTransaction,
  severities: readonly Severity[],
): Promise<{ alerts: DueAlert[]; waiting: boolean }> {
  const claimed = await db.$queryRaw<{ id: string }[]>`
    UPDATE alerts SET delivery_attempts = delivery_attempts + 1, attempted_at = now(),
      deliver_after = now()
        + ${FIRST_RETRY_SECONDS} * power(2, delivery_attempts) * interval '1 second'
    WHERE tenant_id = ${tenantId}::uuid AND id IN (
      SELECT id FROM alerts
      WHERE tenant_id = ${tenantId}::uuid AND delivered_at IS NULL AND status = 'open'
        AND (deliver_after <= now() OR
          coalesce(attempted_at, deliver_after) > now() + ${CLOCK_JUMP}::interval)
        AND deliver_after > now() - ${GIVE_UP_TRIED_AFTER}::interval
        AND (delivery_attempts > 0 OR deliver_after > now() - ${GIVE_UP_AFTER}::interval)
        AND delivery_attempts < ${MAX_ATTEMPTS} AND severity = ANY (${severities}::text[])
      ORDER BY deliver_after LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
    ) RETURNING id`;
  const where = { tenantId, id: { in: claimed.map(({ id }) => id) } };
  const alerts = claimed.length === 0 ? [] : await db.alert.findMany({ where });
  if (alerts.length > 0) {
    return { waiting: true, alerts: alerts.map(toDueAlert) };
  }
  const later = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM alerts
    WHERE tenant_id = ${tenantId}::uuid AND delivered_at IS NULL AND status = 'open'
      AND deliver_after > now() AND delivery_attempts < ${MAX_ATTEMPTS}
      AND severity = ANY (${severities}::text[])
    LIMIT 1`;
  return { alerts: [], waiting: later.length > 0 };
}

function toDueAlert(row: Parameters<typeof toAlertView>[0]): DueAlert {
  return { id: row.id, attempt: row.deliveryAttempts, view: toAlertView(row) };
}

/** Records the error of alerts that are retried or given up. */
export async function markFailed(
  { db, scope: { tenantId } }: TenantTransaction,
  failures: readonly { id: string; error: string }[],
): Promise<void> {
  for (const { id, error } of failures) {
    await db.$executeRaw`
      UPDATE alerts SET delivery_error = ${error}
      WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid`;
  }
}

/** Alerts posted at least once, newest first, and the time by the database's clock. */
export async function listDeliveries(
  { db, scope: { tenantId } }: TenantTransaction,
  status: DeliveryStatus | undefined,
  page: Page,
): Promise<{ alerts: Alert[]; total: number; at: Date }> {
  const [clock] = await db.$queryRaw<{ at: Date }[]>`SELECT now() AS at`;
  if (!clock) throw new Error('the database told no time');
  const { at } = clock;
  const retries: Prisma.AlertWhereInput = {
    status: 'open',
    deliveryAttempts: { lt: MAX_ATTEMPTS },
    deliverAfter: { gt: new Date(at.getTime() - GIVE_UP_TRIED_MS) },
  };
  const where: Prisma.AlertWhereInput = {
    tenantId,
    attemptedAt: { not: null },
    ...(status === 'delivered' && { deliveredAt: { not: null } }),
    ...(status === 'retrying' && { deliveredAt: null, ...retries }),
    ...(status === 'failed' && { deliveredAt: null, NOT: retries }),
  };
  const alerts = await db.alert.findMany({
    where,
    orderBy: [{ attemptedAt: 'desc' }, { id: 'asc' }],
    ...rowsOf(page),
  });
  return { alerts, total: await db.alert.count({ where }), at };
}

export async function markDelivered(
  { db, scope: { tenantId } }: TenantTransaction,
  ids: string[],
): Promise<void> {
  if (ids.length === 0) return;
  // Raw SQL: Prisma would change updated_at, and the alert itself did not change.
  await db.$executeRaw`
    UPDATE alerts SET delivered_at = now()
    WHERE tenant_id = ${tenantId}::uuid AND id = ANY (${ids}::uuid[])`;
}
