import { mayCoverServer, splitPermission, wildcardMatches } from '@governance/shared/permission';
import { coverServer, parseResourceScopes } from '@governance/shared/resource-scopes';
import type { RoleInput } from './role-service.ts';

const ACTIONS = ['read', 'write', 'delete', 'execute'];

/**
 * What of a role has nothing that it could concern. It may be meant for a server that comes later,
 * so none of it is refused.
 *
 * @param serverIds of the registered MCP servers
 */
export function findRoleWarnings(
  { permissions, resourceScopes }: Pick<RoleInput, 'permissions' | 'resourceScopes'>,
  serverIds: readonly string[],
): string[] {
  return [
    ...permissions.flatMap((permission) => warningsOf(permission, serverIds)),
    ...resourceScopes.flatMap((scope) => scopeWarnings(scope, serverIds)),
  ];
}

function warningsOf(permission: string, serverIds: readonly string[]): string[] {
  const { resource = '', action = '' } = splitPermission(permission) ?? {};
  const warnings: string[] = [];
  if (!ACTIONS.some((one) => wildcardMatches(action, one))) {
    warnings.push(`${permission}: the action is none of ${ACTIONS.join(', ')}`);
  }
  // Everything, and the names of MCP's own methods, which every server has.
  if (/^\*+(?:\/\*+)?$/.test(resource) || /^(?:\*\/)?mcp:/.test(resource)) return warnings;
  const isServerKnown = serverIds.some((id) => wildcardMatches(resource, id));
  if (isServerKnown) return warnings;
  if (!resource.includes('/')) {
    warnings.push(
      `${permission}: no MCP server ${resource} is registered; it covers only tools of that name`,
    );
  } else if (!serverIds.some((id) => mayCoverServer(`${resource}:*`, id))) {
    const serverId = resource.slice(0, resource.indexOf('/'));
    warnings.push(`${permission}: no MCP server ${serverId} is registered`);
  }
  return warnings;
}

function scopeWarnings(scope: string, serverIds: readonly string[]): string[] {
  const scopes = parseResourceScopes([scope]);
  if (scopes === null || scopes === 'none' || scopes.tools === null) return [];
  const effort = { left: 1_000_000 };
  if (serverIds.some((id) => coverServer(scopes, id, effort))) return [];
  return [`${scope}: the scope matches no tool of a registered MCP server, as server/tool`];
}
