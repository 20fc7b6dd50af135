/** Tenants and their first administrators. */

import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import type { Secret } from '@governance/shared/settings';
import type { PasswordGate } from '../auth/password-gate.ts';
import { hashPassword, isPassword } from '../auth/passwords.ts';
import { SUPER_ADMIN_USERNAME, takenUsername } from '../auth/usernames.ts';
import { isUniqueViolation } from '../platform/database/database.ts';
import type { Lookups } from '../platform/database/lookups.ts';
import { type Page, rowsOf } from '../platform/database/page.ts';
import {
  type Actor,
  SYSTEM_ACTOR,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { tenantStore } from './tenant-store.ts';

/** The tenant of `admin`, which exists from the first start. */
const DEFAULT_TENANT = 'default';
export const DEFAULT_ADMIN = 'admin';

export interface Tenant {
  id: string;
  name: string;
  status: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface NewTenantRequest {
  name: string;
  admin: { username: string; password: string };
}

export interface TenantServiceDeps {
  db: TenantDatabase;
  lookups: Pick<Lookups, 'findLogin'>;
  passwordGate: PasswordGate;
  /** Writes what every tenant begins with, in the transaction that creates it. */
  begin: (tx: TenantTransaction) => Promise<void>;
  /** Standalone: why the local data plane cannot serve that number of tenants. */
  findTenantProblem?: ((tenants: number) => string | undefined) | undefined;
  /** Runs after the commit and before the answer: builds the first bundle. */
  afterCreation: (tenantId: string, feedSeq: number | undefined) => Promise<void>;
}

export interface TenantService {
  list(actor: Actor, page: Page): Promise<{ tenants: Tenant[]; total: number }>;
  /** The ids of all tenants, for the start. */
  listIds(): Promise<string[]>;
  /**
   * @throws AppError DUPLICATE_NAME for a tenant or a user of that name; OPA_SERVES_ONE_TENANT
   */
  create(
    actor: Actor,
    request: NewTenantRequest,
    requestId?: string,
    /** Writes more in the transaction that creates the tenant. */
    also?: (tx: TenantTransaction) => Promise<void>,
  ): Promise<Tenant>;
  /**
   * Creates the tenant `default` with its user `admin`, or sets that user's password if the
   * configured one changed.
   *
   * @returns the tenant's id
   */
  ensureDefaultTenant(password: Secret): Promise<string>;
}

export function createTenantService(deps: TenantServiceDeps): TenantService {
  const { db, lookups } = deps;

  const create: TenantService['create'] = async (actor, { name, admin }, requestId, also) => {
    if (admin.username === SUPER_ADMIN_USERNAME) {
      throw new AppError('DUPLICATE_NAME', 'The username is reserved.');
    }
    // The tenant that the service makes for itself is always created.
    if (actor !== SYSTEM_ACTOR) await requireServable(deps, actor);
    const passwordHash = await deps.passwordGate.run({ place: 'tenants', isFresh: false }, () =>
      hashPassword(admin.password),
    );
    const tenantId = uuidv7();
    const administrator = { id: uuidv7(), username: admin.username, passwordHash };
    // The table distinguishes case in names; this check does not.
    if (await lookups.findLogin(admin.username)) throw takenUsername();
    try {
      const { result, feedSeq } = await db.inTenantWithHeads(
        { tenantId, actor, requestId },
        async (tx) => {
          const tenant = await tenantStore(tx).create({ name, administrator });
          await deps.begin(tx);
          tx.audit.append({
            action: 'tenant_created',
            target: tenantId,
            details: { name, administrator: admin.username },
          });
          await also?.(tx);
          return tenant;
        },
      );
      await deps.afterCreation(tenantId, feedSeq);
      return result;
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      const taken = await lookups.findLogin(admin.username);
      throw taken
        ? takenUsername()
        : new AppError('DUPLICATE_NAME', 'A tenant with this name already exists.');
    }
  };

  const findDefaultTenant = () =>
    db.inPlatform(SYSTEM_ACTOR, (tx) =>
      tx.db.tenant.findUnique({ where: { name: DEFAULT_TENANT } }),
    );

  return {
    create,

    list: (actor, page) =>
      db.inPlatform(actor, async (tx) => ({
        tenants: await tx.db.tenant.findMany({
          orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
          ...rowsOf(page),
        }),
        total: await tx.db.tenant.count(),
      })),

    listIds: () =>
      db.inPlatform(SYSTEM_ACTOR, async (tx) => {
        const rows = await tx.db.tenant.findMany({ select: { id: true } });
        return rows.map((row) => row.id);
      }),

    ensureDefaultTenant: async (password) => {
      const known = await findDefaultTenant();
      if (!known) {
        try {
          const admin = { username: DEFAULT_ADMIN, password: password.reveal() };
          return (await create(SYSTEM_ACTOR, { name: DEFAULT_TENANT, admin })).id;
        } catch (error) {
          // Another replica created it at the same moment.
          const made = await findDefaultTenant();
          if (!made) throw error;
          return made.id;
        }
      }
      await ensurePassword(deps, known.id, password);
      return known.id;
    },
  };
}

/** Refuses a tenant whose every call would be denied, before anything of it is stored. */
async function requireServable(
  { db, findTenantProblem }: TenantServiceDeps,
  actor: Actor,
): Promise<void> {
  if (!findTenantProblem) return;
  const count = await db.inPlatform(actor, (tx) => tx.db.tenant.count());
  const problem = findTenantProblem(count + 1);
  if (problem) throw new AppError('OPA_SERVES_ONE_TENANT', `SERVICE_OPA_URL ${problem}.`);
}

/**
 * A password changed in the environment takes effect at the next start and ends open sessions. An
 * unchanged one does not undo changes made through the API.
 */
async function ensurePassword(
  { db, lookups }: TenantServiceDeps,
  tenantId: string,
  password: Secret,
): Promise<void> {
  const login = await lookups.findLogin(DEFAULT_ADMIN);
  // The user may have been deleted since, and the name may belong to another tenant's user now.
  if (login?.tenantId !== tenantId || login.username !== DEFAULT_ADMIN) return;
  const scope = { tenantId, actor: SYSTEM_ACTOR };
  const taken = await db.inTenant(scope, (tx) => tenantStore(tx).environmentHash(login.id));
  if (await isPassword(taken ?? login.passwordHash, password.reveal())) return;
  const passwordHash = await hashPassword(password.reveal());
  await db.inTenant(scope, async (tx) => {
    await tenantStore(tx).setEnvironmentPassword(login.id, passwordHash);
    tx.audit.append({ action: 'admin_password_changed', target: login.id });
  });
}
