/**
 * The users of a tenant. Changing a user ends their sessions in the same transaction: every replica
 * rejects the older token version at the next request. A tenant always keeps one active
 * administrator, also under concurrent changes. Proven by administrator-routes.pg.test.ts.
 */

import { AppError } from '@governance/shared/errors';
import { createRateLimiter } from '@governance/shared/http/rate-limiter';
import { uuidv7 } from '@governance/shared/ids';
import { HOUR_MS } from '@governance/shared/time/durations';
import type { PasswordGate } from '../auth/password-gate.ts';
import { hashPassword } from '../auth/passwords.ts';
import { SUPER_ADMIN_USERNAME, takenUsername } from '../auth/usernames.ts';
import { isUniqueViolation } from '../platform/database/database.ts';
import type { Lookups } from '../platform/database/lookups.ts';
import type { Page } from '../platform/database/page.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import {
  type Administrator,
  type AdministratorChange,
  isActiveAdmin,
  MAX_ADMINISTRATORS,
} from './administrator.ts';
import type { NewUserBody, UserPatchBody } from './administrator-schemas.ts';
import { administratorStore } from './administrator-store.ts';

/** A taken name may belong to another tenant, so attempts that fail are limited per hour. */
const FAILED_BY_TENANT = 30;

export interface AdministratorServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  lookups: Pick<Lookups, 'findLogin'>;
  passwordGate: PasswordGate;
  now: () => Date;
  /** Monotonic milliseconds, by which limits count. */
  limitClock: () => number;
}

export type AdministratorService = ReturnType<typeof createAdministratorService>;

export function createAdministratorService(deps: AdministratorServiceDeps) {
  const { db, lookups, now, limitClock: elapsed } = deps;
  const failed = createRateLimiter({ limit: FAILED_BY_TENANT, windowMs: HOUR_MS, elapsed });

  const hash = ({ tenantId }: TenantScope, password: string): Promise<string> =>
    deps.passwordGate.run({ place: `tenant ${tenantId}`, isFresh: false }, () =>
      hashPassword(password),
    );

  /** Serialises changes of users; the caller must still be an administrator. */
  const changing = <T>(
    scope: TenantScope,
    work: (tx: TenantTransaction, store: ReturnType<typeof administratorStore>) => Promise<T>,
  ): Promise<T> =>
    db.inTenant(scope, async (tx) => {
      const store = administratorStore(tx);
      await store.lock();
      await requireStanding(scope, store);
      return work(tx, store);
    });

  return {
    list: (scope: TenantScope, page: Page) =>
      db.inTenant(scope, async (tx) => {
        const store = administratorStore(tx);
        return { users: await store.list(page), total: await store.count() };
      }),

    /**
     * @throws AppError DUPLICATE_NAME for a name taken in any tenant, ADMINISTRATOR_LIMIT_REACHED,
     * RATE_LIMITED
     */
    create: async (
      scope: TenantScope,
      { username, password, role }: NewUserBody,
    ): Promise<Administrator> => {
      if (username === SUPER_ADMIN_USERNAME) {
        throw new AppError('DUPLICATE_NAME', 'The username is reserved.');
      }
      // Counted before the first await, so that concurrent attempts count together.
      failed.check(scope.tenantId);
      failed.count(scope.tenantId);
      const passwordHash = await hash(scope, password);
      if (await lookups.findLogin(username)) throw takenUsername();
      const at = now();
      const times = { createdAt: at, updatedAt: at };
      const user: Administrator = {
        ...{ id: uuidv7(at.getTime()), username, role, status: 'active' },
        ...times,
      };
      const work = changing(scope, async (tx, store) => {
        if ((await store.count()) >= MAX_ADMINISTRATORS) {
          throw new AppError('ADMINISTRATOR_LIMIT_REACHED');
        }
        await store.insert(user, passwordHash);
        tx.audit.append({
          action: 'administrator_created',
          target: `administrator/${user.id}`,
          details: { username, role },
        });
      });
      await work.catch((error) => {
        throw isUniqueViolation(error) ? takenUsername() : error;
      });
      failed.giveBack(scope.tenantId);
      return user;
    },

    /** @throws AppError ADMINISTRATOR_NOT_FOUND, OWN_ACCOUNT, LAST_ADMINISTRATOR */
    change: async (
      scope: TenantScope,
      id: string,
      { password, ...given }: UserPatchBody,
    ): Promise<Administrator> => {
      const passwordHash = password === undefined ? undefined : await hash(scope, password);
      return changing(scope, async (tx, store) => {
        const before = await getUser(store, id);
        requireOther(scope, before);
        const { change, after } = changeOf(before, given);
        const names = [...Object.keys(change), ...(passwordHash === undefined ? [] : ['password'])];
        if (names.length === 0) return before;
        await requireOneLeft(store, before, after);
        const at = now();
        await store.update(id, change, at);
        if (passwordHash !== undefined) await store.setPassword(id, { passwordHash }, at);
        tx.audit.append({
          action: 'administrator_updated',
          target: `administrator/${id}`,
          details: {
            username: before.username,
            changed: names,
            role: after.role,
            role_before: before.role,
            status: after.status,
            status_before: before.status,
          },
        });
        return { ...after, updatedAt: at };
      });
    },

    /** @throws AppError ADMINISTRATOR_NOT_FOUND, OWN_ACCOUNT, LAST_ADMINISTRATOR */
    remove: async (scope: TenantScope, id: string): Promise<void> => {
      await changing(scope, async (tx, store) => {
        const before = await getUser(store, id);
        requireOther(scope, before);
        await requireOneLeft(store, before, undefined);
        await store.delete(id);
        const { username, role, status } = before;
        tx.audit.append({
          action: 'administrator_deleted',
          target: `administrator/${id}`,
          details: { username, role, status },
        });
      });
    },

    /** @throws AppError ADMINISTRATOR_NOT_FOUND */
    endSessions: (scope: TenantScope, id: string): Promise<void> =>
      changing(scope, async (tx, store) => {
        const { username } = await getUser(store, id);
        await store.update(id, {}, now());
        tx.audit.append({
          action: 'administrator_sessions_ended',
          target: `administrator/${id}`,
          details: { username },
        });
      }),
  };
}

async function getUser(
  store: ReturnType<typeof administratorStore>,
  id: string,
): Promise<Administrator> {
  const user = await store.find(id);
  if (!user) throw new AppError('ADMINISTRATOR_NOT_FOUND');
  return user;
}

/** The fields that differ from the present ones, and their effects. */
function changeOf(before: Administrator, given: AdministratorChange) {
  const { role = before.role, status = before.status } = given;
  const change: AdministratorChange = {
    ...(role !== before.role && { role }),
    ...(status !== before.status && { status }),
  };
  return { change, after: { ...before, ...change } };
}

/** A stolen token must not set a password, and nobody locks themselves out by mistake. */
function requireOther({ actor }: TenantScope, { id }: Administrator): void {
  if (actor.id === id) throw new AppError('OWN_ACCOUNT');
}

/** The guard ran before this transaction: a concurrent change may have taken the role away. */
async function requireStanding(
  { actor, breakGlass }: TenantScope,
  store: ReturnType<typeof administratorStore>,
): Promise<void> {
  if (breakGlass) return;
  const caller = await store.find(actor.id);
  if (!caller || !isActiveAdmin(caller)) throw new AppError('UNAUTHENTICATED');
}

async function requireOneLeft(
  store: ReturnType<typeof administratorStore>,
  before: Administrator,
  after: Administrator | undefined,
): Promise<void> {
  if (!isActiveAdmin(before) || (after && isActiveAdmin(after))) return;
  if ((await store.countActiveAdmins()) < 2) throw new AppError('LAST_ADMINISTRATOR');
}
