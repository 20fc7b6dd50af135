/**
 * Permissions, `resource:action`: the resource is an MCP server, `server/tool` or a tool, the action
 * read, write, delete or execute; `*` stands for any run of characters in either part. The same
 * meaning as in policies/rego/lib/permissions.rego.
 */

export const ACTIONS: readonly string[] = ['read', 'write', 'delete', 'execute'];

/**
 * Split at its last colon, since a resource may contain one; undefined for a malformed permission.
 */
export function splitPermission(
  permission: string,
): { resource: string; action: string } | undefined {
  const colon = permission.lastIndexOf(':');
  if (colon < 0) return undefined;
  return { resource: permission.slice(0, colon), action: permission.slice(colon + 1) };
}

/** Whether a permission covers a call. */
export function coversCall(
  permission: string,
  serverId: string,
  toolName: string,
  action: string,
): boolean {
  const parts = splitPermission(permission);
  if (parts === undefined || !wildcardMatches(parts.action, action)) return false;
  return (
    wildcardMatches(parts.resource, serverId) ||
    wildcardMatches(parts.resource, `${serverId}/${toolName}`) ||
    wildcardMatches(parts.resource, toolName)
  );
}

/** Whether a permission could cover any call of a server. */
export function mayCoverServer(permission: string, serverId: string): boolean {
  const parts = splitPermission(permission);
  if (parts === undefined) return false;
  const { resource, action } = parts;
  if (resource === '' || !ACTIONS.some((one) => wildcardMatches(action, one))) return false;
  const slash = resource.indexOf('/');
  // A resource without a slash may be the name of a tool, which any server may have.
  return slash < 0 || wildcardMatches(resource.slice(0, slash), serverId);
}

/** A glob with only `*`, without backtracking: each piece is found once, left to right. */
export function wildcardMatches(pattern: string, text: string): boolean {
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
