/**
 * Permissions, `resource:action`: the resource is an MCP server, `server/tool` or a tool, the action
 * read, write, delete or execute; `*` stands for any run of characters in either part. The same
 * meaning as in policies/rego/lib/permissions.rego, which knows no servers: permissions that
 * `isMisread` are kept from it.
 */
import { LOCAL_MODELS, WEB } from '../mcp/local-models.ts';

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

/** The registered servers, by id. */
export type Servers = Readonly<Record<string, unknown>>;

const NONE: Servers = {};

/**
 * Ids of servers that nobody has to register. Who uses local models has permissions for them, which
 * cover no tool that a server calls so.
 */
export const BUILT_IN_SERVERS: readonly string[] = [LOCAL_MODELS.serverId, WEB];

/** Whether a name is that under which a method of MCP is judged. No tool can be called by one. */
export function isMethodName(name: string): boolean {
  return name.startsWith('mcp:');
}

/**
 * Whether a resource is the name of a tool, of whatever server. Who calls chooses the name: what
 * names a registered or a built-in server is that server, and with a slash it is `server/tool`. Only
 * the names of MCP's own methods have one.
 */
export function isToolName(resource: string, servers: Servers): boolean {
  if (isMethodName(resource)) return true;
  if (resource.includes('/') || BUILT_IN_SERVERS.includes(resource)) return false;
  return !Object.hasOwn(servers, resource);
}

/** Whether a permission covers a call. */
export function coversCall(
  permission: string,
  serverId: string,
  toolName: string,
  action: string,
  servers = NONE,
): boolean {
  const parts = splitPermission(permission);
  if (parts === undefined || !wildcardMatches(parts.action, action)) return false;
  const { resource } = parts;
  if (namesPlace(resource, serverId, toolName)) return true;
  return wildcardMatches(resource, toolName) && isToolName(resource, servers);
}

/**
 * Whether a permission seems to cover a call, whatever its action, because the tool is called like
 * another server, or like a tool of it in full.
 */
export function isMisread(
  permission: string,
  serverId: string,
  toolName: string,
  servers: Servers,
): boolean {
  const resource = splitPermission(permission)?.resource;
  if (resource === undefined || !wildcardMatches(resource, toolName)) return false;
  return !isToolName(resource, servers) && !namesPlace(resource, serverId, toolName);
}

function namesPlace(resource: string, serverId: string, toolName: string): boolean {
  return (
    wildcardMatches(resource, serverId) || wildcardMatches(resource, `${serverId}/${toolName}`)
  );
}

/** Whether a permission could cover any call of a server. */
export function mayCoverServer(permission: string, serverId: string, servers = NONE): boolean {
  const parts = splitPermission(permission);
  if (parts === undefined) return false;
  const { resource, action } = parts;
  if (resource === '' || !ACTIONS.some((one) => wildcardMatches(action, one))) return false;
  // Any server may have a tool of that name.
  if (isToolName(resource, servers)) return true;
  const slash = resource.indexOf('/');
  return wildcardMatches(slash < 0 ? resource : resource.slice(0, slash), serverId);
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
