import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { alertStore } from './alert-store.ts';

/**
 * Resolves the control plane's own alert with this key, if there is one, in the transaction that
 * ended its cause. If the cause returns, a new alert is raised.
 */
export async function resolveAlert(
  tx: TenantTransaction,
  dedupeKey: string,
  at: Date,
): Promise<void> {
  const { tenantId, actor } = tx.scope;
  const found = await tx.db.alert.findFirst({
    where: { tenantId, dedupeKey, status: { not: 'resolved' } },
  });
  const store = alertStore(tx);
  const alert = found && (await store.lock(found.id));
  if (!alert || alert.status === 'resolved') return;
  const resolvedBy = actor.username;
  await store.setStatus(alert.id, 'resolved', { resolvedBy, resolvedAt: at }, at);
  tx.audit.append({
    action: 'alert_resolved',
    target: `alert/${alert.id}`,
    details: { alert_type: alert.alertType, from: alert.status, resolved_by: resolvedBy },
  });
}
