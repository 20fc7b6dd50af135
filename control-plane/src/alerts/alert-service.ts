import { AppError } from '@governance/shared/errors';
import { isUniqueViolation } from '../platform/database/database.ts';
import type { Page } from '../platform/database/page.ts';
import type { TenantDatabase, TenantScope } from '../platform/database/tenant-scope.ts';
import { type AlertFilter, alertStore } from './alert-store.ts';
import type { AlertStatus } from './alert-view.ts';
import type { DeliveryStatus } from './delivery-status.ts';
import { listDeliveries } from './delivery-store.ts';

export interface AlertServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  now: () => Date;
}

export interface AlertPatch {
  /** Unchanged unless given. */
  status: AlertStatus | undefined;
  /** Who resolved it; the caller unless given. Without effect on an alert that is not resolved. */
  resolvedBy: string | undefined;
}

export type AlertService = ReturnType<typeof createAlertService>;

export function createAlertService({ db, now }: AlertServiceDeps) {
  return {
    list: (scope: TenantScope, filter: AlertFilter, page: Page) =>
      db.inTenant(scope, (tx) => alertStore(tx).list(filter, page)),

    /** Alerts posted to the webhook, newest first. */
    deliveries: (scope: TenantScope, status: DeliveryStatus | undefined, page: Page) =>
      db.inTenant(scope, (tx) => listDeliveries(tx, status, page)),

    patch: (scope: TenantScope, id: string, { status: given, resolvedBy }: AlertPatch) =>
      db.inTenant(scope, async (tx) => {
        const store = alertStore(tx);
        const alert = await store.lock(id);
        if (!alert) throw new AppError('ALERT_NOT_FOUND');
        const status = given ?? (alert.status as AlertStatus);
        const by = status === 'resolved' ? (resolvedBy ?? scope.actor.username) : null;
        if (alert.status === status && (resolvedBy === undefined || alert.resolvedBy === by)) {
          return alert;
        }
        const at = now();
        const resolution = { resolvedBy: by, resolvedAt: by === null ? null : at };
        tx.audit.append({
          action: `alert_${status === 'open' ? 'reopened' : status}`,
          target: `alert/${id}`,
          details: { alert_type: alert.alertType, from: alert.status, resolved_by: by },
        });
        return store.setStatus(id, status, resolution, at).catch(raisedAgain);
      }),
  };
}

/** A reopened alert whose cause has raised another one meanwhile. */
function raisedAgain(error: unknown): never {
  throw isUniqueViolation(error) ? new AppError('ALERT_RAISED_AGAIN') : error;
}
