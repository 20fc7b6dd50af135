/**
 * The administrators' login by password. It costs the same for users that do not exist, and says
 * the same; guesses are limited by address, and failures by user.
 */
import { createHmac } from 'node:crypto';
import { AppError } from '@governance/shared/errors';
import { createRateLimiter } from '@governance/shared/rate-limiter';
import type { Secret } from '@governance/shared/settings';
import type { Lookups } from '../platform/lookups.ts';
import type { TenantDatabase } from '../platform/tenant-scope.ts';
import type { AdminAccount, AdminTokens } from './admin-tokens.ts';
import { hashPassword, isPassword, makeDecoyHash } from './passwords.ts';

export const SUPER_ADMIN_USERNAME = 'superadmin';

const ATTEMPTS_BY_ADDRESS = 60;
const FAILURES_BY_USER = 10;
const WINDOW_MS = 60_000;

/** `superadmin` is no row: whoever may set the environment may be it. */
export interface SuperAdmin {
  account: AdminAccount & { role: 'super_admin' };
  passwordHash: string;
}

/** @param masterKey makes the version of its tokens, which ends them when the password changes */
export async function createSuperAdmin(
  password: Secret | undefined,
  masterKey: Secret<Buffer>,
): Promise<SuperAdmin | undefined> {
  if (!password) return undefined;
  const version = createHmac('sha256', masterKey.reveal())
    .update('superadmin token version\0')
    .update(password.reveal())
    .digest('base64url')
    .slice(0, 22);
  return {
    account: {
      role: 'super_admin',
      id: SUPER_ADMIN_USERNAME,
      username: SUPER_ADMIN_USERNAME,
      version,
    },
    passwordHash: await hashPassword(password.reveal()),
  };
}

export interface AdminLogin {
  /**
   * @param attempt.ip the caller's address
   * @throws AppError BAD_CREDENTIALS, RATE_LIMITED
   */
  login(attempt: {
    username: string;
    password: string;
    ip: string;
    requestId: string;
  }): Promise<{ token: string; username: string }>;
}

export async function createAdminLogin(deps: {
  lookups: Pick<Lookups, 'findLogin'>;
  db: Pick<TenantDatabase, 'inTenant'>;
  tokens: Pick<AdminTokens, 'issue'>;
  superAdmin: SuperAdmin | undefined;
  now: () => Date;
}): Promise<AdminLogin> {
  const { lookups, db, tokens, superAdmin, now } = deps;
  const byAddress = createRateLimiter({ limit: ATTEMPTS_BY_ADDRESS, windowMs: WINDOW_MS, now });
  const byUser = createRateLimiter({ limit: FAILURES_BY_USER, windowMs: WINDOW_MS, now });
  const decoyHash = await makeDecoyHash();

  const findAccount = async (
    username: string,
  ): Promise<{ account: AdminAccount; passwordHash: string } | undefined> => {
    if (username === SUPER_ADMIN_USERNAME) return superAdmin;
    const login = await lookups.findLogin(username);
    if (login?.status !== 'active') return undefined;
    const { id, tenantId, passwordHash, tokenVersion } = login;
    const version = String(tokenVersion);
    return { account: { role: 'admin', id, username, tenantId, version }, passwordHash };
  };

  return {
    login: async ({ username, password, ip, requestId }) => {
      byAddress.check(ip);
      byAddress.count(ip);
      byUser.check(username);
      const found = await findAccount(username);
      const isRight = await isPassword(found?.passwordHash ?? decoyHash, password);
      if (!found || !isRight) {
        byUser.count(username);
        throw new AppError('BAD_CREDENTIALS');
      }
      byUser.forget(username);
      const { account } = found;
      if (account.role === 'admin') {
        const { id, tenantId } = account;
        await db.inTenant(
          { tenantId, actor: { id, username, role: 'admin' }, requestId },
          async (tx) => tx.audit.append({ action: 'admin_logged_in', target: id }),
        );
      }
      return { token: await tokens.issue(account), username };
    },
  };
}
