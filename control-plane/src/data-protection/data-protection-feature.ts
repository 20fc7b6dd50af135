import type { Feature } from '../platform/feature.ts';
import { dataProtectionRoutes } from './data-protection-routes.ts';
import {
  createDataProtectionService,
  type DataProtectionServiceDeps,
} from './data-protection-service.ts';

export function dataProtectionFeature(core: DataProtectionServiceDeps): Feature {
  const protection = createDataProtectionService(core);
  return {
    routes: [dataProtectionRoutes(protection)],
    settings: { data_protection: protection.readSettings },
    facts: {
      addForDataPlane: protection.addForDataPlane,
      takeBack: protection.takeBack,
      // Creates the sealing key at startup, so that no bundle has to wait for it inside its
      // transaction.
      publish: async () => void (await core.payloadSealingKey()),
    },
  };
}
