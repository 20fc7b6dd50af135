import type { Feature } from '../platform/feature.ts';
import type { PayloadIngest } from './payload-ingest.ts';
import { createPayloadPurge, type PayloadPurgeDeps } from './payload-purge.ts';
import { payloadRoutes } from './payload-routes.ts';
import { createPayloadService, type PayloadServiceDeps } from './payload-service.ts';
import { payloadUploadRoute } from './payload-upload-route.ts';

export type PayloadsCore = PayloadServiceDeps & PayloadPurgeDeps & { payloadIngest: PayloadIngest };

export const payloadsFeature = (core: PayloadsCore): Feature => ({
  routes: [payloadRoutes(createPayloadService(core)), payloadUploadRoute(core.payloadIngest)],
  tasks: [createPayloadPurge(core)],
});
