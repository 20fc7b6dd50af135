/** Resolves an agent's roles to names, permissions and permits. */
import type { FactOf, RoleFact } from '@governance/shared/channel/facts';
import { parseResourceScopes } from '@governance/shared/tokens/resource-scopes';
import type { Permit, ReplicaAgent } from '../../contracts.ts';
import type { FactReader } from '../fact-reader.ts';

/** Whether facts of this kind describe roles. */
export const isRoleKind = (kind: string): boolean => kind === 'role' || kind === 'scoped_role';

/** Reads an agent's roles; `lacking` names an unknown one. */
export function readRoles(
  facts: FactReader,
  tenantId: string,
  roleIds: readonly string[],
):
  | Pick<ReplicaAgent, 'role_names' | 'permissions' | 'permits'>
  | { lacking: string; state: 'absent' | 'refused' } {
  const roles: FactOf<'role'>[] = [];
  for (const roleId of roleIds) {
    const role = facts.read(tenantId, 'role', roleId);
    if (role.state !== 'known') return { lacking: roleId, state: role.state };
    roles.push(role.value);
  }
  const granting = roles.flatMap((role) => [role, ...readScoped(facts, tenantId, role.id)]);
  return {
    role_names: roles.map((role) => role.name),
    permissions: [...new Set(granting.flatMap((role) => role.permissions))],
    permits: permitsOf(granting),
  };
}

/** What a role permits within its scopes; an unreadable fact permits nothing. */
function readScoped(facts: FactReader, tenantId: string, roleId: string): FactOf<'scoped_role'>[] {
  const scoped = facts.read(tenantId, 'scoped_role', roleId);
  return scoped.state === 'known' && scoped.value.id === roleId ? [scoped.value] : [];
}

/** The permits of some roles; a role with unreadable scopes permits nothing. */
export function permitsOf(
  roles: readonly Pick<RoleFact, 'permissions' | 'resource_scopes'>[],
): Permit[] {
  const everywhere = new Set<string>();
  const scoped: Permit[] = [];
  for (const { permissions, resource_scopes } of roles) {
    const scopes = parseResourceScopes(resource_scopes);
    if (scopes === 'none' || permissions.length === 0) continue;
    if (scopes === null) for (const permission of permissions) everywhere.add(permission);
    else scoped.push({ permissions: [...permissions], scopes });
  }
  if (everywhere.size === 0) return scoped;
  return [{ permissions: [...everywhere], scopes: null }, ...scoped];
}
