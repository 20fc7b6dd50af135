/** The requests of a modern client, one by one; each is self-contained. */
import { RPC_ERRORS } from '@governance/shared/errors';
import { isStorableText } from '@governance/shared/text';
import type { ActiveRules } from '../../contracts.ts';
import type { Answer, Refusal } from '../../enforcement/call/answer.ts';
import { isJudgedRead, isTaskMethod, TOOL_CALL } from '../../enforcement/call/call-kinds.ts';
import type { Caller, Deny, Destination, Exchange } from '../../enforcement/call/calls.ts';
import type { Enforcer } from '../../enforcement/enforcer.ts';
import { resultOf } from '../../enforcement/record/refusals.ts';
import type { Asking, ToolCatalogue } from '../../enforcement/tools/tool-catalogue.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import { badParams } from '../call-routing.ts';
import type { Announce } from '../capabilities.ts';
import { TASKS_EXTENSION, takesTasks } from '../extensions.ts';
import { type AnswerFailure, ineligibleError } from '../failures.ts';
import { GatewayError } from '../json-rpc.ts';
import { callRouted, type Routed, type Router } from '../router.ts';
import { isResponses, type ModernRequest, readRetry, SUPPORTED_REVISIONS } from './envelope.ts';
import { checkParamHeaders } from './headers.ts';
import type { ModernCalls } from './modern-calls.ts';

export interface ModernRequestDeps {
  calls: ModernCalls;
  enforcer: Pick<Enforcer, 'call' | 'admit'>;
  router: Router;
  catalogue: Pick<ToolCatalogue, 'findHints'>;
  announce: Announce;
  failed: AnswerFailure;
  gateway: { name: string; version: string };
}

export type ModernRequests = ReturnType<typeof createModernRequests>;

const MAX_TASK_HANDLE = 2048;
/** The judged methods, beside those of tasks. Updates come by subscriptions/listen here. */
const CALLS: ReadonlySet<string> = new Set([
  TOOL_CALL,
  'resources/read',
  'prompts/get',
  'completion/complete',
]);

/** Builds the handler, which answers every request whatever happens. */
export function createModernRequests(deps: ModernRequestDeps) {
  /** @param ineligible why the caller's agent may not act, if so */
  async function answer(
    caller: Caller,
    request: ModernRequest,
    exchange: Exchange,
    ineligible: Deny | undefined,
  ): Promise<Answer> {
    const { method } = request;
    try {
      // Judged methods ask the same question in their pipeline, where the denial is recorded.
      const isCall = CALLS.has(method) || isTaskMethod(method);
      if (!isCall && ineligible !== undefined) throw ineligibleError(ineligible);
      const routed = route(caller, request);
      if (routed !== undefined) {
        const isDenied = ineligible !== undefined;
        const own = isDenied ? routed : await withCheckedHeaders(caller, request, routed);
        return await callRouted(caller, own, exchange, deps.calls.call);
      }
      if (method === 'server/discover') {
        return deps.enforcer.admit(caller) ?? (await discover(caller));
      }
      throw new GatewayError(404, 'Method not found', RPC_ERRORS.METHOD_NOT_FOUND);
    } catch (error) {
      return deps.failed(error, caller, method);
    }
  }

  function route(caller: Caller, request: ModernRequest): Routed | undefined {
    const { method, params } = request;
    if (isTaskMethod(method)) return routeTask(caller, request);
    if (isJudgedRead(method) && !CALLS.has(method)) return undefined;
    // Completions are never asked for input (MCP 2026-07-28, MRTR, supported requests).
    const isAskedFor = CALLS.has(method) && method !== 'completion/complete';
    return deps.router.route(caller, method, params, isAskedFor ? readRetry(params) : undefined);
  }

  function routeTask(caller: Caller, { method, params }: ModernRequest): Routed {
    const { taskId, inputResponses } = params;
    if (!takesTasks(caller.peer?.capabilities)) throw undeclared();
    if (typeof taskId !== 'string' || taskId.length > MAX_TASK_HANDLE || !isStorableText(taskId)) {
      throw badParams('taskId must be the id of a task');
    }
    if (method !== 'tasks/update') return deps.router.routeTask(caller, method, taskId, {});
    if (!isResponses(inputResponses)) {
      throw badParams('inputResponses must be an object of objects');
    }
    return deps.router.routeTask(caller, method, taskId, { inputResponses });
  }

  /**
   * Checks the headers that repeat arguments of a tool call: at once where the server's tools are
   * known, else when the call was judged, since no server is asked before.
   */
  async function withCheckedHeaders(
    caller: Caller,
    { headers }: ModernRequest,
    { ask, destination }: Routed,
  ): Promise<Routed> {
    if (ask.method !== TOOL_CALL) return { ask, destination };
    const check = async (call: Asking, rules: ActiveRules | null) => {
      const hints = await deps.catalogue.findHints(call, rules);
      if (hints?.headers) checkParamHeaders(headers, hints.headers, call.ask.args);
    };
    // Without rules no server is asked.
    await check({ caller, ask, agent: caller.agent }, null);
    const { speaker } = destination;
    const send: Destination['send'] = async (call, exchange) => {
      await check(call, call.rules).catch(notSent);
      return destination.send(call, exchange);
    };
    return { ask, destination: { speaker, send } };
  }

  async function discover(caller: Caller): Promise<Answer> {
    const { capabilities, serverInfo, instructions } = await deps.announce(caller);
    return resultOf({
      supportedVersions: [...SUPPORTED_REVISIONS],
      capabilities,
      ...(instructions !== null && { instructions }),
      _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo ?? deps.gateway },
    });
  }

  return { answer };
}

/** The refusal of an allowed call that was not sent: its outcome is `blocked`. */
function notSent(error: unknown): never {
  if (!(error instanceof GatewayError)) throw error;
  const { kind, status, code, message } = error;
  const failure = new UpstreamFailure('ineligible', message);
  throw { kind, status, code, message, failure } satisfies Refusal;
}

function undeclared(): GatewayError {
  const { MISSING_CLIENT_CAPABILITY } = RPC_ERRORS;
  const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
  const message = `Missing required client capability: ${TASKS_EXTENSION}`;
  return new GatewayError(400, message, MISSING_CLIENT_CAPABILITY, undefined, data);
}
