import { nameOfMethod, useOfList } from './call-kinds.ts';
import type { Action } from './calls.ts';

/**
 * Whether a permission of the agent covers a tool, as the baseline policy sees it: `resource:action`
 * where the resource is a server, `server/tool` or a tool, with `*` for any run of characters in
 * either part. Used to leave tools out of a list, which is a convenience and no control: what is
 * called is judged by policy.
 *
 * @param permissions the agent's, `resource:action` each; what has no colon covers nothing
 */
export function isToolVisible(
  permissions: readonly string[],
  serverId: string,
  toolName: string,
  action: Action,
): boolean {
  return permissions.some((permission) => {
    const colon = permission.lastIndexOf(':');
    if (colon < 0) return false;
    if (!matches(permission.slice(colon + 1), action)) return false;
    const resource = permission.slice(0, colon);
    return (
      matches(resource, serverId) ||
      matches(resource, `${serverId}/${toolName}`) ||
      matches(resource, toolName)
    );
  });
}

/** Whether a permission could cover any tool of a server. */
export function isServerVisible(permissions: readonly string[], serverId: string): boolean {
  return permissions.some((permission) => {
    const colon = permission.lastIndexOf(':');
    if (colon < 0) return false;
    const resource = permission.slice(0, colon);
    const slash = resource.indexOf('/');
    // A resource without a slash may be the name of a tool, which any server may have.
    return slash < 0 || matches(resource.slice(0, slash), serverId);
  });
}

/**
 * Whether an agent is shown anything of a list of a server's.
 *
 * @param method of the list
 */
export function isListVisible(
  permissions: readonly string[],
  serverId: string,
  method: string,
): boolean {
  const use = useOfList(method);
  if (use === null) return isServerVisible(permissions, serverId);
  return isToolVisible(permissions, serverId, nameOfMethod(use), 'read');
}

/** A glob of `*` alone, without backtracking: each piece is found once, left to right. */
function matches(pattern: string, text: string): boolean {
  const pieces = pattern.split('*');
  const first = pieces[0] ?? '';
  if (pieces.length === 1) return pattern === text;
  const last = pieces[pieces.length - 1] ?? '';
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  if (text.length < first.length + last.length) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
