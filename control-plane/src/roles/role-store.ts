import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

export interface Role {
  id: string;
  name: string;
  description: string;
  permissions: string[];
  resourceScopes: string[];
  createdAt: Date;
  updatedAt: Date;
}

export function roleStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    create: (role: Omit<Role, 'createdAt' | 'updatedAt'>, now: Date): Promise<Role> =>
      db.role.create({ data: { tenantId, ...role, createdAt: now, updatedAt: now } }),

    /** By name. */
    list: async (page: Page) => {
      const where = { tenantId };
      const rows: Role[] = await db.role.findMany({
        where,
        orderBy: { name: 'asc' },
        ...rowsOf(page),
      });
      return { roles: rows, total: await db.role.count({ where }) };
    },
  };
}
