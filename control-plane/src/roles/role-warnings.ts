import type { Effort } from '@governance/shared/glob';
import { LOCAL_MODELS } from '@governance/shared/mcp/local-models';
import {
  ACTIONS,
  BUILT_IN_SERVERS,
  mayCoverServer,
  splitPermission,
  wildcardMatches,
} from '@governance/shared/tokens/permission';
import { coverServer, parseResourceScopes } from '@governance/shared/tokens/resource-scopes';
import type { Role } from './role-store.ts';

/**
 * Characters compared for one role, about 50 ms of work: 1,000 permissions full of wildcards
 * against 500 servers would block every other request for half a minute.
 */
const MAX_COMPARED = 1_000_000;

/**
 * Permissions and scopes of a role that match nothing. They may be meant for a later server, so
 * they are not refused.
 *
 * @param registeredIds of the registered MCP servers
 */
export function findRoleWarnings(
  { permissions, resourceScopes }: Pick<Role, 'permissions' | 'resourceScopes'>,
  registeredIds: readonly string[],
): string[] {
  const effort: Effort = { left: MAX_COMPARED };
  const permitted = [...BUILT_IN_SERVERS, ...registeredIds];
  // Scopes cover places of calls, and no call is made to `web`.
  const called = [LOCAL_MODELS.serverId, ...registeredIds];
  const warnings = [
    ...permissions.map((permission) => () => warningsOf(permission, permitted, effort)),
    ...resourceScopes.map((scope) => () => scopeWarnings(scope, called, effort)),
  ];
  const found: string[] = [];
  for (const [index, warn] of warnings.entries()) {
    const some = warn();
    if (effort.left < 0) {
      const left = warnings.length - index;
      found.push(`${left} of the permissions and scopes were not compared: there are too many`);
      break;
    }
    found.push(...some);
  }
  return found;
}

/** Whether any server matches; gives up when the budget of comparisons is used up. */
function someServer(
  serverIds: readonly string[],
  pattern: string,
  effort: Effort,
  fits: (serverId: string) => boolean,
): boolean {
  return serverIds.some((id) => {
    effort.left -= pattern.length + id.length;
    return effort.left >= 0 && fits(id);
  });
}

function warningsOf(permission: string, serverIds: readonly string[], effort: Effort): string[] {
  const { resource = '', action = '' } = splitPermission(permission) ?? {};
  const warnings: string[] = [];
  if (!ACTIONS.some((one) => wildcardMatches(action, one))) {
    warnings.push(`${permission}: the action is not one of ${ACTIONS.join(', ')}`);
  }
  // No warning for everything (`*`), and for MCP's own methods, which every server has.
  if (/^\*+(?:\/\*+)?$/.test(resource) || /^(?:\*\/)?mcp:/.test(resource)) return warnings;
  const isServer = (id: string) => wildcardMatches(resource, id);
  if (someServer(serverIds, resource, effort, isServer)) return warnings;
  if (!resource.includes('/')) {
    warnings.push(
      `${permission}: no MCP server ${resource} is registered; it covers only tools of that name`,
    );
  } else if (
    !someServer(serverIds, resource, effort, (id) => mayCoverServer(`${resource}:*`, id))
  ) {
    const serverId = resource.slice(0, resource.indexOf('/'));
    warnings.push(`${permission}: no MCP server ${serverId} is registered`);
  }
  return warnings;
}

function scopeWarnings(scope: string, serverIds: readonly string[], effort: Effort): string[] {
  const scopes = parseResourceScopes([scope]);
  if (scopes === null || scopes === 'none' || scopes.tools === null) return [];
  if (serverIds.some((id) => coverServer(scopes, id, effort))) return [];
  return [`${scope}: the scope matches no tool of a registered MCP server, as server/tool`];
}
