import type { Feature } from '../platform/feature.ts';
import { accountRoutes } from './account-routes.ts';
import { type AccountServiceDeps, createAccountService } from './account-service.ts';
import { administratorRoutes } from './administrator-routes.ts';
import {
  type AdministratorServiceDeps,
  createAdministratorService,
} from './administrator-service.ts';

export function administratorsFeature(
  core: AdministratorServiceDeps & AccountServiceDeps,
): Feature {
  return {
    routes: [
      administratorRoutes(createAdministratorService(core)),
      accountRoutes(createAccountService(core)),
    ],
  };
}
