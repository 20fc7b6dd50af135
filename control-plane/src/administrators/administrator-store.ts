import { type Page, rowsOf } from '../platform/database/page.ts';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { DEFAULT_ADMIN } from '../tenants/tenant-service.ts';
import type { Administrator, AdministratorChange, AdministratorStatus } from './administrator.ts';

type Row = Awaited<ReturnType<TenantTransaction['db']['administrator']['findFirstOrThrow']>>;

/** This feature's rows, of the transaction's tenant. */
export function administratorStore({ db, scope: { tenantId } }: TenantTransaction) {
  const at = (id: string) => ({ tenantId_id: { tenantId, id } });
  return {
    /**
     * Serialises changes of a tenant's users across replicas until the transaction ends: two
     * changes that each leave one administrator must not together leave none.
     */
    lock: (): Promise<void> => lockInTenant(db, 'administrators', tenantId),

    list: async (page: Page) => {
      const rows = await db.administrator.findMany({
        where: { tenantId },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        ...rowsOf(page),
      });
      return rows.map(toAdministrator);
    },

    count: (): Promise<number> => db.administrator.count({ where: { tenantId } }),

    countActiveAdmins: (): Promise<number> =>
      db.administrator.count({ where: { tenantId, role: 'admin', status: 'active' } }),

    find: async (id: string): Promise<Administrator | undefined> => {
      const row = await db.administrator.findUnique({ where: at(id) });
      return row ? toAdministrator(row) : undefined;
    },

    insert: async (user: Administrator, passwordHash: string): Promise<void> => {
      await db.administrator.create({ data: { tenantId, ...user, passwordHash } });
    },

    /** Also ends the user's sessions. */
    update: async (id: string, change: AdministratorChange, updatedAt: Date): Promise<void> => {
      await db.administrator.update({
        where: at(id),
        data: { ...change, updatedAt, tokenVersion: { increment: 1 } },
      });
    },

    /**
     * Sets a password, and ends the user's sessions. From then on the environment's password for
     * `admin` no longer applies; its hash is kept to notice when the environment's changes.
     *
     * @param version the expected token version; any unless given
     * @returns whether the row exists at that version
     */
    setPassword: async (
      id: string,
      { passwordHash, version }: { passwordHash: string; version?: number },
      updatedAt: Date,
    ): Promise<boolean> => {
      const row = await db.administrator.findUnique({ where: at(id) });
      if (!row) return false;
      const isDefault = row.username === DEFAULT_ADMIN;
      const environmentHash = isDefault ? (row.environmentHash ?? row.passwordHash) : null;
      const { count } = await db.administrator.updateMany({
        where: { tenantId, id, ...(version !== undefined && { tokenVersion: version }) },
        data: { passwordHash, environmentHash, updatedAt, tokenVersion: { increment: 1 } },
      });
      return count > 0;
    },

    delete: async (id: string): Promise<void> => {
      await db.administrator.delete({ where: at(id) });
    },
  };
}

function toAdministrator(row: Row): Administrator {
  const { id, username, createdAt, updatedAt } = row;
  // The table's CHECK constraints guarantee these values.
  const role = row.role as Administrator['role'];
  return { id, username, role, status: row.status as AdministratorStatus, createdAt, updatedAt };
}
