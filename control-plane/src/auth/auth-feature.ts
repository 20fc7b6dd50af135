import { createAgentTokens } from '@governance/shared/agent-token-issue';
import type { Feature } from '../platform/feature.ts';
import type { TokenKey } from '../platform/keys.ts';
import type { Lookups } from '../platform/lookups.ts';
import type { TenantDatabase } from '../platform/tenant-scope.ts';
import type { AdminLogin } from './admin-login.ts';
import { createFindAgentCredentials } from './agent-credentials.ts';
import { authRoutes } from './auth-routes.ts';
import { appendTokenKeys, publishTokenKeysToAll } from './token-keys.ts';

export interface AuthCore {
  config: { publicUrl: string };
  db: TenantDatabase;
  lookups: Lookups;
  tokenKey: TokenKey;
  adminLogin: AdminLogin;
  now: () => Date;
}

export function authFeature(core: AuthCore): Feature {
  const { db, lookups, tokenKey, adminLogin, now } = core;
  const { publicUrl } = core.config;
  const findAgentCredentials = createFindAgentCredentials(db);
  const agentTokens = createAgentTokens({
    key: tokenKey,
    publicUrl,
    findClient: async (clientId) => {
      const owner = await lookups.findClient(clientId);
      if (!owner) return undefined;
      const { secretHash, tenantId, agentId, credentialId } = owner;
      return { secretHash, read: () => findAgentCredentials(tenantId, agentId, credentialId) };
    },
    now,
  });
  const tokenKeys = [tokenKey.publicJwk];
  const fact = { issuer: publicUrl, keys: tokenKeys };
  return {
    routes: [authRoutes({ adminLogin, agentTokens, publicUrl, tokenKeys })],
    facts: {
      begin: (tx) => appendTokenKeys(tx, fact),
      publish: () => publishTokenKeysToAll(db, fact),
    },
  };
}
