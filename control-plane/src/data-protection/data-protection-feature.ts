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
      // Made at the start, so that no bundle waits for it within its transaction.
      publish: async () => void (await core.payloadSealingKey()),
    },
  };
}
