import type { ControlPlaneConfig } from '../config.ts';
import type { Feature } from '../platform/feature.ts';
import { gatewayUrlOf } from '../platform/gateway-url.ts';
import type { TenantService } from '../tenants/tenant-service.ts';
import { enrollmentRoutes } from './enrollment-routes.ts';
import { createEnrollmentService, type EnrollmentServiceDeps } from './enrollment-service.ts';
import { signupRoutes } from './signup-routes.ts';
import { createSignupService } from './signup-service.ts';

export interface EnrollmentCore extends EnrollmentServiceDeps {
  /** The clock by which tokens begin and end. */
  tokenNow: () => Date;
  config: Pick<ControlPlaneConfig, 'publicUrl' | 'deploymentMode' | 'env' | 'signup'>;
  tenants: TenantService;
}

export function enrollmentFeature(core: EnrollmentCore): Feature {
  const { config, tenants, tokenNow: now, limitClock } = core;
  const isOpen = config.signup ?? config.env === 'development';
  const gatewayUrl = gatewayUrlOf(config);
  return {
    routes: [
      enrollmentRoutes(createEnrollmentService({ ...core, now }), gatewayUrl),
      signupRoutes(createSignupService({ tenants, isOpen, now, limitClock }), gatewayUrl),
    ],
  };
}
