/**
 * From a method and its params to the ask and its destination. Nothing is judged here, and nothing
 * reaches a server.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import { isStorableText } from '@governance/shared/text';
import { isMethodName } from '@governance/shared/tokens/permission';
import type { ActiveRules, RulesProvider } from '../contracts.ts';
import type { Answer } from '../enforcement/call/answer.ts';
import {
  isJudgedRead,
  type JudgedRead,
  nameOfMethod,
  TOOL_CALL,
} from '../enforcement/call/call-kinds.ts';
import type { Ask, Caller, CallRetry, Destination, Exchange } from '../enforcement/call/calls.ts';
import type { Enforcer } from '../enforcement/enforcer.ts';
import { isServerVisible } from '../enforcement/permission/permits.ts';
import { MAX_TOOL_NAME } from '../upstream/lists/list-tools.ts';
import { isObject } from '../upstream/message.ts';
import { errorAnswer } from '../upstream/upstream.ts';
import { badParams } from './call-routing.ts';
import { isListMethod, type Lists } from './lists.ts';
import { parseReadParams } from './read-params.ts';
import { findNamed, requireServer } from './servers.ts';
import { splitUnifiedUri, unifiedAnswer, unifiedExchange } from './unified.ts';

/** What a request asks for, and who answers it. */
export interface Routed {
  readonly ask: Ask;
  readonly destination: Destination;
}

/** A read whose server is known, in that server's own names. */
export type RoutedRead = Routed & { readonly ask: { readonly method: JudgedRead } };

export interface RouterDeps {
  rules: RulesProvider;
  /** The servers, as a destination. */
  servers: Destination;
  lists: Lists;
}

export type Router = ReturnType<typeof createRouter>;

/** Builds it. All of it throws GatewayError for params that are wrong. */
export function createRouter({ rules, servers, lists }: RouterDeps) {
  function routeTool(caller: Caller, params: Record<string, unknown>, retry?: CallRetry): Routed {
    const { name, arguments: args = {} } = params;
    if (typeof name !== 'string' || name === '' || name.length > MAX_TOOL_NAME) {
      throw badParams('name must be the name of a tool');
    }
    if (!isStorableText(name)) throw badParams('name must not contain NUL');
    if (!isObject(args)) throw badParams('arguments must be an object');
    const found = findTool(caller, name);
    if (found === undefined) throw badParams(`Unknown tool: ${name}`);
    const { serverId, toolName } = found;
    // A permission for the method, such as all servers' prompts, would cover such a tool.
    if (isMethodName(toolName)) throw badParams("the name of a tool must not begin with 'mcp:'");
    return {
      ask: { serverId, method: TOOL_CALL, name: toolName, args, retry },
      destination: servers,
    };
  }

  /** The server of a name at the caller's path. Without rules there is none: the call is denied. */
  function findTool(caller: Caller, name: string) {
    if (caller.serverId !== null) return { serverId: caller.serverId, toolName: name };
    const active = rules.findActiveRules(caller.tenantId);
    if (active === null) return { serverId: '', toolName: name };
    return findNamed(caller, active, name);
  }

  function routeRead(
    caller: Caller,
    method: JudgedRead,
    params: Record<string, unknown>,
    retry?: CallRetry,
  ): RoutedRead {
    const active = rules.findActiveRules(caller.tenantId);
    // Without rules there is no registry to resolve a name; the call is denied and recorded.
    if (caller.serverId !== null || active === null || method === 'logging/setLevel') {
      return toRead(method, caller.serverId ?? '', parseReadParams(method, params), retry);
    }
    const { serverId, args } = routeUnified(caller, active, method, params);
    return toRead(method, serverId, args, retry);
  }

  function toRead(
    method: JudgedRead,
    serverId: string,
    args: Record<string, unknown>,
    retry?: CallRetry,
  ): RoutedRead {
    return {
      ask: { serverId, method, name: nameOfMethod(method), args, retry },
      destination: servers,
    };
  }

  return {
    /**
     * Routes a request that is judged.
     *
     * @param params of the request, caller-controlled
     * @param retry the input of a modern client that repeats its request
     * @returns undefined where the method is none that is judged or listed
     */
    route(
      caller: Caller,
      method: string,
      params: Record<string, unknown>,
      retry?: CallRetry,
    ): Routed | undefined {
      if (method === TOOL_CALL) return routeTool(caller, params, retry);
      if (isJudgedRead(method)) return routeRead(caller, method, params, retry);
      if (!isListMethod(method)) return undefined;
      const { cursor } = params;
      const args = typeof cursor === 'string' && isStorableText(cursor) ? { cursor } : {};
      const serverId = caller.serverId ?? '';
      return {
        ask: { serverId, method, name: nameOfMethod(method), args },
        destination: lists.destination(caller, method, params),
      };
    },

    routeTool,
    routeRead,

    /** A read in the server's own names. */
    toRead,

    /** A method on the task of this id, which the gateway gave to the agent. */
    routeTask(
      caller: Caller,
      method: string,
      taskId: string,
      more: Record<string, unknown>,
    ): Routed {
      // A request for an unknown task is judged all the same, and told that there is none.
      const { serverId, toolName } = findTool(caller, taskId) ?? { serverId: '', toolName: taskId };
      const args = { taskId: toolName, ...more };
      return { ask: { serverId, method, name: nameOfMethod(method), args }, destination: servers };
    },

    /**
     * Refuses a path that names no server. Without rules nobody can tell: the call is denied. The
     * same goes for an agent that may use nothing there: it does not learn whether the server
     * exists.
     */
    checkPath({ tenantId, agent, serverId }: Caller): void {
      if (serverId === null) return;
      const active = rules.findActiveRules(tenantId);
      if (!isServerVisible(agent.permits, serverId, active)) return;
      if (active !== null) requireServer(active, serverId);
    },
  };
}

function routeUnified(
  caller: Caller,
  active: ActiveRules,
  method: Exclude<JudgedRead, 'logging/setLevel'>,
  params: Record<string, unknown>,
): { serverId: string; args: Record<string, unknown> } {
  switch (method) {
    case 'prompts/get': {
      const parsed = parseReadParams(method, params);
      const { serverId, name } = byName(caller, active, parsed.name);
      return { serverId, args: { ...parsed, name } };
    }
    case 'completion/complete': {
      const parsed = parseReadParams(method, params);
      const { type } = parsed.ref;
      const { serverId, ...named } =
        parsed.ref.type === 'ref/prompt'
          ? byName(caller, active, parsed.ref.name)
          : byUri(caller, active, parsed.ref.uri);
      return { serverId, args: { ...parsed, ref: { type, ...named } } };
    }
    default: {
      const { serverId, uri } = byUri(caller, active, parseReadParams(method, params).uri);
      return { serverId, args: { uri } };
    }
  }
}

function byUri(caller: Caller, active: ActiveRules, uri: string) {
  const found = splitUnifiedUri(caller, active, uri);
  if (found !== undefined) return found;
  throw badParams(`Unknown resource: ${uri}. Here a URI is mcp+<server_id>+<uri>, as listed.`);
}

function byName(caller: Caller, active: ActiveRules, name: string) {
  const found = findNamed(caller, active, name);
  if (found === undefined) throw badParams(`Unknown prompt: ${name}`);
  return { serverId: found.serverId, name: found.toolName };
}

/** The other methods in the revisions of MCP that a client may send. */
const OTHERS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'subscriptions/listen',
  'tasks/cancel',
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/update',
]);

/** Whether MCP has such a method: only those are recorded. */
export function isKnownMethod(method: string): boolean {
  return OTHERS.has(method) || method === TOOL_CALL || isListMethod(method) || isJudgedRead(method);
}

/** The call under which a request is recorded when its agent may do nothing. */
export function routeRefused({ serverId }: Caller, method: string): Routed {
  const ask = { serverId: serverId ?? '', method, name: nameOfMethod(method), args: {} };
  return { ask, destination: refusingDestination(RPC_ERRORS.INTERNAL, 'Nothing was done.') };
}

/** Replaces a server where there is none to ask. */
export function refusingDestination(code: number, message: string): Destination {
  return { speaker: 'gateway', send: async () => errorAnswer(code, message) };
}

/**
 * Makes a routed call. At the unified gateway the client sees the gateway's names.
 *
 * @param call `Enforcer.call`, or what stands before it
 */
export function callRouted(
  caller: Caller,
  { ask, destination }: Routed,
  exchange: Exchange,
  call: (...call: Required<Parameters<Enforcer['call']>>) => Promise<Answer>,
): Promise<Answer> {
  if (caller.serverId !== null) return call(caller, ask, destination, exchange);
  const answering = call(caller, ask, destination, unifiedExchange(ask, exchange));
  return answering.then((answer) => unifiedAnswer(ask, answer));
}
