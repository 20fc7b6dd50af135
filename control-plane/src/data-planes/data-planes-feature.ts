import type { Feature } from '../platform/feature.ts';
import type { AttestedPlanes } from './attested-planes.ts';
import { type AuditBatchRoutesDeps, auditBatchRoutes } from './audit-batch-routes.ts';
import { dataPlaneRoutes } from './data-plane-routes.ts';
import type { DataPlaneService } from './data-plane-service.ts';
import {
  createDataPlaneTokenService,
  type DataPlaneTokenServiceDeps,
} from './data-plane-token-service.ts';
import { registrationRoutes } from './registration-routes.ts';
import { createRegistrationService } from './registration-service.ts';
import { createSilenceWatch, type SilenceWatchDeps } from './silence-watch.ts';
import { createTokenPurge } from './token-purge.ts';

export interface DataPlanesCore
  extends DataPlaneTokenServiceDeps,
    SilenceWatchDeps,
    Pick<AuditBatchRoutesDeps, 'ingest' | 'registry'> {
  db: SilenceWatchDeps['db'] & DataPlaneTokenServiceDeps['db'];
  dataPlanes: DataPlaneService;
  attestedPlanes: AttestedPlanes;
  /** The clock by which tokens begin and end. */
  tokenNow: () => Date;
  /** Monotonic milliseconds, by which limits count. */
  limitClock: () => number;
  settledNow: () => Date;
}

export function dataPlanesFeature(core: DataPlanesCore): Feature {
  const { dataPlanes, attestedPlanes, ingest, registry } = core;
  const ofTokens = { ...core, now: core.tokenNow };
  return {
    routes: [
      dataPlaneRoutes({ dataPlanes, tokens: createDataPlaneTokenService(ofTokens) }),
      registrationRoutes(createRegistrationService(ofTokens)),
      auditBatchRoutes({ ingest, registry }),
    ],
    facts: { begin: attestedPlanes.begin, publish: attestedPlanes.adoptAll },
    tasks: [
      createSilenceWatch(core),
      createTokenPurge({ ...core, now: core.settledNow }),
      attestedPlanes.attestAnew,
    ],
  };
}
