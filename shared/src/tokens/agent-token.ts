/**
 * The agent token as both planes agree on it: a JWT that the control plane signs and a data plane
 * verifies (specification 1, sections 2 and 5). Roles and permissions in it are information for
 * the agent; enforcement reads them from its replica.
 */
import { z } from 'zod';
import { RiskTier } from '../ledger/ledger-record.ts';
import { Id } from '../text.ts';

/** The `typ` header, so that no token of another class passes for an agent's (RFC 8725 3.11). */
export const AGENT_TOKEN_TYP = 'agent+jwt';

/** The only algorithm (specification 1, section 1). */
export const AGENT_TOKEN_ALG = 'RS256';

/** The longest lifetime of an agent token, in seconds. */
export const AGENT_TOKEN_MAX_SECONDS = 15 * 60;

/**
 * Which credential authenticated an agent, and in which version: a token of a replaced version is
 * refused.
 */
export interface CredentialProof {
  /** Null: the agent's first one. */
  readonly credentialId: string | null;
  readonly version: number;
}

const Claims = z.looseObject({
  iss: z.string(),
  /** `gatewayAudience`, or narrowed to one server by `gatewayAudience(url, serverId)`. */
  aud: z.union([z.string(), z.array(z.string())]),
  /** The agent's id. */
  sub: Id,
  iat: z.int(),
  exp: z.int(),
  jti: z.string(),
  tenant_id: Id,
  /** The feed entry from which the token is valid: a replica that is behind waits for it. */
  feed_seq: z.int().nonnegative(),
  /**
   * The version of the agent's first credential; absent where another one authenticated the agent.
   */
  credential_version: z.int().positive().optional(),
  /** The other credential. Without `credential_version`, older data planes refuse such a token. */
  credential: z.strictObject({ id: Id, version: z.int().positive() }).optional(),
  roles: z.array(z.string()),
  permissions: z.array(z.string()),
  /** Present where the list was too long for a token: it is empty then. */
  roles_omitted: z.boolean().optional(),
  permissions_omitted: z.boolean().optional(),
  risk_tier: RiskTier,
});
export const AgentTokenClaims = Claims.refine(
  (claims) => (claims.credential === undefined) !== (claims.credential_version === undefined),
  'a token is of one credential',
);
export type AgentTokenClaims = z.infer<typeof AgentTokenClaims>;

/** The claims that name a token's credential. */
export function claimsOfProof({ credentialId, version }: CredentialProof) {
  return credentialId === null
    ? { credential_version: version }
    : { credential: { id: credentialId, version } };
}

/** The credential that a token's claims name. */
export function proofOfClaims(claims: AgentTokenClaims): CredentialProof {
  const { credential, credential_version: version } = claims;
  return credential === undefined
    ? { credentialId: null, version: version ?? 0 }
    : { credentialId: credential.id, version: credential.version };
}

/**
 * The `aud` of agent tokens, which is also the `resource` of the protected-resource metadata.
 *
 * @param publicUrl the service's public address, with or without a slash at its end
 * @param serverId narrows the token to one MCP server
 */
export function gatewayAudience(publicUrl: string, serverId?: string): string {
  const gateway = `${publicUrl.replace(/\/+$/, '')}/mcp/v1`;
  return serverId === undefined ? gateway : `${gateway}/${encodeURIComponent(serverId)}`;
}
