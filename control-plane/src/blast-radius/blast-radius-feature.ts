import type { Feature } from '../platform/feature.ts';
import { blastRadiusRoutes } from './blast-radius-routes.ts';
import { type BlastRadiusServiceDeps, createBlastRadiusService } from './blast-radius-service.ts';
import { blastRadiusStore } from './blast-radius-store.ts';

export const blastRadiusFeature = (core: BlastRadiusServiceDeps): Feature => ({
  routes: [blastRadiusRoutes(createBlastRadiusService(core))],
  settings: { blast_radius: async (tx) => (await blastRadiusStore(tx).get()).settings },
});
