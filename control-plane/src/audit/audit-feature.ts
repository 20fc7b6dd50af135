import type { Feature } from '../platform/feature.ts';
import { type AuditRoutesDeps, auditRoutes } from './audit-routes.ts';
import { createAuditService } from './audit-service.ts';
import { type AuditStreamDeps, createAuditStream } from './audit-stream.ts';
import { exportRoutes } from './export/export-routes.ts';
import { createExportService, type ExportServiceDeps } from './export/export-service.ts';

export interface AuditCore extends Pick<AuditStreamDeps, 'db' | 'changes' | 'now'> {
  masterKey: ExportServiceDeps['masterKey'];
  config: { sseKeepaliveSeconds: number };
  adminTokens: { authenticate: AuditRoutesDeps['authenticateAdmin'] };
}

export function auditFeature(core: AuditCore): Feature {
  const { db, changes, now, config, adminTokens } = core;
  const keepaliveMs = config.sseKeepaliveSeconds * 1_000;
  const stream = createAuditStream({ db, changes, keepaliveMs, now });
  return {
    routes: [
      auditRoutes({
        audit: createAuditService(core),
        stream,
        authenticateAdmin: adminTokens.authenticate,
      }),
      exportRoutes(createExportService(core)),
    ],
  };
}
