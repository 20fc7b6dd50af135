import { createPayloadService, type PayloadServiceDeps } from '../payloads/payload-service.ts';
import type { TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { Feature } from '../platform/feature.ts';
import { tenantSettingsStore } from '../tenants/tenant-settings-store.ts';
import { createEscalationDetails } from './escalation-details.ts';
import { escalationProjection } from './escalation-projection.ts';
import { escalationRoutes } from './escalation-routes.ts';
import { createEscalationService, type EscalationServiceDeps } from './escalation-service.ts';
import { escalationStore } from './escalation-store.ts';
import { createEscalationTimeouts } from './escalation-timeouts.ts';
import { createInboundHoldDetails } from './inbound-hold-details.ts';
import { inboundHoldRoutes } from './inbound-hold-routes.ts';

export type EscalationsCore = EscalationServiceDeps &
  PayloadServiceDeps & { db: TenantDatabase; settledNow: () => Date };

/** Calls and results that wait for a person. */
export const escalationsFeature = (core: EscalationsCore): Feature => ({
  routes: [
    escalationRoutes(
      createEscalationService(core),
      createEscalationDetails({ db: core.db, payloads: createPayloadService(core) }),
    ),
    inboundHoldRoutes(
      createEscalationService(core, 'result'),
      createInboundHoldDetails({ db: core.db, payloads: createPayloadService(core) }),
    ),
  ],
  tasks: [createEscalationTimeouts(core)],
  projections: [escalationProjection],
  // An approval makes no exception for another server that gets the id.
  endWithServer: (tx, serverId) => escalationStore(tx).forgetShapes(serverId),
  settings: { holds: async (tx) => (await tenantSettingsStore(tx).get()).holds },
});
