import type { BundleSettings } from '@governance/shared/bundle-format';
import { coversCall, mayCoverServer, splitPermission } from '@governance/shared/permission';
import { coverServer, coverTool } from '@governance/shared/resource-scopes';
import type { Grant } from '../contracts.ts';
import { nameOfMethod, useOfList } from './call-kinds.ts';
import type { Action } from './calls.ts';
import { newEffort } from './grants.ts';

/**
 * Whether a permission of the agent covers a tool, as the baseline policy sees it, at some target.
 * Used to leave tools out of a list, which is a convenience and no control: what is called is judged
 * by policy.
 */
export function isToolVisible(
  grants: readonly Grant[],
  serverId: string,
  toolName: string,
  action: Action,
): boolean {
  const effort = newEffort();
  return grants.some(
    ({ permissions, scopes }) =>
      permissions.some((permission) => coversCall(permission, serverId, toolName, action)) &&
      (scopes === null || coverTool(scopes, `${serverId}/${toolName}`, effort)),
  );
}

/** The registry, where it is known. */
export type Registry = { readonly settings: Pick<BundleSettings, 'mcp_servers'> } | null;

/**
 * Whether a permission could cover anything of a server. One that is the name of another server is
 * taken for that, though a tool could be called the same.
 */
export function isServerVisible(
  grants: readonly Grant[],
  serverId: string,
  registry: Registry,
): boolean {
  const effort = newEffort();
  const servers = registry?.settings.mcp_servers ?? {};
  return grants.some(
    ({ permissions, scopes }) =>
      permissions.some((permission) => {
        const resource = splitPermission(permission)?.resource ?? '';
        if (resource !== serverId && Object.hasOwn(servers, resource)) return false;
        return mayCoverServer(permission, serverId);
      }) &&
      (scopes === null || coverServer(scopes, serverId, effort)),
  );
}

/**
 * Whether an agent is shown anything of a list of a server's.
 *
 * @param method of the list
 */
export function isListVisible(
  grants: readonly Grant[],
  serverId: string,
  method: string,
  registry: Registry,
): boolean {
  const use = useOfList(method);
  if (use === null) return isServerVisible(grants, serverId, registry);
  return isToolVisible(grants, serverId, nameOfMethod(use), 'read');
}
