/**
 * Verifies agent tokens. The signature of a token is checked once: the result is cached under the
 * token's hash until the token expires. Keys are looked up again at each use. The agent, its secret
 * and the state of the replica are checked by the caller at every call, with the cached facts.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { TokenKeysFact } from '@governance/shared/channel/facts';
import {
  AGENT_TOKEN_ALG,
  AGENT_TOKEN_TYP,
  AgentTokenClaims,
  type CredentialProof,
  gatewayAudience,
  proofOfClaims,
} from '@governance/shared/tokens/agent-token';
import { LRUCache } from 'lru-cache';
import { parseCompactJws } from './compact-jws.ts';

/** Most characters of a token, and of its header. Tokens that the product issues have 2,000. */
const MAX_TOKEN = 8192;
const MAX_HEADER = 1024;
/** Limits on the JSON of one part of a token: its depth, and its values and keys. */
const PART_LIMITS = { maxDepth: 6, maxNodes: 4096 };

/** Tolerated difference between the clocks of signer and verifier. */
const SKEW_SECONDS = 60;

export interface VerifiedToken {
  tenantId: string;
  agentId: string;
  /** The credential that it was issued for. */
  proof: CredentialProof;
  feedSeq: number;
  /** The gateway's audience at the signer: the tenant's control plane, or this data plane. */
  issuersAudience: string;
  audiences: readonly string[];
  /** Unix milliseconds. */
  validUntil: number;
  kid: string;
  /** The signing key's modulus: a token is not valid after the key under its kid was replaced. */
  modulus: unknown;
}

export type TokenFault =
  | 'malformed'
  | 'wrong_type'
  | 'unknown_key'
  | 'bad_signature'
  | 'bad_claims'
  | 'wrong_issuer'
  | 'expired'
  | 'not_yet_valid';

export type AgentTokenVerifier = ReturnType<typeof createAgentTokenVerifier>;

/** Builds the verifier: `verify` returns the token's facts, or its fault. */
export function createAgentTokenVerifier(deps: {
  findTokenKeys(tenantId: string): TokenKeysFact | undefined;
  /**
   * The keys with which this data plane signs tokens, if it does: valid for every tenant that it
   * serves.
   */
  ownKeys?: TokenKeysFact | undefined;
  /** Unix milliseconds. */
  now(): number;
  /** How many verified tokens are cached. */
  cacheSize: number;
}) {
  const { findTokenKeys, ownKeys, now } = deps;
  const verified = new LRUCache<string, VerifiedToken>({ max: deps.cacheSize });
  const keyObjects = new LRUCache<string, KeyObject>({ max: 256 });

  function verifyToken(token: string, tokenHash: string): VerifiedToken | TokenFault {
    const known = verified.get(tokenHash);
    if (known === undefined) return verifyNew(token, tokenHash);
    if (known.validUntil <= now()) {
      verified.delete(tokenHash);
      return 'expired';
    }
    return isKeyTrusted(known) ? known : 'unknown_key';
  }

  function isKeyTrusted(token: VerifiedToken): boolean {
    return findKey(token.tenantId, token.kid)?.key.n === token.modulus;
  }

  /** A key of the tenant's control plane, or this data plane's own. */
  function findKey(tenantId: string, kid: string) {
    return keyIn(findTokenKeys(tenantId), kid) ?? keyIn(ownKeys, kid);
  }

  function verifyNew(token: string, tokenHash: string): VerifiedToken | TokenFault {
    if (token.length > MAX_TOKEN) return 'malformed';
    if (token.indexOf('.') > MAX_HEADER) return 'malformed';
    const jws = parseCompactJws(token, PART_LIMITS);
    if (jws === undefined) return 'malformed';
    const { header, signed, signature } = jws;
    // The header only selects which of the tenant's own keys to try: jwk, jku and x5u are ignored,
    // and an unknown critical extension makes the token invalid (RFC 7515 4.1.11).
    if (header.typ !== AGENT_TOKEN_TYP || header.alg !== AGENT_TOKEN_ALG) return 'wrong_type';
    if ('crit' in header || typeof header.kid !== 'string') return 'wrong_type';

    const parsed = AgentTokenClaims.safeParse(jws.claims);
    if (!parsed.success) return 'bad_claims';
    const claims = parsed.data;
    const found = findKey(claims.tenant_id, header.kid);
    if (found === undefined) return 'unknown_key';
    const { issuer, key: jwk } = found;
    const key = importKey(jwk);
    if (key === undefined) return 'unknown_key';
    if (!verify('RSA-SHA256', signed, key, signature)) return 'bad_signature';
    if (claims.iss !== issuer) return 'wrong_issuer';
    const seconds = now() / 1000;
    if (claims.exp + SKEW_SECONDS <= seconds) return 'expired';
    if (claims.iat - SKEW_SECONDS > seconds) return 'not_yet_valid';

    const entry: VerifiedToken = {
      tenantId: claims.tenant_id,
      agentId: claims.sub,
      proof: proofOfClaims(claims),
      feedSeq: claims.feed_seq,
      issuersAudience: gatewayAudience(issuer),
      audiences: typeof claims.aud === 'string' ? [claims.aud] : claims.aud,
      validUntil: (claims.exp + SKEW_SECONDS) * 1000,
      kid: header.kid,
      modulus: jwk.n,
    };
    verified.set(tokenHash, entry);
    return entry;
  }

  function importKey(jwk: TokenKeysFact['keys'][number]): KeyObject | undefined {
    if (jwk.kty !== 'RSA' || jwk.alg !== AGENT_TOKEN_ALG) return undefined;
    const cacheKey = `${jwk.kid} ${String(jwk.n)} ${String(jwk.e)}`;
    const known = keyObjects.get(cacheKey);
    if (known) return known;
    try {
      const { kty, n, e } = jwk as { kty: string; n?: string; e?: string };
      const key = createPublicKey({ key: { kty, n, e }, format: 'jwk' });
      if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < 2048) return undefined;
      keyObjects.set(cacheKey, key);
      return key;
    } catch {
      return undefined;
    }
  }

  return { verify: verifyToken };
}

/** The agent that a token names, unverified. Caller-controlled. */
export interface ClaimedAgent {
  tenantId: string;
  agentId: string;
}

/**
 * The agent that a token names, when the key that signed it is unknown.
 *
 * @param token one for which `verify` returned `unknown_key`, so that its size was checked
 */
export function findClaims(token: string): ClaimedAgent | undefined {
  const claims = parseCompactJws(token, PART_LIMITS)?.claims;
  if (typeof claims?.tenant_id !== 'string') return undefined;
  const { tenant_id: tenantId, sub } = claims;
  return { tenantId, agentId: typeof sub === 'string' ? sub : '' };
}

function keyIn(fact: TokenKeysFact | undefined, kid: string) {
  const key = fact?.keys.find((one) => one.kid === kid);
  return fact && key && { issuer: fact.issuer, key };
}
