/**
 * Agents' tokens by client credentials (OAuth 2.1): RS256, at most 15 minutes, for a gateway as
 * audience. Both planes issue them: the control plane from its database, a data plane from its
 * replica. The agent is judged again at every call, so a token is who it is, not what it may do.
 *
 * A client secret is 256 random bits: nobody guesses one, so the right one is never refused because
 * others sent wrong ones. It is verified first, and only wrong ones count, by address.
 */
import { createHash, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import type { AgentStatus } from '../channel/facts.ts';
import { AppError } from '../errors.ts';
import { addressGroup } from '../http/client-address.ts';
import { createRateLimiter } from '../http/rate-limiter.ts';
import { uuidv7 } from '../ids.ts';
import { equalSecrets } from '../keys/equal-secrets.ts';
import type { RiskTier } from '../ledger/ledger-record.ts';
import { asPublicAddress } from '../outbound/own-addresses.ts';
import { withoutTrailingSlashes } from '../text.ts';
import {
  AGENT_TOKEN_ALG,
  AGENT_TOKEN_MAX_SECONDS,
  AGENT_TOKEN_TYP,
  type CredentialProof,
  claimsOfProof,
  gatewayAudience,
} from './agent-token.ts';

const FAILURES_BY_ADDRESS = 60;
/** Tokens that a client with the right secret may have in a window. */
const TOKENS_BY_CLIENT = 600;
const WINDOW_MS = 60_000;
/**
 * Most bytes of a token's lists of roles and of permissions, as JSON. With both, and the other
 * claims, a token stays below what gateways read (8,192 characters).
 */
const MAX_ROLES = 1024;
const MAX_PERMISSIONS = 3072;
/** Characters of a server's id: a token for a name without a bound would be too long as well. */
const MAX_SERVER_ID = 63;

/** The owner of a client id, as far as a request without a verified secret may look. */
export interface AgentClient {
  /** SHA-256 of the client secret, lower-case hexadecimal. */
  secretHash: string;
  /** Reads the agent, once the secret was right; undefined when it is gone. */
  read(): Promise<AgentCredentials | undefined>;
}

/** The facts about an agent that its token needs. */
export interface AgentCredentials {
  id: string;
  tenantId: string;
  /** Takes the kill switch into account. */
  status: AgentStatus;
  /** SHA-256 of the client secret, lower-case hexadecimal. */
  secretHash: string;
  /** The credential that the secret belongs to. */
  proof: CredentialProof;
  riskTier: RiskTier;
  /** Names of its roles. */
  roles: string[];
  /** The permissions of all its roles, without duplicates. */
  permissions: string[];
  /** The feed entry up to which all of this is valid. */
  feedSeq: number;
}

/** A private RSA key, with the id of its public half. */
export interface TokenSigner {
  kid: string;
  privateKey: KeyObject;
}

interface AgentTokenDeps {
  /** The key that signs now: RSA with 2048 bits or more. */
  key(): Promise<TokenSigner> | TokenSigner;
  /** The issuer; with /mcp/v1 the audience. */
  publicUrl: string;
  findClient(clientId: string): Promise<AgentClient | undefined>;
  now: () => Date;
  /** Monotonic milliseconds, by which limits count. */
  limitClock?: () => number;
}

export type AgentTokens = ReturnType<typeof createAgentTokens>;

/** Builds the issuer, with its limits on attempts by address and by client. */
export function createAgentTokens(deps: AgentTokenDeps) {
  const { publicUrl, findClient, limitClock: elapsed } = deps;
  const limiter = (limit: number) => createRateLimiter({ limit, windowMs: WINDOW_MS, elapsed });
  const failuresByAddress = limiter(FAILURES_BY_ADDRESS);
  const tokensByClient = limiter(TOKENS_BY_CLIENT);

  const refuse = (place: string): never => {
    failuresByAddress.check(place);
    failuresByAddress.count(place);
    throw new AppError('BAD_CREDENTIALS');
  };

  return {
    /**
     * @param request.resource RFC 8707: narrows the audience to one server of the gateway
     * @param request.address the caller's
     * @throws AppError BAD_CREDENTIALS, AGENT_SUSPENDED, INVALID_TARGET, RATE_LIMITED
     */
    issue: async (request: {
      clientId: string;
      clientSecret: string;
      resource?: string | undefined;
      address: string;
    }) => {
      const { clientId, clientSecret, resource, address } = request;
      const place = addressGroup(address);
      const client = await findClient(clientId);
      const given = createHash('sha256').update(clientSecret).digest('hex');
      // Its digest needs no slow hash, so verifying it is cheaper than counting it.
      if (!equalSecrets(given, client?.secretHash ?? '') || !client) return refuse(place);
      tokensByClient.check(clientId);
      tokensByClient.count(clientId);
      const agent = await client.read();
      // Rotated in the meantime.
      if (!agent || !equalSecrets(given, agent.secretHash)) return refuse(place);
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

/** @throws AppError INVALID_TARGET for a resource that is not the gateway or a server of it */
function chooseAudience(publicUrl: string, resource: string | undefined): string {
  const gateway = gatewayAudience(publicUrl);
  const wanted =
    resource === undefined ? gateway : asPublicAddress(publicUrl, withoutTrailingSlashes(resource));
  if (wanted === gateway) return gateway;
  const server = wanted.startsWith(`${gateway}/`) ? wanted.slice(gateway.length + 1) : '';
  if (server.length > MAX_SERVER_ID || !/^[\w.~%-]+$/.test(server)) {
    throw new AppError('INVALID_TARGET', `resource must be ${gateway} or a server under it.`);
  }
  return wanted;
}

async function sign(
  { key, publicUrl, now }: Pick<AgentTokenDeps, 'key' | 'publicUrl' | 'now'>,
  agent: AgentCredentials,
  audience: string,
): Promise<string> {
  const issued = Math.floor(now().getTime() / 1000);
  const { kid, privateKey } = await key();
  return new SignJWT({
    tenant_id: agent.tenantId,
    ...claimsOfList('roles', agent.roles, MAX_ROLES),
    ...claimsOfList('permissions', agent.permissions, MAX_PERMISSIONS),
    risk_tier: agent.riskTier,
    feed_seq: agent.feedSeq,
    ...claimsOfProof(agent.proof),
  })
    .setProtectedHeader({ alg: AGENT_TOKEN_ALG, typ: AGENT_TOKEN_TYP, kid })
    .setSubject(agent.id)
    .setIssuer(publicUrl)
    .setAudience(audience)
    .setIssuedAt(issued)
    .setExpirationTime(issued + AGENT_TOKEN_MAX_SECONDS)
    .setJti(uuidv7())
    .sign(privateKey);
}

/** A list for information, empty and marked so where it is too long: half of one would mislead. */
function claimsOfList(name: 'roles' | 'permissions', list: readonly string[], maxBytes: number) {
  if (Buffer.byteLength(JSON.stringify(list)) <= maxBytes) return { [name]: list };
  return { [name]: [], [`${name}_omitted`]: true };
}
