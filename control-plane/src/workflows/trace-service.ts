import type { TenantDatabase, TenantScope } from '../platform/tenant-scope.ts';
import { getSession } from './session-service.ts';
import { buildTrace } from './trace.ts';

/** Events of one trace. */
const MAX_EVENTS = 10_000;

export type TraceService = ReturnType<typeof createTraceService>;

export function createTraceService({ db }: { db: Pick<TenantDatabase, 'inTenant'> }) {
  return {
    /** The trace of a session's first events. */
    read: async (scope: TenantScope, workflowId: string, sessionId: string) => {
      const events = await db.inTenant(scope, async (tx) => {
        await getSession(tx, workflowId, sessionId);
        return tx.db.workflowEvent.findMany({
          where: { tenantId: scope.tenantId, sessionId },
          orderBy: [{ eventTime: 'asc' }, { eventId: 'asc' }],
          take: MAX_EVENTS + 1,
        });
      });
      return {
        session_id: sessionId,
        workflow_id: workflowId,
        ...buildTrace(events.slice(0, MAX_EVENTS)),
        truncated: events.length > MAX_EVENTS,
      };
    },
  };
}
