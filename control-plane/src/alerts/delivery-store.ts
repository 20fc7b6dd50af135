/** The queue of alerts to post: rows of alerts that are open and were not delivered. */
import type { Severity } from '@governance/shared/ledger-record';
import type { TenantTransaction } from '../platform/tenant-scope.ts';
import { type AlertView, toAlertView } from './alert-view.ts';

export interface DueAlert {
  id: string;
  /** Counts from 1. */
  attempt: number;
  view: AlertView;
}

/** The last one comes about three hours after the first. */
export const MAX_ATTEMPTS = 11;
const FIRST_RETRY_SECONDS = 10;
const BATCH = 20;
/** After so long an alert is not posted any more; it stays in the list. */
const GIVE_UP_AFTER = '24 hours';

/**
 * Claims alerts to post, each until its next attempt, so that two replicas do not post the same one
 * at once.
 *
 * @returns them, and whether others wait for a later attempt
 */
export async function claimAlerts(
  { db, scope: { tenantId } }: TenantTransaction,
  { severities, now }: { severities: Severity[]; now: Date },
): Promise<{ alerts: DueAlert[]; waiting: boolean }> {
  const claimed = await db.$queryRaw<{ id: string }[]>`
    UPDATE alerts SET delivery_attempts = delivery_attempts + 1,
      deliver_after = ${now}::timestamptz
        + ${FIRST_RETRY_SECONDS} * power(2, delivery_attempts) * interval '1 second'
    WHERE tenant_id = ${tenantId}::uuid AND id IN (
      SELECT id FROM alerts
      WHERE tenant_id = ${tenantId}::uuid AND delivered_at IS NULL AND status = 'open'
        AND deliver_after <= ${now}::timestamptz
        AND deliver_after > ${now}::timestamptz - ${GIVE_UP_AFTER}::interval
        AND delivery_attempts < ${MAX_ATTEMPTS} AND severity = ANY (${severities}::text[])
      ORDER BY deliver_after LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
    ) RETURNING id`;
  const where = { tenantId, id: { in: claimed.map(({ id }) => id) } };
  const alerts = claimed.length === 0 ? [] : await db.alert.findMany({ where });
  if (alerts.length > 0) {
    return { waiting: true, alerts: alerts.map(toDueAlert) };
  }
  const later = await db.alert.findFirst({
    where: {
      tenantId,
      deliveredAt: null,
      status: 'open',
      deliverAfter: { gt: now },
      deliveryAttempts: { lt: MAX_ATTEMPTS },
      severity: { in: severities },
    },
    select: { id: true },
  });
  return { alerts: [], waiting: later !== null };
}

function toDueAlert(row: Parameters<typeof toAlertView>[0]): DueAlert {
  return { id: row.id, attempt: row.deliveryAttempts, view: toAlertView(row) };
}

export async function markDelivered(
  { db, scope: { tenantId } }: TenantTransaction,
  ids: string[],
  now: Date,
): Promise<void> {
  if (ids.length === 0) return;
  // Raw SQL: Prisma would change updated_at, and the alert itself did not change.
  await db.$executeRaw`
    UPDATE alerts SET delivered_at = ${now}
    WHERE tenant_id = ${tenantId}::uuid AND id = ANY (${ids}::uuid[])`;
}
