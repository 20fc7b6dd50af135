import type { Feature } from '../platform/feature.ts';
import { inboundRuleRoutes } from './inbound-rule-routes.ts';
import {
  createInboundRuleService,
  endTrustInServer,
  type InboundDeps,
} from './inbound-rule-service.ts';
import { pinnedToolProjection } from './pinned-tool-projection.ts';
import { pinnedToolRoutes } from './pinned-tool-routes.ts';
import { createPinnedToolService } from './pinned-tool-service.ts';
import { tenantSettingsRoutes } from './tenant-settings-routes.ts';
import { createTenantSettingsService, readInboundSettings } from './tenant-settings-service.ts';

/** Inspection of what servers return: source rules, and the actions on findings. */
export function inboundFeature(core: InboundDeps): Feature {
  return {
    routes: [
      inboundRuleRoutes(createInboundRuleService(core)),
      pinnedToolRoutes(createPinnedToolService(core), core.now),
      tenantSettingsRoutes(createTenantSettingsService(core)),
    ],
    projections: [pinnedToolProjection(core.now)],
    endWithServer: endTrustInServer,
    settings: { inbound: (tx) => readInboundSettings(tx, core.settledNow()) },
  };
}
