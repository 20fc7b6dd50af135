import type { TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { Feature } from '../platform/feature.ts';
import { createExceptionExpiry, revokeExceptionsOfServer } from './exception-endings.ts';
import { exceptionRoutes } from './exception-routes.ts';
import { createExceptionService, type ExceptionServiceDeps } from './exception-service.ts';

/** Standing exceptions. */
export const exceptionsFeature = (
  core: ExceptionServiceDeps & { db: TenantDatabase; settledNow: () => Date },
): Feature => ({
  routes: [exceptionRoutes(createExceptionService(core), core.now)],
  tasks: [createExceptionExpiry({ ...core, now: core.settledNow })],
  endWithServer: revokeExceptionsOfServer,
});
