/**
 * The tokens of workflow sessions (`X-Workflow-Session`) and of delegations (`X-Delegation-Token`):
 * JWTs that the control plane signs. Each class has a type, an audience and a key of its own, so none
 * passes for another or for an agent's token. What a token permits lies in the facts that it names.
 */
import { z } from 'zod';
import { Id, withoutTrailingSlashes } from '../text.ts';

export const SESSION_TOKEN_ALG = 'EdDSA';

/** Characters of a token, at most; one that the product issues has about 700. */
export const MAX_SESSION_TOKEN = 4096;

export type SessionTokenClass = 'workflow' | 'delegation';

/** The `typ` header of each class, and the suffix of its audience. */
const CLASSES: Record<SessionTokenClass, { typ: string; audience: string }> = {
  workflow: { typ: 'workflow-session+jwt', audience: 'workflow-sessions' },
  delegation: { typ: 'delegation+jwt', audience: 'delegations' },
};

/** The `typ` header of a class. */
export const sessionTokenTyp = (kind: SessionTokenClass): string => CLASSES[kind].typ;

/**
 * The `aud` of a class.
 *
 * @param issuer the control plane's public address
 */
export function sessionTokenAudience(kind: SessionTokenClass, issuer: string): string {
  return `${withoutTrailingSlashes(issuer)}/mcp/v1/${CLASSES[kind].audience}`;
}

export const SessionTokenClaims = z.looseObject({
  iss: z.string(),
  aud: z.string(),
  /** The workflow session, or the delegation. */
  sub: Id,
  iat: z.int(),
  exp: z.int(),
  tenant_id: Id,
  /** The feed entry from which the token is valid: a replica that is behind waits for it. */
  feed_seq: z.int().nonnegative(),
});
