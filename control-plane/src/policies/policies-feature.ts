import { baselinePack } from '@governance/policies/baseline-pack';
import type { TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { Feature } from '../platform/feature.ts';
import { completeBaselinePacks, insertBaselinePack } from './baseline-pack.ts';
import { changeRequestRoutes } from './change-requests/change-request-routes.ts';
import { createChangeRequestService } from './change-requests/change-request-service.ts';
import { hasLocalModelsPolicy } from './local-models-policy.ts';
import { policyRoutes } from './policy-routes.ts';
import { createPolicyService, type PolicyServiceDeps } from './policy-service.ts';

export interface PoliciesCore extends Omit<PolicyServiceDeps, 'maxActive'> {
  config: { maxActivePolicies: number };
  db: PolicyServiceDeps['db'] & Pick<TenantDatabase, 'inPlatform'>;
}

export function policiesFeature(core: PoliciesCore): Feature {
  const { config, now, attestations } = core;
  const pack = baselinePack();
  const policies = createPolicyService({ ...core, maxActive: config.maxActivePolicies });
  return {
    routes: [
      policyRoutes(policies),
      changeRequestRoutes(createChangeRequestService(core, policies)),
    ],
    settings: { local_models_policy: hasLocalModelsPolicy },
    facts: {
      begin: async (tx) => insertBaselinePack(tx, pack, now(), await attestations.prepare()),
      publish: async () =>
        completeBaselinePacks(core.db, pack, now(), await attestations.prepare()),
    },
  };
}
