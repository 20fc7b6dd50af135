import type { Feature } from '../platform/feature.ts';
import { roleRoutes } from './role-routes.ts';
import { createRoleService, type RoleServiceDeps } from './role-service.ts';

export const rolesFeature = (core: RoleServiceDeps): Feature => ({
  routes: [roleRoutes(createRoleService(core))],
});
