/**
 * Tokens of administrators. They have their own type and audience, so an agent token is never
 * accepted as one.
 */

import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { Id } from '@governance/shared/text';
import { AGENT_TOKEN_ALG } from '@governance/shared/tokens/agent-token';
import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { AdminRole } from '../platform/admin-role.ts';
import type { Login, Lookups } from '../platform/database/lookups.ts';
import type { AdminIdentity } from '../platform/http/guards.ts';
import type { TokenKeys } from '../platform/keys/token-keys.ts';

const ADMIN_TOKEN_TYP = 'admin+jwt';
const LIFETIME_SECONDS = 8 * 60 * 60;
const CLOCK_SKEW_SECONDS = 60;
/**
 * A token from further ahead is of a clock that the operator has taken back since: it would live for
 * as long as that clock was ahead. Replicas whose clocks differ by less learn of it within a minute
 * or two (standing-clock.ts).
 */
const MAX_AHEAD_SECONDS = 300;

/**
 * `version` changes with the password, role or status and on log-out; that ends the account's
 * tokens.
 */
export type AdminAccount = AdminIdentity & {
  version: string;
  /** Versions of the same password under other accepted master keys. */
  earlierVersions?: readonly string[];
};

const Claims = z.discriminatedUnion('role', [
  z.object({
    role: AdminRole,
    sub: Id,
    username: z.string(),
    tenant_id: Id,
    token_version: z.string(),
  }),
  z.object({
    role: z.literal('super_admin'),
    sub: z.string(),
    username: z.string(),
    token_version: z.string(),
  }),
]);

export interface AdminTokens {
  issue(account: AdminAccount): Promise<string>;
  /**
   * @returns the account as it is now
   * @throws AppError UNAUTHENTICATED when it is expired, forged, of another class or revoked
   */
  authenticate(token: string): Promise<AdminIdentity>;
}

export function createAdminTokens(deps: {
  keys: Pick<TokenKeys, 'signing' | 'find'>;
  /** SERVICE_PUBLIC_URL */
  publicUrl: string;
  lookups: Pick<Lookups, 'findLogin'>;
  /** Undefined when there is no super-admin. */
  superAdmin: AdminAccount | undefined;
  now: () => Date;
}): AdminTokens {
  const { keys, publicUrl, lookups, superAdmin, now } = deps;
  const audience = `${publicUrl}/api/v1`;

  const verify = async (token: string) => {
    try {
      const findKey = async ({ kid }: { kid?: string }) => {
        const key = kid === undefined ? undefined : await keys.find(kid);
        if (!key) throw new Error('signed by an unknown key');
        return key;
      };
      const at = now();
      const { payload } = await jwtVerify(token, findKey, {
        algorithms: [AGENT_TOKEN_ALG],
        typ: ADMIN_TOKEN_TYP,
        issuer: publicUrl,
        audience,
        clockTolerance: CLOCK_SKEW_SECONDS,
        requiredClaims: ['exp', 'iat', 'jti'],
        currentDate: at,
      });
      if ((payload.iat ?? 0) > at.getTime() / 1_000 + MAX_AHEAD_SECONDS) {
        throw new Error('issued in the future');
      }
      return Claims.parse(payload);
    } catch (cause) {
      throw new AppError('UNAUTHENTICATED', undefined, { cause });
    }
  };

  return {
    issue: async (account) => {
      const { kid, privateKey } = await keys.signing();
      const issued = Math.floor(now().getTime() / 1000);
      return new SignJWT({
        role: account.role,
        username: account.username,
        token_version: account.version,
        ...(account.role === 'super_admin' ? {} : { tenant_id: account.tenantId }),
      })
        .setProtectedHeader({ alg: AGENT_TOKEN_ALG, typ: ADMIN_TOKEN_TYP, kid })
        .setSubject(account.id)
        .setIssuer(publicUrl)
        .setAudience(audience)
        .setIssuedAt(issued)
        .setExpirationTime(issued + LIFETIME_SECONDS)
        .setJti(uuidv7())
        .sign(privateKey);
    },

    authenticate: async (token) => {
      const claims = await verify(token);
      const account = await findAccount(claims, lookups, superAdmin);
      const isSame =
        account?.id === claims.sub &&
        account.role === claims.role &&
        isVersionOf(account, claims.token_version);
      if (!account || !isSame) throw new AppError('UNAUTHENTICATED');
      const { version: _, earlierVersions: __, ...identity } = account;
      return identity;
    },
  };
}

function isVersionOf({ version, earlierVersions = [] }: AdminAccount, given: string): boolean {
  return version === given || earlierVersions.includes(given);
}

async function findAccount(
  claims: z.infer<typeof Claims>,
  lookups: Pick<Lookups, 'findLogin'>,
  superAdmin: AdminAccount | undefined,
): Promise<AdminAccount | undefined> {
  if (claims.role === 'super_admin') return superAdmin;
  const login = await lookups.findLogin(claims.username);
  if (login?.status !== 'active' || login.tenantId !== claims.tenant_id) return undefined;
  return accountOf(login);
}

/** The account of a row. Its role is read here at every request, never taken from the token. */
export function accountOf(login: Login): AdminAccount & { role: AdminRole } {
  const { role, id, username, tenantId, tokenVersion } = login;
  return { role, id, username, tenantId, version: String(tokenVersion) };
}
