import type { Feature } from '../platform/feature.ts';
import type { ServiceKeys } from '../platform/keys.ts';
import type { TenantDatabase } from '../platform/tenant-scope.ts';
import { createLogGrowth } from './log-growth.ts';
import { logRoutes } from './log-routes.ts';
import { createLogService } from './log-service.ts';
import { createTrustAnchors } from './trust-anchor.ts';

export interface EvidenceCore {
  config: { publicUrl: string; verifierPublicUrl: string; checkpointSeconds: number };
  db: TenantDatabase;
  serviceKeys: ServiceKeys;
  now: () => Date;
}

/** The log of what is recorded, and what is handed to those who verify it. */
export function evidenceFeature({ config, db, serviceKeys, now }: EvidenceCore): Feature {
  const { publicUrl, verifierPublicUrl: verifierUrl } = config;
  const growth = createLogGrowth({
    ...{ db, serviceKeys, now },
    checkpointMs: config.checkpointSeconds * 1_000,
  });
  const anchors = createTrustAnchors({ db, serviceKeys, publicUrl, verifierUrl, now });
  return { routes: [logRoutes(createLogService({ db }), anchors)], tasks: growth.tasks };
}
