/**
 * Agents' tokens by client credentials (OAuth 2.1): RS256, at most 15 minutes, for the gateway as
 * audience. The agent is judged again at every call, so a token is who it is, not what it may do.
 */
import { createHash } from 'node:crypto';
import {
  AGENT_TOKEN_ALG,
  AGENT_TOKEN_MAX_SECONDS,
  AGENT_TOKEN_TYP,
  gatewayAudience,
} from '@governance/shared/agent-token';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import type { RiskTier } from '@governance/shared/ledger-record';
import { SignJWT } from 'jose';
import { equalSecrets } from '../platform/http/guards.ts';
import type { TokenKey } from '../platform/keys.ts';
import type { Lookups } from '../platform/lookups.ts';
import { createRateLimiter } from '../platform/rate-limiter.ts';
import type { AgentCredentials, FindAgentCredentials } from './agent-credentials.ts';

const FAILURES_BY_ADDRESS = 60;
const FAILURES_BY_CLIENT = 20;
const REQUESTS_BY_CLIENT = 600;
const WINDOW_MS = 60_000;

export interface TokenRequest {
  clientId: string;
  clientSecret: string;
  /** RFC 8707: narrows the audience to one server of the gateway. */
  resource?: string | undefined;
  /** The caller's address. */
  ip: string;
}

export interface AgentToken {
  token: string;
  expiresIn: number;
  agentId: string;
  riskTier: RiskTier;
}

export interface AgentTokens {
  /** @throws AppError BAD_CREDENTIALS, AGENT_SUSPENDED, BAD_REQUEST (resource), RATE_LIMITED */
  issue(request: TokenRequest): Promise<AgentToken>;
}

export function createAgentTokens(deps: {
  key: TokenKey;
  /** SERVICE_PUBLIC_URL */
  publicUrl: string;
  lookups: Pick<Lookups, 'findClient'>;
  findAgentCredentials: FindAgentCredentials;
  now: () => Date;
}): AgentTokens {
  const { publicUrl, lookups, findAgentCredentials, now } = deps;
  const failuresByAddress = createRateLimiter({
    limit: FAILURES_BY_ADDRESS,
    windowMs: WINDOW_MS,
    now,
  });
  const failuresByClient = createRateLimiter({
    limit: FAILURES_BY_CLIENT,
    windowMs: WINDOW_MS,
    now,
  });
  const requestsByClient = createRateLimiter({
    limit: REQUESTS_BY_CLIENT,
    windowMs: WINDOW_MS,
    now,
  });

  const findAgent = async (clientId: string): Promise<AgentCredentials | undefined> => {
    const owner = await lookups.findClient(clientId);
    return owner && findAgentCredentials(owner.tenantId, owner.agentId);
  };

  return {
    issue: async ({ clientId, clientSecret, resource, ip }) => {
      failuresByAddress.check(ip);
      failuresByClient.check(clientId);
      requestsByClient.check(clientId);
      requestsByClient.count(clientId);
      const agent = await findAgent(clientId);
      const given = createHash('sha256').update(clientSecret).digest('hex');
      // A client secret is 256 random bits, so its digest needs no slow hash.
      if (!equalSecrets(given, agent?.secretHash ?? '') || !agent) {
        failuresByAddress.count(ip);
        failuresByClient.count(clientId);
        throw new AppError('BAD_CREDENTIALS');
      }
      if (agent.status !== 'active') throw new AppError('AGENT_SUSPENDED');
      const audience = chooseAudience(publicUrl, resource);
      return {
        token: await sign(deps, agent, audience),
        expiresIn: AGENT_TOKEN_MAX_SECONDS,
        agentId: agent.id,
        riskTier: agent.riskTier,
      };
    },
  };
}

/** @throws AppError BAD_REQUEST for a resource that is not the gateway or a server of it */
function chooseAudience(publicUrl: string, resource: string | undefined): string {
  const gateway = gatewayAudience(publicUrl);
  const wanted = resource?.replace(/\/+$/, '') ?? gateway;
  if (wanted === gateway) return gateway;
  const server = wanted.startsWith(`${gateway}/`) ? wanted.slice(gateway.length + 1) : '';
  if (server === '' || !/^[\w.~%-]+$/.test(server)) {
    throw new AppError('BAD_REQUEST', `resource must be ${gateway} or a server under it.`);
  }
  return wanted;
}

function sign(
  { key, publicUrl, now }: { key: TokenKey; publicUrl: string; now: () => Date },
  agent: AgentCredentials,
  audience: string,
): Promise<string> {
  const issued = Math.floor(now().getTime() / 1000);
  return new SignJWT({
    tenant_id: agent.tenantId,
    roles: agent.roles,
    permissions: agent.permissions,
    risk_tier: agent.riskTier,
    feed_seq: agent.feedSeq,
    credential_version: agent.credentialVersion,
  })
    .setProtectedHeader({ alg: AGENT_TOKEN_ALG, typ: AGENT_TOKEN_TYP, kid: key.kid })
    .setSubject(agent.id)
    .setIssuer(publicUrl)
    .setAudience(audience)
    .setIssuedAt(issued)
    .setExpirationTime(issued + AGENT_TOKEN_MAX_SECONDS)
    .setJti(uuidv7())
    .sign(key.privateKey);
}
