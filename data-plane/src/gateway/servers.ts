/** A tenant's MCP servers, as registered in the active rules. */
import type { McpServerSetting } from '@governance/shared/bundle/bundle-format';
import type { ActiveRules } from '../contracts.ts';
import type { Caller } from '../enforcement/call/calls.ts';
import { findServer, isServerVisible } from '../enforcement/permission/permits.ts';
import { GatewayError } from './json-rpc.ts';

/** Separates server and tool in the tool names of the unified gateway. */
const SEPARATOR = '__';

/** @throws GatewayError 404 where no such server is registered and enabled */
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

/** A tool by its server and its name there. Both are caller-controlled. */
interface NamedTool {
  serverId: string;
  toolName: string;
}

/** @returns undefined where the separator is not there, or one side of it is empty */
function splitAt(name: string, at: number): NamedTool | undefined {
  const toolName = name.slice(at + SEPARATOR.length);
  return at > 0 && toolName !== '' ? { serverId: name.slice(0, at), toolName } : undefined;
}

/**
 * Splits a unified name. No server can be registered with an id that has an underscore; were there
 * one, the longest registered id would win, so that a shorter one catches none of its tools.
 *
 * @returns undefined when no registered server's name starts it
 */
export function splitUnifiedName(rules: ActiveRules, name: string): NamedTool | undefined {
  for (let at = name.lastIndexOf(SEPARATOR); at > 0; at = name.lastIndexOf(SEPARATOR, at - 1)) {
    const named = splitAt(name, at);
    if (named && findServer(rules, named.serverId)) return named;
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
): NamedTool | undefined {
  const registered = splitUnifiedName(rules, name);
  if (registered !== undefined) return registered;
  const named = splitAt(name, name.indexOf(SEPARATOR));
  return named && !isServerVisible(agent.permits, named.serverId, rules) ? named : undefined;
}
