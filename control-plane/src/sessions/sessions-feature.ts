import type { TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { Feature } from '../platform/feature.ts';
import { createSessionClosing } from './session-closing.ts';
import { sessionProjection } from './session-projection.ts';
import { agentSessionRoutes } from './session-routes.ts';

export interface SessionsCore {
  db: TenantDatabase;
  now: () => Date;
}

/** Agent sessions: what an agent does for one requester, until it is idle. */
export const sessionsFeature = (core: SessionsCore): Feature => ({
  routes: [agentSessionRoutes(core)],
  projections: [sessionProjection(core.now)],
  tasks: [createSessionClosing(core)],
});
