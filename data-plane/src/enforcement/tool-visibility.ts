import { coversCall, mayCoverServer } from '@governance/shared/permission';
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

/** Whether a permission could cover anything of a server. */
export function isServerVisible(grants: readonly Grant[], serverId: string): boolean {
  const effort = newEffort();
  return grants.some(
    ({ permissions, scopes }) =>
      permissions.some((permission) => mayCoverServer(permission, serverId)) &&
      (scopes === null || coverServer(scopes, serverId, effort)),
  );
}

/**
 * Whether an agent is shown anything of a list of a server's.
 *
 * @param method of the list
 */
export function isListVisible(grants: readonly Grant[], serverId: string, method: string): boolean {
  const use = useOfList(method);
  if (use === null) return isServerVisible(grants, serverId);
  return isToolVisible(grants, serverId, nameOfMethod(use), 'read');
}
