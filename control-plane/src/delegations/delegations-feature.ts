import type { Feature } from '../platform/feature.ts';
import { createSessionTokens } from '../workflows/session-tokens.ts';
import type { WorkflowsCore } from '../workflows/workflows-feature.ts';
import { delegationRoutes } from './delegation-routes.ts';
import { createDelegationService } from './delegation-service.ts';

/** Delegations between agents in workflow sessions. */
export function delegationsFeature(core: WorkflowsCore): Feature {
  const { db, applied, serviceKeys, now } = core;
  const tokens = createSessionTokens({ serviceKeys, publicUrl: core.config.publicUrl, now });
  return { routes: [delegationRoutes(createDelegationService({ db, applied, tokens, now }))] };
}
