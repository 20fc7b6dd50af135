/**
 * Verifies the tokens of workflow sessions and delegations. A token only identifies the session or
 * delegation. What these permit is in the replica, and is looked up at every call. The signature of
 * a token is checked once. Proven by gateway/workflows.test.ts.
 */
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import {
  MAX_SESSION_TOKEN,
  SESSION_TOKEN_ALG,
  SessionTokenClaims,
  type SessionTokenClass,
  sessionTokenAudience,
  sessionTokenTyp,
} from '@governance/shared/tokens/session-token';
import { LRUCache } from 'lru-cache';
import type { Replica } from '../../contracts.ts';
import { parseCompactJws } from './compact-jws.ts';

/** Limits on the JSON of one part of a token: its depth, and its values and keys. */
const PART_LIMITS = { maxDepth: 4, maxNodes: 256 };

export interface SessionToken {
  /** The session's id, or the delegation's. */
  subject: string;
  /** Unix milliseconds. */
  expiresAt: number;
  feedSeq: number;
}

export type SessionTokenFault =
  | 'malformed'
  | 'wrong_type'
  | 'unknown_key'
  | 'bad_signature'
  | 'bad_claims'
  | 'foreign';

export type SessionTokenVerifier = ReturnType<typeof createSessionTokenVerifier>;

interface Entry extends SessionToken {
  kid: string;
  /** The key that verified it: a token is not valid after the key under its kid was replaced. */
  x: unknown;
}

export function createSessionTokenVerifier(deps: {
  replica: Pick<Replica, 'findSessionTokenKeys'>;
  /** How many verified tokens are cached. */
  cacheSize: number;
}) {
  const verified = new LRUCache<string, Entry>({ max: deps.cacheSize });

  function findKey(tenantId: string, kind: SessionTokenClass, kid: unknown) {
    const fact = deps.replica.findSessionTokenKeys(tenantId, kind);
    const jwk = fact?.keys.find((key) => key.kid === kid && key.alg === SESSION_TOKEN_ALG);
    return fact && jwk && { issuer: fact.issuer, jwk };
  }

  function verifyNew(
    kind: SessionTokenClass,
    tenantId: string,
    token: string,
  ): Entry | SessionTokenFault {
    const jws = parseCompactJws(token, PART_LIMITS);
    if (jws === undefined) return 'malformed';
    const { header, signed, signature } = jws;
    const isOfType = header.typ === sessionTokenTyp(kind) && header.alg === SESSION_TOKEN_ALG;
    if (!isOfType || 'crit' in header) return 'wrong_type';
    const parsed = SessionTokenClaims.safeParse(jws.claims);
    if (!parsed.success) return 'bad_claims';
    const claims = parsed.data;
    if (claims.tenant_id !== tenantId) return 'foreign';
    const found = findKey(tenantId, kind, header.kid);
    const key = found && importKey(found.jwk);
    if (found === undefined || key === undefined) return 'unknown_key';
    if (!verify(null, signed, key, signature)) return 'bad_signature';
    const { issuer, jwk } = found;
    if (claims.iss !== issuer || claims.aud !== sessionTokenAudience(kind, issuer)) {
      return 'bad_claims';
    }
    return {
      subject: claims.sub,
      expiresAt: claims.exp * 1000,
      feedSeq: claims.feed_seq,
      kid: jwk.kid,
      x: jwk.x,
    };
  }

  return {
    /** Does not check the expiry: the caller does. @returns the token's facts, or its fault */
    verify(
      kind: SessionTokenClass,
      tenantId: string,
      token: string,
    ): SessionToken | SessionTokenFault {
      // caller-controlled
      if (token.length > MAX_SESSION_TOKEN) return 'malformed';
      const place = `${kind} ${tenantId} ${hash('sha256', token, 'base64url')}`;
      const known = verified.get(place);
      if (known === undefined) {
        const entry = verifyNew(kind, tenantId, token);
        if (typeof entry !== 'string') verified.set(place, entry);
        return entry;
      }
      return findKey(tenantId, kind, known.kid)?.jwk.x === known.x ? known : 'unknown_key';
    },
  };
}

function importKey({ kty, crv, x }: Record<string, unknown>): KeyObject | undefined {
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string') return undefined;
  try {
    return createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
  } catch {
    return undefined;
  }
}
