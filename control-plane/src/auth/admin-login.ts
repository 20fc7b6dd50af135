/**
 * The administrators' login by password. An unknown user costs the same time and gets the same
 * answer. An attempt is counted before anything is awaited, so that guesses sent together count
 * together: by address, and by user and address. Strangers cannot lock a user out: guesses from
 * many addresses slow that user's logins down and refuse none. Proven by admin-login.test.ts.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { addressGroup } from '@governance/shared/client-address';
import { AppError } from '@governance/shared/errors';
import { createRateLimiter } from '@governance/shared/rate-limiter';
import type { Secret } from '@governance/shared/settings';
import type { Lookups } from '../platform/lookups.ts';
import type { TenantDatabase } from '../platform/tenant-scope.ts';
import type { AdminAccount, AdminTokens } from './admin-tokens.ts';
import { createPasswordGate } from './password-gate.ts';
import { hashPassword, isPassword, makeDecoyHash } from './passwords.ts';

export const SUPER_ADMIN_USERNAME = 'superadmin';

const ATTEMPTS_BY_ADDRESS = 60;
const ATTEMPTS_BY_USER_AND_ADDRESS = 10;
const WINDOW_MS = 60_000;

/** Failures of a user in the window that slow nothing down: as many as one address may make. */
const FREE_FAILURES = ATTEMPTS_BY_USER_AND_ADDRESS;
const FIRST_DELAY_MS = 100;
export const LONGEST_DELAY_MS = 5_000;
/** The most logins that are delayed at once; more wait at the gate alone. */
const MOST_DELAYED = 500;

/** `superadmin` has no row: its password is set in the environment. */
export interface SuperAdmin {
  account: AdminAccount & { role: 'super_admin' };
  passwordHash: string;
}

/** @param masterKey derives the token version, which ends its tokens when the password changes */
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
   * @param attempt.address the caller's
   * @throws AppError BAD_CREDENTIALS, RATE_LIMITED
   */
  login(attempt: {
    username: string;
    password: string;
    address: string;
    requestId: string;
  }): Promise<{ token: string; username: string }>;
}

export async function createAdminLogin(deps: {
  lookups: Pick<Lookups, 'findLogin'>;
  db: Pick<TenantDatabase, 'inTenant'>;
  tokens: Pick<AdminTokens, 'issue'>;
  superAdmin: SuperAdmin | undefined;
  now: () => Date;
  delay?: (ms: number) => Promise<unknown>;
}): Promise<AdminLogin> {
  const { lookups, db, tokens, superAdmin, now, delay = sleep } = deps;
  const byAddress = createRateLimiter({ limit: ATTEMPTS_BY_ADDRESS, windowMs: WINDOW_MS, now });
  const byUserAndAddress = createRateLimiter({
    limit: ATTEMPTS_BY_USER_AND_ADDRESS,
    windowMs: WINDOW_MS,
    now,
  });
  const failuresOfUser = createRateLimiter({ limit: Infinity, windowMs: WINDOW_MS, now });
  const gate = createPasswordGate();
  let delayed = 0;
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

  const slowDown = async (username: string): Promise<void> => {
    const ms = delayAfter(failuresOfUser.used(username));
    if (ms === 0 || delayed >= MOST_DELAYED) return;
    delayed++;
    try {
      await delay(ms);
    } finally {
      delayed--;
    }
  };

  /** @returns the account where the password is its own */
  const verify = async (username: string, password: string): Promise<AdminAccount | undefined> => {
    const found = await findAccount(username);
    const isRight = await isPassword(found?.passwordHash ?? decoyHash, password);
    return isRight ? found?.account : undefined;
  };

  return {
    login: async ({ username, password, address, requestId }) => {
      const place = addressGroup(address);
      const pair = `${place} ${username}`;
      byAddress.check(place);
      byUserAndAddress.check(pair);
      const isFresh = byAddress.used(place) === 0;
      byAddress.count(place);
      byUserAndAddress.count(pair);
      let account: AdminAccount | undefined;
      try {
        await slowDown(username);
        account = await gate.run(place, isFresh, () => verify(username, password));
      } catch (error) {
        // No password was verified: the gate refused it, or the database is unreachable.
        byAddress.giveBack(place);
        byUserAndAddress.giveBack(pair);
        throw error;
      }
      if (!account) {
        failuresOfUser.count(username);
        throw new AppError('BAD_CREDENTIALS');
      }
      byAddress.giveBack(place);
      byUserAndAddress.forget(pair);
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

/** @param failures of the user in the window */
function delayAfter(failures: number): number {
  if (failures <= FREE_FAILURES) return 0;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.floor(failures - FREE_FAILURES));
}
