import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { parseResourceScopes } from '@governance/shared/tokens/resource-scopes';
import { lockRoles, requireRoomForRoles } from '../agents/role-limits.ts';
import { readServerIds } from '../mcp-servers/mcp-server-service.ts';
import { isUniqueViolation } from '../platform/database/database.ts';
import type { Page } from '../platform/database/page.ts';
import type { TenantDatabase, TenantScope } from '../platform/database/tenant-scope.ts';
import { type Role, roleStore } from './role-store.ts';
import { findRoleWarnings } from './role-warnings.ts';

export interface RoleServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  applied: AppliedBarrier;
  now: () => Date;
}

export type RoleInput = Pick<Role, 'name' | 'description' | 'permissions' | 'resourceScopes'>;

export type RoleService = ReturnType<typeof createRoleService>;

export function createRoleService({ db, applied, now }: RoleServiceDeps) {
  return {
    list: (scope: TenantScope, page: Page) => db.inTenant(scope, (tx) => roleStore(tx).list(page)),

    create: async (
      scope: TenantScope,
      input: RoleInput,
    ): Promise<{ role: Role; warnings: string[] }> => {
      const at = now();
      const id = uuidv7(at.getTime());
      const { permissions, resourceScopes: resource_scopes, name } = input;
      try {
        const { result, feedSeq } = await db.inTenantWithHeads(scope, async (tx) => {
          await lockRoles(tx);
          const role = await roleStore(tx).create({ id, ...input }, at);
          await requireRoomForRoles(tx);
          // A role with scopes is a fact of a separate kind, which data planes without support for
          // scopes ignore.
          const isScoped = parseResourceScopes(resource_scopes) !== null;
          const flat = isScoped ? [] : permissions;
          tx.feed.append({
            kind: 'role',
            key: id,
            value: { id, name, permissions: flat, resource_scopes },
          });
          if (isScoped) {
            const value = { id, permissions, resource_scopes };
            tx.feed.append({ kind: 'scoped_role', key: id, value });
          }
          tx.audit.append({
            action: 'role_created',
            target: `role/${id}`,
            details: { name, permissions, resource_scopes },
          });
          return { role, warnings: findRoleWarnings(input, await readServerIds(tx)) };
        });
        if (feedSeq !== undefined) await applied.wait(scope.tenantId, { feedSeq });
        return result;
      } catch (error) {
        if (isUniqueViolation(error)) {
          throw new AppError('DUPLICATE_NAME', 'A role with this name already exists.');
        }
        throw error;
      }
    },
  };
}
