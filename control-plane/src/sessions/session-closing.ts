/** Closes sessions whose time is over, and stores the agent's risk at that moment. */

import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
} from '../platform/database/tenant-scope.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { agentSessionStore, CLOSED_AT_ONCE } from './session-store.ts';

const EVERY_MS = 15_000;

export function createSessionClosing(deps: {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  now: () => Date;
}): LeaderTask {
  const { db, now } = deps;
  const closeSome = (tenantId: string) =>
    db.inTenant(systemScope(tenantId), (tx) => agentSessionStore(tx).closeSome(now()));
  return {
    name: 'agent_session_closing',
    everyMs: EVERY_MS,
    run: async (signal) => {
      const tenants = await db.inPlatform(
        SYSTEM_ACTOR,
        (tx) =>
          tx.db.$queryRaw<{ id: string }[]>`
            SELECT tenant_id::text AS id FROM find_expired_sessions(${now()})`,
      );
      for (const { id } of tenants) {
        while (!signal.aborted && (await closeSome(id)) === CLOSED_AT_ONCE);
      }
    },
  };
}
