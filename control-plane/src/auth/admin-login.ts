/**
 * The administrators' login by password. An unknown user takes the same time and gets the same
 * answer as a wrong password. An attempt is counted before anything is awaited, so that guesses
 * sent together count together: by address, and by user and address. Strangers cannot lock a user
 * out: guesses from many addresses delay that user's logins, but no login is refused for them.
 * Proven by admin-login.test.ts.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@governance/shared/errors';
import { addressGroup } from '@governance/shared/http/client-address';
import { createRateLimiter } from '@governance/shared/http/rate-limiter';
import { Secret } from '@governance/shared/settings';
import type { Lookups } from '../platform/database/lookups.ts';
import type { TenantDatabase } from '../platform/database/tenant-scope.ts';
import { type AdminAccount, type AdminTokens, accountOf } from './admin-tokens.ts';
import { createPasswordGate, type PasswordGate } from './password-gate.ts';
import { hashPassword, isPassword, makeDecoyHash } from './passwords.ts';
import { comparableUsername, SUPER_ADMIN_USERNAME } from './usernames.ts';

const ATTEMPTS_BY_ADDRESS = 60;
const ATTEMPTS_BY_USER_AND_ADDRESS = 10;
const WINDOW_MS = 60_000;

/** Failures of a user in the window that cause no delay: as many as one address may make. */
const FREE_FAILURES = ATTEMPTS_BY_USER_AND_ADDRESS;
const FIRST_DELAY_MS = 100;
export const LONGEST_DELAY_MS = 5_000;
/** The most logins delayed at once; further ones wait at the gate only. */
const MOST_DELAYED = 500;

/** `superadmin` has no row: its password is set in the environment. */
export interface SuperAdmin {
  account: AdminAccount & { role: 'super_admin' };
  passwordHash: string;
}

/**
 * @param masterKey derives the token version, which ends its tokens when the password changes
 * @param previous other accepted master keys, so that changing the master key ends no tokens
 */
export async function createSuperAdmin(
  password: Secret | undefined,
  masterKey: Secret<Buffer>,
  previous: Secret<Buffer[]> = new Secret([]),
): Promise<SuperAdmin | undefined> {
  if (!password) return undefined;
  const versionBy = (key: Buffer) =>
    createHmac('sha256', key)
      .update('superadmin token version\0')
      .update(password.reveal())
      .digest('base64url')
      .slice(0, 22);
  return {
    account: {
      role: 'super_admin',
      id: SUPER_ADMIN_USERNAME,
      username: SUPER_ADMIN_USERNAME,
      version: versionBy(masterKey.reveal()),
      earlierVersions: previous.reveal().map(versionBy),
    },
    passwordHash: await hashPassword(password.reveal()),
  };
}

export interface PasswordAttempt {
  username: string;
  password: string;
  /** The caller's address. */
  address: string;
}

export interface AdminLogin {
  /** @throws AppError BAD_CREDENTIALS, RATE_LIMITED */
  login(
    attempt: PasswordAttempt & { requestId: string },
  ): Promise<{ token: string; username: string }>;
  /**
   * The active account with this password; counted like a log-in.
   *
   * @throws AppError RATE_LIMITED
   */
  verify(attempt: PasswordAttempt): Promise<AdminAccount | undefined>;
}

export async function createAdminLogin(deps: {
  lookups: Pick<Lookups, 'findLogin'>;
  db: Pick<TenantDatabase, 'inTenant'>;
  tokens: Pick<AdminTokens, 'issue'>;
  superAdmin: SuperAdmin | undefined;
  /** Monotonic milliseconds, by which limits count. */
  limitClock: () => number;
  /** Shared by everything that computes argon2. */
  gate?: PasswordGate;
  delay?: (ms: number) => Promise<unknown>;
}): Promise<AdminLogin> {
  const { lookups, db, tokens, superAdmin, limitClock: elapsed, delay = sleep } = deps;
  const byAddress = createRateLimiter({ limit: ATTEMPTS_BY_ADDRESS, windowMs: WINDOW_MS, elapsed });
  const byUserAndAddress = createRateLimiter({
    limit: ATTEMPTS_BY_USER_AND_ADDRESS,
    windowMs: WINDOW_MS,
    elapsed,
  });
  const failuresOfUser = createRateLimiter({ limit: Infinity, windowMs: WINDOW_MS, elapsed });
  const gate = deps.gate ?? createPasswordGate();
  let delayed = 0;
  const decoyHash = await makeDecoyHash();

  const findAccount = async (
    username: string,
  ): Promise<{ account: AdminAccount; passwordHash: string } | undefined> => {
    const counted = comparableUsername(username);
    if (counted === SUPER_ADMIN_USERNAME) return superAdmin;
    const login = await lookups.findLogin(username);
    if (login?.status !== 'active') return undefined;
    // PostgreSQL takes more spellings for one name (`İ` for `i`): each would have a count of its own.
    if (comparableUsername(login.username) !== counted) return undefined;
    return { account: accountOf(login), passwordHash: login.passwordHash };
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

  /** @returns the account where the password is right */
  const judge = async (username: string, password: string): Promise<AdminAccount | undefined> => {
    const found = await findAccount(username);
    const isRight = await isPassword(found?.passwordHash ?? decoyHash, password);
    return isRight ? found?.account : undefined;
  };

  const verify: AdminLogin['verify'] = async ({ username, password, address }) => {
    const place = addressGroup(address);
    // Spellings of one user name count together.
    const user = comparableUsername(username);
    const pair = `${place} ${user}`;
    byAddress.check(place);
    byUserAndAddress.check(pair);
    const isFresh = byAddress.used(place) === 0;
    byAddress.count(place);
    byUserAndAddress.count(pair);
    let account: AdminAccount | undefined;
    try {
      await slowDown(user);
      account = await gate.run({ place, isFresh }, () => judge(username, password));
    } catch (error) {
      // No password was verified: the gate refused it, or the database is unreachable.
      byAddress.giveBack(place);
      byUserAndAddress.giveBack(pair);
      throw error;
    }
    if (!account) {
      failuresOfUser.count(user);
      return undefined;
    }
    byAddress.giveBack(place);
    byUserAndAddress.forget(pair);
    return account;
  };

  return {
    verify,

    login: async ({ requestId, ...attempt }) => {
      const account = await verify(attempt);
      if (!account) throw new AppError('BAD_CREDENTIALS');
      const { id, username, role } = account;
      if (account.role !== 'super_admin') {
        const { tenantId } = account;
        await db.inTenant({ tenantId, actor: { id, username, role }, requestId }, async (tx) =>
          tx.audit.append({ action: 'admin_logged_in', target: id }),
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
