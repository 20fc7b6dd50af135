import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { getSession } from './session-service.ts';
import { buildTrace } from './trace.ts';

/** Events of one trace. */
const MAX_EVENTS = 10_000;

export type TraceService = ReturnType<typeof createTraceService>;

export function createTraceService({ db }: { db: Pick<TenantDatabase, 'inTenant'> }) {
  return {
    read: (scope: TenantScope, workflowId: string, sessionId: string) =>
      db.inTenant(scope, async (tx) => {
        await getSession(tx, workflowId, sessionId);
        const trace = await readTrace(tx, sessionId);
        return { session_id: sessionId, workflow_id: workflowId, ...trace };
      }),
  };
}

/** The trace of a session's first events. */
export async function readTrace({ db, scope: { tenantId } }: TenantTransaction, sessionId: string) {
  const events = await db.workflowEvent.findMany({
    where: { tenantId, sessionId },
    orderBy: [{ eventTime: 'asc' }, { eventId: 'asc' }],
    take: MAX_EVENTS + 1,
  });
  return {
    ...buildTrace(events.slice(0, MAX_EVENTS)),
    truncated: events.length > MAX_EVENTS,
  };
}
