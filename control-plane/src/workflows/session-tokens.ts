/**
 * Signs the tokens of workflow sessions and delegations. Their verification keys are published with
 * the other keys (service-keys/key-facts.ts).
 */
import {
  SESSION_TOKEN_ALG,
  type SessionTokenClass,
  sessionTokenAudience,
  sessionTokenTyp,
} from '@governance/shared/tokens/session-token';
import { SignJWT } from 'jose';
import type { ServiceKeys } from '../platform/keys/keys.ts';

export interface SessionTokenDeps {
  serviceKeys: Pick<ServiceKeys, 'sessionTokenKey'>;
  /** The issuer. */
  publicUrl: string;
  now: () => Date;
}

export interface SessionTokens {
  /** @param subject the session, or the delegation */
  sign(
    kind: SessionTokenClass,
    token: { tenantId: string; subject: string; expiresAt: Date; feedSeq: number },
  ): Promise<string>;
}

export function createSessionTokens(deps: SessionTokenDeps): SessionTokens {
  const { serviceKeys, publicUrl, now } = deps;

  return {
    sign: async (kind, { tenantId, subject, expiresAt, feedSeq }) => {
      const { key, kid } = await serviceKeys.sessionTokenKey(kind);
      return new SignJWT({ tenant_id: tenantId, feed_seq: feedSeq })
        .setProtectedHeader({ alg: SESSION_TOKEN_ALG, typ: sessionTokenTyp(kind), kid })
        .setSubject(subject)
        .setIssuer(publicUrl)
        .setAudience(sessionTokenAudience(kind, publicUrl))
        .setIssuedAt(Math.floor(now().getTime() / 1000))
        .setExpirationTime(Math.floor(expiresAt.getTime() / 1000))
        .sign(key);
    },
  };
}
