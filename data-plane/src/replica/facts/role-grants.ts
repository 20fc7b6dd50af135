import type { RoleFact } from '@governance/shared/facts';
import { parseResourceScopes } from '@governance/shared/resource-scopes';
import type { Grant } from '../../contracts.ts';

/** The grants of some roles; a role with unreadable scopes grants nothing. */
export function grantsOf(
  roles: readonly Pick<RoleFact, 'permissions' | 'resource_scopes'>[],
): Grant[] {
  const everywhere = new Set<string>();
  const scoped: Grant[] = [];
  for (const { permissions, resource_scopes } of roles) {
    const scopes = parseResourceScopes(resource_scopes);
    if (scopes === 'none' || permissions.length === 0) continue;
    if (scopes === null) for (const permission of permissions) everywhere.add(permission);
    else scoped.push({ permissions: [...permissions], scopes });
  }
  if (everywhere.size === 0) return scoped;
  return [{ permissions: [...everywhere], scopes: null }, ...scoped];
}
