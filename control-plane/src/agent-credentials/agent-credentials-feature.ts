import type { Feature } from '../platform/feature.ts';
import { credentialRoutes } from './credential-routes.ts';
import { type CredentialServiceDeps, createCredentialService } from './credential-service.ts';

export const agentCredentialsFeature = (core: CredentialServiceDeps): Feature => ({
  routes: [credentialRoutes(createCredentialService(core))],
});
