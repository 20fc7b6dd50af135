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
import { LIST_BUDGETS, LIST_START, readListPart } from '../upstream/list-part.ts';
import {
  callableTools,
  type ListedTool,
  MAX_TOOL_NAME,
  TOOL_PAGES,
} from '../upstream/list-tools.ts';
import type { UpstreamPool } from '../upstream/pool.ts';
import type { Cancellation, UpstreamSession } from '../upstream/upstream.ts';
import {
  badParams,
  inTime,
  LIST_PART_MS,
  requireRules,
  requireServer,
  sessionWith,
} from './call-routing.ts';
import { callServer } from './call-server.ts';
import type { Caller } from './caller.ts';
import type { Guard } from './guard.ts';
import { readJoined, sealRest, together } from './joined-list.ts';
import { isObject } from './json-rpc.ts';
import type { ListCursors } from './list-cursors.ts';
import type { ListNotes } from './list-notes.ts';
import { type MissingServer, missingMeta, missingNote, missingServer } from './missing-servers.ts';
import { findHidden, findServer, listServers, splitUnifiedName, unifiedName } from './servers.ts';

export interface ToolServiceDeps {
  guard: Guard;
  rules: RulesProvider;
  pool: UpstreamPool;
  catalogue: ToolCatalogue;
  cursors: ListCursors;
  notes: ListNotes;
  log: Pick<Logger, 'warn'>;
  now(): number;
  /** Looks at a call that is about to be judged. Throws GatewayError where it must not be. */
  check?(
    caller: Caller,
    called: { serverId: string; toolName: string; args: Record<string, unknown> },
  ): Promise<void>;
}

export type ToolService = ReturnType<typeof createToolService>;

const METHOD = 'tools/list';

/** Builds the service. Its methods throw GatewayError and UpstreamFailure. */
export function createToolService(deps: ToolServiceDeps) {
  function visible(
    caller: Caller,
    rules: ActiveRules,
    serverId: string,
    tools: ListedTool[],
  ): ListedTool[] {
    // By the roles that the agent has now: the server may have taken its time.
    const grants = deps.guard.findAgent(caller.tenantId, caller.agent.id)?.grants ?? [];
    return tools.filter((tool) => {
      const hints = deps.catalogue.hintsOf(caller.tenantId, serverId, tool, rules);
      return isToolVisible(grants, serverId, tool.name, deriveAction(tool.name, hints));
    });
  }

  async function listOne(
    caller: Caller,
    rules: ActiveRules,
    serverId: string,
    params: unknown,
    cancellation: Cancellation | undefined,
  ) {
    const server = requireServer(rules, serverId);
    if (!isServerVisible(caller.agent.grants, serverId, rules)) {
      return { tools: [], nextCursor: undefined };
    }
    const [place] = deps.cursors.find(caller, METHOD, params) ?? [{ serverId, at: LIST_START }];
    const at = place?.at ?? LIST_START;
    const session = sessionWith(deps.pool, caller, server);
    const options = { room: LIST_BUDGETS[METHOD], pages: 1, cancellation };
    const part = await readListPart(session, METHOD, at, options);
    const tools = callableTools(part.items);
    const isWhole = at === LIST_START && part.rest === null;
    learn(caller, serverId, tools, isWhole, part.leftOut);
    const nextCursor =
      part.rest === null
        ? undefined
        : deps.cursors.seal(caller, METHOD, [{ serverId, at: part.rest }]);
    return { tools: visible(caller, rules, serverId, tools), nextCursor };
  }

  async function listJoined(
    caller: Caller,
    rules: ActiveRules,
    params: unknown,
    cancellation: Cancellation | undefined,
  ) {
    const places =
      deps.cursors.find(caller, METHOD, params) ??
      listServers(rules).map((server) => ({ serverId: server.server_id, at: LIST_START }));
    const wanted = places.filter(
      ({ serverId }) =>
        findServer(rules, serverId) !== undefined &&
        isServerVisible(caller.agent.grants, serverId, rules),
    );
    const asked = together(cancellation);
    const missing: MissingServer[] = [];
    const { items, rest } = await readJoined(wanted, async (place, room) => {
      const { serverId, at } = place;
      try {
        const session = sessionWith(deps.pool, caller, requireServer(rules, serverId));
        const cancellation = asked.next();
        const options = { room, pages: TOOL_PAGES, limitMs: LIST_PART_MS, cancellation };
        const reading = readListPart(session, METHOD, at, options);
        const part = await inTime(reading, () => cancellation.cancel());
        deps.pool.note(caller.tenantId, serverId, 'list', null);
        const tools = callableTools(part.items);
        learn(caller, serverId, tools, at === LIST_START && part.rest === null, part.leftOut);
        const items = visible(caller, rules, serverId, tools).map((tool) => ({
          ...tool,
          name: unifiedName(serverId, tool.name),
        }));
        return { items, count: part.items.length, bytes: part.bytes, rest: part.rest };
      } catch (error) {
        // One server that is away must not hide the others.
        const fields = { err: error, server: serverId, reqId: caller.requestId };
        deps.log.warn(fields, 'a server is missing from the tool list');
        deps.pool.note(caller.tenantId, serverId, 'list', missingNote(error));
        missing.push(missingServer(serverId, error));
        return null;
      }
    });
    const nextCursor = sealRest(deps, caller, METHOD, rest);
    return { tools: items, nextCursor, ...missingMeta(missing) };
  }

  /** Keeps what a list said. A client that servers may ask may be shown what others are not. */
  function learn(
    { tenantId, peer }: Caller,
    serverId: string,
    tools: ListedTool[],
    isWhole: boolean,
    leftOut: string | null,
  ): void {
    deps.catalogue.learn(tenantId, serverId, tools, isWhole && peer === undefined);
    if (isWhole || leftOut !== null) deps.notes.put(tenantId, serverId, METHOD, leftOut);
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

    async listTools(
      caller: Caller,
      params: Record<string, unknown>,
      cancellation?: Cancellation,
    ): Promise<{ tools: ListedTool[]; nextCursor: string | undefined }> {
      const rules = requireRules(deps.rules, caller);
      return caller.serverId === null
        ? listJoined(caller, rules, params, cancellation)
        : listOne(caller, rules, caller.serverId, params, cancellation);
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
