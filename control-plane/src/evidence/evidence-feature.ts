import type { OutboundClient } from '@governance/shared/outbound/outbound-client';
import { DAY_MS } from '@governance/shared/time/durations';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ChainBreakRecorder } from '../chain/chain-breaks.ts';
import { createReadingPlaces, type ReadingPlacesDeps } from '../feed/feed-reading-places.ts';
import type { DataKeys } from '../key-management/data-keys.ts';
import type { TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { Feature } from '../platform/feature.ts';
import type { ServiceKeys } from '../platform/keys/keys.ts';
import { createExportTask } from './export/export-task.ts';
import { packageRoutes } from './export/package-routes.ts';
import { createPackageService } from './export/package-service.ts';
import { createLogGrowth } from './log-growth.ts';
import { logRoutes } from './log-routes.ts';
import { createLogService } from './log-service.ts';
import { createTrustAnchors } from './trust-anchor.ts';
import type { LogViews } from './watchers/log-views.ts';
import { watchRoutes } from './watchers/watch-routes.ts';
import { witnessRoutes } from './witnesses/witness-routes.ts';
import { createWitnessTask, type Witness } from './witnesses/witness-task.ts';

export interface EvidenceCore extends ReadingPlacesDeps {
  config: {
    publicUrl: string;
    verifierPublicUrl: string;
    checkpointSeconds: number;
    evidenceRetentionDays: number;
    witnesses: readonly Witness[];
  };
  db: TenantDatabase;
  logViews: LogViews;
  breaks: ChainBreakRecorder;
  outbound: OutboundClient;
  serviceKeys: ServiceKeys;
  dataKeys: DataKeys;
  registry: Registry;
  log: Logger;
  now: () => Date;
  keyNow: () => Date;
  settledNow: () => Date;
}

/** The log of records, and evidence for its verifiers. */
export function evidenceFeature(core: EvidenceCore): Feature {
  const { config, db, serviceKeys, dataKeys, log, now, keyNow } = core;
  const { publicUrl, verifierPublicUrl: verifierUrl } = config;
  const witnesses = createWitnessTask({
    ...{ db, witnesses: config.witnesses, outbound: core.outbound, breaks: core.breaks, now },
    registry: core.registry,
  });
  const growth = createLogGrowth({
    ...{ db, serviceKeys, now: keyNow },
    checkpointMs: config.checkpointSeconds * 1_000,
  });
  const anchors = createTrustAnchors({
    ...{ db, serviceKeys, publicUrl, verifierUrl, witnesses: config.witnesses },
    now: keyNow,
  });
  const retentionMs = config.evidenceRetentionDays * DAY_MS;
  const exports = createExportTask({
    ...{ db, serviceKeys, dataKeys, growth, witnesses, anchors, retentionMs, log, now },
    keyNow,
    settledNow: core.settledNow,
  });
  return {
    routes: [
      logRoutes(createLogService({ db }), anchors),
      watchRoutes({ db, views: core.logViews, places: createReadingPlaces(core) }),
      witnessRoutes(db, config.witnesses),
      packageRoutes(createPackageService({ db, dataKeys, retentionMs, now })),
    ],
    tasks: [...growth.tasks, exports, witnesses],
  };
}
