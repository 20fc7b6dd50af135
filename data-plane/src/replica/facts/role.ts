/** Resolves an agent's roles to names, permissions and grants. */
import type { FactOf } from '@governance/shared/facts';
import type { ReplicaAgent } from '../../contracts.ts';
import type { FactReader } from '../fact-reader.ts';
import { grantsOf } from './role-grants.ts';

export type ResolvedRoles = Pick<ReplicaAgent, 'role_names' | 'permissions' | 'grants'>;

/** Whether facts of this kind describe roles. */
export const isRoleKind = (kind: string): boolean => kind === 'role' || kind === 'scoped_role';

/** Reads an agent's roles; `lacking` names an unknown one. */
export function readRoles(
  facts: FactReader,
  tenantId: string,
  roleIds: readonly string[],
): ResolvedRoles | { lacking: string; state: 'absent' | 'refused' } {
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
    grants: grantsOf(granting),
  };
}

/** What a role permits within its scopes; an unreadable fact permits nothing. */
function readScoped(facts: FactReader, tenantId: string, roleId: string): FactOf<'scoped_role'>[] {
  const scoped = facts.read(tenantId, 'scoped_role', roleId);
  return scoped.state === 'known' && scoped.value.id === roleId ? [scoped.value] : [];
}
