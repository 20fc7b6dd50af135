import type { Severity } from '@governance/shared/ledger/ledger-record';
import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { Alert } from '../platform/generated/client.ts';
import type { AlertStatus } from './alert-view.ts';

export interface AlertFilter {
  status?: AlertStatus | undefined;
  severity?: Severity | undefined;
  agentId?: string | undefined;
}

export interface AlertResolution {
  resolvedBy: string | null;
  resolvedAt: Date | null;
}

export function alertStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    /** Newest first. */
    list: async (
      { status, severity, agentId }: AlertFilter,
      page: Page,
    ): Promise<{ alerts: Alert[]; total: number }> => {
      const where = {
        tenantId,
        ...(status ? { status } : {}),
        ...(severity ? { severity } : {}),
        ...(agentId ? { agentId } : {}),
      };
      const alerts = await db.alert.findMany({
        where,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      return { alerts, total: await db.alert.count({ where }) };
    },

    /** Locks the alert for this transaction. */
    lock: async (id: string): Promise<Alert | undefined> => {
      await db.$queryRaw`
        SELECT 1 FROM alerts WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid FOR UPDATE`;
      const alert = await db.alert.findUnique({ where: { tenantId_id: { tenantId, id } } });
      return alert ?? undefined;
    },

    setStatus: (
      id: string,
      status: AlertStatus,
      { resolvedBy, resolvedAt }: AlertResolution,
      now: Date,
    ): Promise<Alert> =>
      db.alert.update({
        where: { tenantId_id: { tenantId, id } },
        data: { status, resolvedBy, resolvedAt, updatedAt: now },
      }),
  };
}
