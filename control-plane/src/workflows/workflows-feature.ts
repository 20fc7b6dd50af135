import type { AppliedBarrier } from '@governance/shared/channel/channels';
import type { TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { Feature } from '../platform/feature.ts';
import type { ServiceKeys } from '../platform/keys/keys.ts';
import { createBaselineTask } from './baseline-task.ts';
import { createSessionExpiry, createSessionService } from './session-service.ts';
import { createSessionTokens } from './session-tokens.ts';
import { traceRoutes } from './trace-routes.ts';
import { createTraceService } from './trace-service.ts';
import { workflowEventProjection } from './workflow-event-projection.ts';
import { workflowRoutes, workflowSessionRoutes } from './workflow-routes.ts';
import { createWorkflowService } from './workflow-service.ts';

export interface WorkflowsCore {
  config: { publicUrl: string };
  db: TenantDatabase;
  applied: AppliedBarrier;
  serviceKeys: ServiceKeys;
  now: () => Date;
  settledNow: () => Date;
}

/** Workflows, their sessions, and what happened in them. */
export function workflowsFeature(core: WorkflowsCore): Feature {
  const { db, applied, serviceKeys, now } = core;
  const tokens = createSessionTokens({ serviceKeys, publicUrl: core.config.publicUrl, now });
  const sessions = createSessionService({ db, applied, tokens, now });
  return {
    routes: [
      workflowRoutes(createWorkflowService({ db, applied, now })),
      workflowSessionRoutes(sessions),
      traceRoutes(createTraceService({ db })),
    ],
    projections: [workflowEventProjection(now)],
    tasks: [createSessionExpiry({ db, now: core.settledNow }), createBaselineTask({ db, now })],
  };
}
