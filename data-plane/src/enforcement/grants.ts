/**
 * What an agent's roles permit. A permission counts only within the `resource_scopes` of its own
 * role, so policies are shown the permissions that hold for the call at hand, and no others.
 */
import type { RoleFact } from '@governance/shared/facts';
import { coversCall } from '@governance/shared/permission';
import {
  coverReach,
  coverTool,
  parseResourceScopes,
  type Reach,
} from '@governance/shared/resource-scopes';
import type { Grant, ReplicaAgent } from '../contracts.ts';
import { readingsOfCall } from './call-targets.ts';
import type { ClassifiedCall } from './calls.ts';

/** Steps of matching that one question may cost; beyond, a scope covers nothing. */
const EFFORT = 1_000_000;

export function newEffort() {
  return { left: EFFORT };
}

type RoleGrants = Pick<RoleFact, 'permissions' | 'resource_scopes'>;

/** The grants of some roles; those of a role whose scopes cannot be read are none. */
export function grantsOf(roles: readonly RoleGrants[]): Grant[] {
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

type Asked = Pick<ClassifiedCall, 'serverId' | 'toolName' | 'method' | 'args' | 'retry'>;

/** The permissions that hold for a call, whatever they cover. */
export function permissionsFor(grants: readonly Grant[], call: Asked): string[] {
  const [first] = grants;
  if (first === undefined) return [];
  if (grants.length === 1 && first.scopes === null) return first.permissions;
  const reach = reachOf(call, grants);
  const effort = newEffort();
  const holding = grants.filter(
    ({ scopes }) => scopes === null || coverReach(scopes, reach, effort),
  );
  return [...new Set(holding.flatMap(({ permissions }) => permissions))];
}

function reachOf(call: Asked, grants: readonly Grant[]): Reach {
  const resource = `${call.serverId}/${call.toolName}`;
  const effort = newEffort();
  const asksTargets = grants.some(
    ({ scopes }) =>
      scopes !== null && scopes.targets !== null && coverTool(scopes, resource, effort),
  );
  return { resource, targets: asksTargets ? readingsOfCall(call) : [] };
}

/** Why no permission of the agent covers a call, if none does: what it lacks. */
export interface LackingPermission {
  /** One that would cover the call. */
  permission: string;
  /** Set where a role has it, whose `resource_scopes` leave the call out. */
  isOutOfScope: boolean;
}

/** What an agent lacks for a call; undefined where a permission covers it. */
export function findLackingPermission(
  { grants }: Pick<ReplicaAgent, 'grants'>,
  call: Asked & Pick<ClassifiedCall, 'action'>,
): LackingPermission | undefined {
  const { serverId, toolName, action } = call;
  const covers = (permission: string) => coversCall(permission, serverId, toolName, action);
  if (permissionsFor(grants, call).some(covers)) return undefined;
  const permission = `${serverId}/${toolName}:${action}`;
  const isOutOfScope = grants.some(({ permissions }) => permissions.some(covers));
  return { permission, isOutOfScope };
}
