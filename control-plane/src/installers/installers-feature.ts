import type { ControlPlaneConfig } from '../config.ts';
import type { Feature } from '../platform/feature.ts';
import { gatewayUrlOf } from '../platform/gateway-url.ts';
import { installerRoutes } from './installer-routes.ts';
import { createInstallerService, type InstallerServiceDeps } from './installer-service.ts';

export interface InstallersCore extends InstallerServiceDeps {
  /** The clock by which tokens begin and end. */
  tokenNow: () => Date;
  config: Pick<ControlPlaneConfig, 'publicUrl' | 'deploymentMode'>;
}

export const installersFeature = (core: InstallersCore): Feature => ({
  routes: [
    installerRoutes(
      createInstallerService({ ...core, now: core.tokenNow }),
      gatewayUrlOf(core.config),
    ),
  ],
});
