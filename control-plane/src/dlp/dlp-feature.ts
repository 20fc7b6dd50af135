import type { Feature } from '../platform/feature.ts';
import { dlpRoutes } from './dlp-routes.ts';
import { createDlpService, type DlpServiceDeps, readDlpSettings } from './dlp-service.ts';

export const dlpFeature = (core: DlpServiceDeps): Feature => ({
  routes: [dlpRoutes(createDlpService(core))],
  settings: { dlp: readDlpSettings },
});
