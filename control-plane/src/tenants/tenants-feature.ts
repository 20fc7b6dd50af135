import type { Feature } from '../platform/feature.ts';
import { tenantRoutes } from './tenant-routes.ts';
import type { TenantService } from './tenant-service.ts';

export const tenantsFeature = ({ tenants }: { tenants: TenantService }): Feature => ({
  routes: [tenantRoutes(tenants)],
});
