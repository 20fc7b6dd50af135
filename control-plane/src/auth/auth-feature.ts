import { createAgentTokens } from '@governance/shared/tokens/agent-token-issue';
import type { Lookups } from '../platform/database/lookups.ts';
import type { TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { Feature } from '../platform/feature.ts';
import type { TokenKeys } from '../platform/keys/token-keys.ts';
import type { AdminLogin } from './admin-login.ts';
import { createFindAgentCredentials } from './agent-credentials.ts';
import { authRoutes } from './auth-routes.ts';

export interface AuthCore {
  config: { publicUrl: string };
  db: TenantDatabase;
  lookups: Lookups;
  tokenKeys: TokenKeys;
  adminLogin: AdminLogin;
  now: () => Date;
  /** Monotonic milliseconds, by which limits count. */
  limitClock: () => number;
}

export function authFeature(core: AuthCore): Feature {
  const { db, lookups, tokenKeys, adminLogin, now, limitClock } = core;
  const { publicUrl } = core.config;
  const findAgentCredentials = createFindAgentCredentials(db);
  const agentTokens = createAgentTokens({
    key: tokenKeys.signing,
    publicUrl,
    findClient: async (clientId) => {
      const owner = await lookups.findClient(clientId);
      if (!owner) return undefined;
      const { secretHash, tenantId, agentId, credentialId } = owner;
      return { secretHash, read: () => findAgentCredentials(tenantId, agentId, credentialId) };
    },
    now,
    limitClock,
  });
  const keys = tokenKeys.verification;
  return { routes: [authRoutes({ adminLogin, agentTokens, publicUrl, keys })] };
}
