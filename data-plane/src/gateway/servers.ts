/** A tenant's MCP servers, as registered in the active rules. */
import type { McpServerSetting } from '@governance/shared/bundle-format';
import type { ActiveRules } from '../contracts.ts';
import type { Caller } from '../enforcement/calls.ts';
import { isServerVisible } from '../enforcement/grants.ts';
import { GatewayError } from './json-rpc.ts';

/** Separates server and tool in the tool names of the unified gateway. */
const SEPARATOR = '__';

/** One server of the registry. `serverId` is caller-controlled. */
export function findServer(rules: ActiveRules, serverId: string): McpServerSetting | undefined {
  const servers = rules.settings.mcp_servers;
  return Object.hasOwn(servers, serverId) ? servers[serverId] : undefined;
}

/** One server of the registry. Throws GatewayError 404. */
export function requireServer(rules: ActiveRules, serverId: string): McpServerSetting {
  const server = findServer(rules, serverId);
  if (server === undefined) throw new GatewayError(404, 'No such MCP server.');
  return server;
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
 * Splits a unified name. No server can be registered with an id that has an underscore; were there
 * one, the longest registered id would win, so that a shorter one catches none of its tools.
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

/**
 * Splits a unified name for an agent. One whose server is not registered is split too where the
 * agent may use nothing of such a server: what it asks is judged and denied like a call of one that
 * is, so that it does not learn the difference.
 *
 * @returns undefined where the agent may learn that there is none
 */
export function findNamed(
  { agent }: Pick<Caller, 'agent'>,
  rules: ActiveRules,
  name: string,
): { serverId: string; toolName: string } | undefined {
  const registered = splitUnifiedName(rules, name);
  if (registered !== undefined) return registered;
  const [serverId = '', ...rest] = name.split(SEPARATOR);
  const toolName = rest.join(SEPARATOR);
  if (serverId === '' || toolName === '') return undefined;
  return isServerVisible(agent.grants, serverId, rules) ? undefined : { serverId, toolName };
}
