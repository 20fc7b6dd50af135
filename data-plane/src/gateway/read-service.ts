/**
 * Resources, prompts and completions as agents use them, whatever era of MCP they speak: each
 * request is judged and recorded as a read, like a tool call.
 */
import type { ActiveRules, RulesProvider } from '../contracts.ts';
import { type JudgedRead, nameOfMethod } from '../enforcement/call-kinds.ts';
import type { CallRetry } from '../enforcement/calls.ts';
import type { CallAnswer } from '../enforcement/enforcer.ts';
import type { ForwardExchange } from '../enforcement/forward.ts';
import { badParams } from './call-routing.ts';
import { callServer } from './call-server.ts';
import type { Caller } from './caller.ts';
import type { Guard } from './guard.ts';
import { parseReadParams } from './read-params.ts';
import { findHidden, splitUnifiedName } from './servers.ts';
import { findHiddenUri, splitUnifiedUri } from './unified.ts';

export interface ReadServiceDeps {
  guard: Pick<Guard, 'call'>;
  rules: RulesProvider;
  now(): number;
}

/** A request of which it is known which server it is for, in that server's own names. */
export interface RoutedRead {
  method: JudgedRead;
  serverId: string;
  args: Record<string, unknown>;
}

export type ReadService = ReturnType<typeof createReadService>;

/** Builds the service. `route` throws GatewayError; `call` does not. */
export function createReadService(deps: ReadServiceDeps) {
  function byUri(caller: Caller, rules: ActiveRules, uri: string) {
    const found = splitUnifiedUri(rules, uri) ?? findHiddenUri(caller, rules, uri);
    if (found !== undefined) return found;
    throw badParams(`Unknown resource: ${uri}. Here a URI is mcp+<server_id>+<uri>, as listed.`);
  }

  function byName(caller: Caller, rules: ActiveRules, name: string) {
    const found = splitUnifiedName(rules, name) ?? findHidden(caller, rules, name);
    if (found === undefined) throw badParams(`Unknown prompt: ${name}`);
    return { serverId: found.serverId, name: found.toolName };
  }

  function routeUnified(
    caller: Caller,
    rules: ActiveRules,
    method: Exclude<JudgedRead, 'logging/setLevel'>,
    params: Record<string, unknown>,
  ): RoutedRead {
    switch (method) {
      case 'prompts/get': {
        const parsed = parseReadParams(method, params);
        const { serverId, name } = byName(caller, rules, parsed.name);
        return { method, serverId, args: { ...parsed, name } };
      }
      case 'completion/complete': {
        const parsed = parseReadParams(method, params);
        const { type } = parsed.ref;
        const { serverId, ...named } =
          parsed.ref.type === 'ref/prompt'
            ? byName(caller, rules, parsed.ref.name)
            : byUri(caller, rules, parsed.ref.uri);
        return { method, serverId, args: { ...parsed, ref: { type, ...named } } };
      }
      default: {
        const { serverId, uri } = byUri(caller, rules, parseReadParams(method, params).uri);
        return { method, serverId, args: { uri } };
      }
    }
  }

  return {
    /**
     * Reads a request and finds its server.
     *
     * @param params of the request, caller-controlled
     * @throws GatewayError -32602
     */
    route(
      caller: Caller,
      method: Exclude<JudgedRead, 'logging/setLevel'>,
      params: Record<string, unknown>,
    ): RoutedRead {
      const { serverId } = caller;
      if (serverId !== null) return { method, serverId, args: parseReadParams(method, params) };
      const rules = deps.rules.findActiveRules(caller.tenantId);
      // Without rules there is no registry to take a name apart by; the call is denied and recorded.
      if (rules === null) return { method, serverId: '', args: parseReadParams(method, params) };
      return routeUnified(caller, rules, method, params);
    },

    /**
     * Judges, records and forwards it.
     *
     * @param retry what a modern client gives along when it asks again
     */
    call(
      caller: Caller,
      sessionId: string | null,
      { method, serverId, args }: RoutedRead,
      exchange: ForwardExchange,
      retry?: CallRetry,
    ): Promise<CallAnswer> {
      const asked = { serverId, method, toolName: nameOfMethod(method), args, retry };
      return callServer(deps, caller, sessionId, asked, exchange);
    },
  };
}
