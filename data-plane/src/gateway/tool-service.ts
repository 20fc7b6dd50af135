/**
 * Tools as agents see them, whatever era of MCP they speak: one server's own, or those of all
 * servers under joined names.
 */
import { isStorableText } from '@governance/shared/text';
import type { Logger } from 'pino';
import type { ActiveRules, RulesProvider } from '../contracts.ts';
import { TOOL_CALL } from '../enforcement/call-kinds.ts';
import type { CallRetry } from '../enforcement/calls.ts';
import type { CallAnswer } from '../enforcement/enforcer.ts';
import type { ForwardExchange } from '../enforcement/forward.ts';
import { deriveAction } from '../enforcement/tool-action.ts';
import type { ToolCatalogue } from '../enforcement/tool-catalogue.ts';
import { isServerVisible, isToolVisible } from '../enforcement/tool-visibility.ts';
import { type ListedTool, listAllTools, listToolPage } from '../upstream/list-tools.ts';
import type { UpstreamPool } from '../upstream/pool.ts';
import type { UpstreamSession } from '../upstream/upstream.ts';
import {
  badParams,
  inTime,
  readCursor,
  requireRules,
  requireServer,
  sessionWith,
} from './call-routing.ts';
import { callServer } from './call-server.ts';
import type { Caller } from './caller.ts';
import type { Guard } from './guard.ts';
import { isObject } from './json-rpc.ts';
import { findHidden, findServer, listServers, splitUnifiedName, unifiedName } from './servers.ts';

export interface ToolServiceDeps {
  guard: Guard;
  rules: RulesProvider;
  pool: UpstreamPool;
  catalogue: ToolCatalogue;
  log: Pick<Logger, 'warn'>;
  now(): number;
  /** Looks at a call that is about to be judged. Throws GatewayError where it must not be. */
  check?(
    caller: Caller,
    called: { serverId: string; toolName: string; args: Record<string, unknown> },
  ): Promise<void>;
}

export type ToolService = ReturnType<typeof createToolService>;

const MAX_TOOL_NAME = 256;
/** Builds the service. Its methods throw GatewayError and UpstreamFailure. */
export function createToolService(deps: ToolServiceDeps) {
  function visible(caller: Caller, serverId: string, tools: ListedTool[]): ListedTool[] {
    const { grants } = caller.agent;
    return tools.filter((tool) => {
      const hints = isObject(tool.annotations) ? tool.annotations : undefined;
      return isToolVisible(grants, serverId, tool.name, deriveAction(tool.name, hints));
    });
  }

  async function listOne(caller: Caller, rules: ActiveRules, serverId: string, params: unknown) {
    const server = requireServer(rules, serverId);
    if (!isServerVisible(caller.agent.grants, serverId, rules)) {
      return { tools: [], nextCursor: undefined };
    }
    const session = sessionWith(deps.pool, caller, server);
    const cursor = readCursor(params);
    const { tools, nextCursor } = await listToolPage(session, cursor);
    // A client that servers may ask something may be shown tools that others are not.
    const isWhole = cursor === undefined && nextCursor === undefined && caller.peer === undefined;
    deps.catalogue.learn(caller.tenantId, serverId, tools, isWhole);
    return { tools: visible(caller, serverId, tools), nextCursor };
  }

  async function listJoined(caller: Caller, rules: ActiveRules) {
    const servers = listServers(rules).filter((server) =>
      isServerVisible(caller.agent.grants, server.server_id, rules),
    );
    const lists = await Promise.all(
      servers.map(async (server) => {
        const serverId = server.server_id;
        try {
          const session = sessionWith(deps.pool, caller, server);
          const tools = await inTime(listAllTools(session));
          deps.catalogue.learn(caller.tenantId, serverId, tools, caller.peer === undefined);
          return visible(caller, serverId, tools).map((tool) => ({
            ...tool,
            name: unifiedName(serverId, tool.name),
          }));
        } catch (error) {
          // One server that is away must not hide the others.
          const { requestId } = caller;
          const fields = { err: error, server: serverId, reqId: requestId };
          deps.log.warn(fields, 'a server is missing from the tool list');
          return [];
        }
      }),
    );
    return { tools: lists.flat(), nextCursor: undefined };
  }

  return {
    /**
     * Refuses a path that names no server. Without rules nobody can tell: the call is denied. So it
     * is for an agent that may use nothing there: it does not learn whether there is a server.
     */
    checkServer(caller: Caller): void {
      if (caller.serverId === null) return;
      const rules = deps.rules.findActiveRules(caller.tenantId);
      if (!isServerVisible(caller.agent.grants, caller.serverId, rules)) return;
      if (rules !== null) requireServer(rules, caller.serverId);
    },

    /** The session with the one server of the path, if the server is there. */
    findSession(caller: Caller): UpstreamSession | undefined {
      const { agent, serverId, tenantId } = caller;
      const rules = deps.rules.findActiveRules(tenantId);
      if (serverId === null || !isServerVisible(agent.grants, serverId, rules)) return undefined;
      const server = rules && findServer(rules, serverId);
      return server ? sessionWith(deps.pool, caller, server) : undefined;
    },

    async listTools(caller: Caller, params: Record<string, unknown>) {
      const rules = requireRules(deps.rules, caller);
      return caller.serverId === null
        ? listJoined(caller, rules)
        : listOne(caller, rules, caller.serverId, params);
    },

    /**
     * @param params of the request, caller-controlled
     * @param retry what a modern client gives along when it asks again
     */
    async callTool(
      caller: Caller,
      sessionId: string | null,
      params: Record<string, unknown>,
      exchange: ForwardExchange,
      retry?: CallRetry,
    ): Promise<CallAnswer> {
      const { name, arguments: args = {} } = params;
      if (typeof name !== 'string' || name === '' || name.length > MAX_TOOL_NAME) {
        throw badParams('name must be the name of a tool');
      }
      if (!isStorableText(name)) {
        throw badParams('name must not contain NUL');
      }
      if (!isObject(args)) {
        throw badParams('arguments must be an object');
      }
      const { serverId, toolName } = route(caller, name);
      if (deps.check !== undefined) await deps.check(caller, { serverId, toolName, args });
      const asked = { serverId, method: TOOL_CALL, toolName, args, retry };
      return callServer(deps, caller, sessionId, asked, exchange);
    },
  };

  function route(caller: Caller, name: string): { serverId: string; toolName: string } {
    if (caller.serverId !== null) return { serverId: caller.serverId, toolName: name };
    const rules = deps.rules.findActiveRules(caller.tenantId);
    // Without rules there is no registry to take the name apart by; the call is denied and recorded.
    if (rules === null) return { serverId: '', toolName: name };
    const found = splitUnifiedName(rules, name) ?? findHidden(caller, rules, name);
    if (found === undefined) {
      throw badParams(`Unknown tool: ${name}`);
    }
    return found;
  }
}
