/** The MCP servers of a tenant as the gateway finds them in the active rules. */
import type { McpServerSetting } from '@governance/shared/bundle-format';
import type { ActiveRules } from '../contracts.ts';

/** Between server and tool in the names that the unified gateway gives to tools. */
const SEPARATOR = '__';

/** One server of the registry. `serverId` is caller-controlled. */
export function findServer(rules: ActiveRules, serverId: string): McpServerSetting | undefined {
  const servers = rules.settings.mcp_servers;
  return Object.hasOwn(servers, serverId) ? servers[serverId] : undefined;
}

/** All servers of the registry. */
export function listServers(rules: ActiveRules): McpServerSetting[] {
  return Object.values(rules.settings.mcp_servers);
}

/** The name of a tool at the unified gateway. */
export function unifiedName(serverId: string, toolName: string): string {
  return `${serverId}${SEPARATOR}${toolName}`;
}

/**
 * Takes a unified name apart. Server ids may contain the separator: the longest that is registered
 * wins, so that no server can be registered to catch another's tools by a shorter name.
 *
 * @returns undefined when no registered server's name starts it
 */
export function splitUnifiedName(
  rules: ActiveRules,
  name: string,
): { serverId: string; toolName: string } | undefined {
  for (let at = name.lastIndexOf(SEPARATOR); at > 0; at = name.lastIndexOf(SEPARATOR, at - 1)) {
    const serverId = name.slice(0, at);
    const toolName = name.slice(at + SEPARATOR.length);
    if (toolName !== '' && Object.hasOwn(rules.settings.mcp_servers, serverId)) {
      return { serverId, toolName };
    }
  }
  return undefined;
}
