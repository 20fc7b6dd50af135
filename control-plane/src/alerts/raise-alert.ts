import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import type { Severity } from '@governance/shared/ledger/ledger-record';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

/** The audit action that the event stream shows as an alert. */
export const ALERT_RAISED = 'alert_raised';

export interface NewAlert {
  /** One of the specification's alert names, in capitals. */
  alertType: string;
  severity: Severity;
  agentId: string | null;
  title: string;
  /** JSON values only. */
  details: Record<string, unknown>;
  /** While an alert with this key is unresolved, no other is raised; null: always raise. */
  dedupeKey: string | null;
  now: Date;
}

/**
 * Raises one of the control plane's own alerts, in the transaction of the change that caused it.
 * Data planes' alerts arrive as ledger records (alert-projection.ts).
 *
 * @returns the alert's id, or undefined when one with its key is still unresolved
 */
export async function raiseAlert(
  tx: TenantTransaction,
  alert: NewAlert,
): Promise<string | undefined> {
  const id = uuidv7(alert.now.getTime());
  const { count } = await tx.db.alert.createMany({
    data: [
      {
        tenantId: tx.scope.tenantId,
        id,
        alertType: alert.alertType,
        severity: alert.severity,
        agentId: alert.agentId,
        title: alert.title,
        details: canonicalize(alert.details),
        dedupeKey: alert.dedupeKey,
        createdAt: alert.now,
        updatedAt: alert.now,
      },
    ],
    skipDuplicates: true,
  });
  if (count === 0) return undefined;
  tx.audit.append({
    action: ALERT_RAISED,
    target: `alert/${id}`,
    details: {
      alert_type: alert.alertType,
      severity: alert.severity,
      agent_id: alert.agentId,
      title: alert.title,
      alert: alert.details,
    },
  });
  return id;
}

/**
 * Whether an alert of a type was raised about an agent within a span of now, whether or not it is
 * resolved since.
 */
export async function wasRaised(
  { db, scope: { tenantId } }: TenantTransaction,
  {
    alertType,
    agentId,
    span,
  }: { alertType: string; agentId: string; span: { from: Date; to: Date } },
): Promise<boolean> {
  const where = { tenantId, alertType, agentId, createdAt: { gt: span.from, lt: span.to } };
  return (await db.alert.findFirst({ where, select: { id: true } })) !== null;
}
