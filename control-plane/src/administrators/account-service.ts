/** What users do with their own account. */
import { AppError } from '@governance/shared/errors';
import type { AdminLogin } from '../auth/admin-login.ts';
import type { AdminTokens } from '../auth/admin-tokens.ts';
import type { PasswordGate } from '../auth/password-gate.ts';
import { hashPassword } from '../auth/passwords.ts';
import type { TenantDatabase, TenantScope } from '../platform/database/tenant-scope.ts';
import { administratorStore } from './administrator-store.ts';

export interface AccountServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  adminLogin: Pick<AdminLogin, 'verify'>;
  adminTokens: Pick<AdminTokens, 'issue'>;
  passwordGate: PasswordGate;
  now: () => Date;
}

export type AccountService = ReturnType<typeof createAccountService>;

export interface PasswordChange {
  current: string;
  next: string;
  /** The caller's address. */
  address: string;
}

export function createAccountService(deps: AccountServiceDeps) {
  const { db, adminLogin, adminTokens, now } = deps;
  return {
    /**
     * Ends all sessions of the account. Guesses of the present password count like log-ins.
     *
     * @returns a token that replaces the caller's
     * @throws AppError BAD_CREDENTIALS for a wrong present password, RATE_LIMITED
     */
    changePassword: async (scope: TenantScope, change: PasswordChange): Promise<string> => {
      const { actor, tenantId } = scope;
      const { current: password, next, address } = change;
      const account = await adminLogin.verify({ username: actor.username, password, address });
      if (!account || account.id !== actor.id) {
        throw new AppError('BAD_CREDENTIALS', 'The current password is wrong.');
      }
      const passwordHash = await deps.passwordGate.run(
        { place: `tenant ${tenantId}`, isFresh: false },
        () => hashPassword(next),
      );
      const version = Number(account.version);
      await db.inTenant(scope, async (tx) => {
        const store = administratorStore(tx);
        await store.lock();
        // Another change of the account ended its sessions in the meantime.
        const isSet = await store.setPassword(actor.id, { passwordHash, version }, now());
        if (!isSet) throw new AppError('UNAUTHENTICATED');
        tx.audit.append({ action: 'admin_password_changed', target: actor.id });
      });
      return adminTokens.issue({ ...account, version: String(version + 1) });
    },

    /** Ends all sessions of the account, including the caller's. */
    logOut: (scope: TenantScope): Promise<void> =>
      db.inTenant(scope, async (tx) => {
        const store = administratorStore(tx);
        await store.lock();
        if (!(await store.find(scope.actor.id))) return;
        await store.update(scope.actor.id, {}, now());
        tx.audit.append({ action: 'admin_logged_out', target: scope.actor.id });
      }),
  };
}
