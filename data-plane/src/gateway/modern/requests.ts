/** The requests of a modern client, one by one; each stands for itself. */
import { RPC_ERRORS } from '@governance/shared/errors';
import { isStorableText } from '@governance/shared/text';
import type { RulesProvider } from '../../contracts.ts';
import {
  isTaskMethod,
  nameOfMethod,
  type TaskMethod,
  TOOL_CALL,
} from '../../enforcement/call-kinds.ts';
import type { CallAnswer } from '../../enforcement/enforcer.ts';
import { barOf, barred } from '../barred.ts';
import { badParams } from '../call-routing.ts';
import { callServer } from '../call-server.ts';
import type { Caller } from '../caller.ts';
import type { Announce } from '../capabilities.ts';
import type { AnswerFailure } from '../failures.ts';
import type { Guard } from '../guard.ts';
import { GatewayError } from '../json-rpc.ts';
import type { ReadService } from '../read-service.ts';
import { isListMethod, type RecordedLists } from '../recorded-lists.ts';
import { findHidden, splitUnifiedName } from '../servers.ts';
import type { ToolService } from '../tool-service.ts';
import { isResponses, type ModernRequest, readRetry, SUPPORTED_REVISIONS } from './envelope.ts';
import type { ModernExchange } from './exchange.ts';
import { TASKS_EXTENSION, takesTasks } from './extensions.ts';
import { resultOf } from './results.ts';

export interface ModernRequestDeps {
  /** The guard of modern clients. */
  guard: Guard;
  tools: ToolService;
  reads: ReadService;
  lists: RecordedLists;
  announce: Announce;
  rules: RulesProvider;
  failed: AnswerFailure;
  gateway: { name: string; version: string };
  now(): number;
}

export type ModernRequests = ReturnType<typeof createModernRequests>;

const MAX_TASK_HANDLE = 2048;
const READS = ['resources/read', 'prompts/get', 'completion/complete'] as const;

/** Builds the handler: answers a request, whatever happens. */
export function createModernRequests(deps: ModernRequestDeps) {
  async function answer(
    caller: Caller,
    request: ModernRequest,
    exchange: ModernExchange,
  ): Promise<CallAnswer> {
    const bar = barOf(caller, deps.guard);
    try {
      const judged = judge(caller, request, exchange);
      if (judged !== undefined) return await judged;
      if (bar !== undefined) {
        await deps.lists.refused(caller, bar, null, request.method);
        throw barred(bar);
      }
      return await list(caller, request, exchange);
    } catch (error) {
      // What is wrong with a call is nothing for an agent that may make none.
      return deps.failed(bar === undefined ? error : barred(bar), caller.requestId);
    }
  }

  /** What is judged meets the bar in its pipeline, where the denial is recorded. */
  function judge(
    caller: Caller,
    { method, params }: ModernRequest,
    exchange: ModernExchange,
  ): Promise<CallAnswer> | undefined {
    if (method === TOOL_CALL) {
      return deps.tools.callTool(caller, null, params, exchange, readRetry(params));
    }
    const read = READS.find((one) => one === method);
    if (read !== undefined) {
      // Completions are never asked for input (MCP 2026-07-28, MRTR, supported requests).
      const retry = read === 'completion/complete' ? undefined : readRetry(params);
      const routed = deps.reads.route(caller, read, params);
      return deps.reads.call(caller, null, routed, exchange, retry);
    }
    return isTaskMethod(method) ? callTask(caller, method, params, exchange) : undefined;
  }

  function callTask(
    caller: Caller,
    method: TaskMethod,
    params: Record<string, unknown>,
    exchange: ModernExchange,
  ): Promise<CallAnswer> {
    const { taskId, inputResponses } = params;
    if (!takesTasks(caller.peer?.capabilities)) throw undeclared();
    if (typeof taskId !== 'string' || taskId.length > MAX_TASK_HANDLE || !isStorableText(taskId)) {
      throw badParams('taskId must be the id of a task');
    }
    if (method === 'tasks/update' && !isResponses(inputResponses)) {
      throw badParams('inputResponses must be an object of objects');
    }
    const { serverId, handle } = routeTask(caller, taskId);
    const args =
      method === 'tasks/update' ? { taskId: handle, inputResponses } : { taskId: handle };
    const asked = { serverId, method, toolName: nameOfMethod(method), args };
    return callServer(deps, caller, null, asked, exchange);
  }

  function routeTask(caller: Caller, taskId: string): { serverId: string; handle: string } {
    if (caller.serverId !== null) return { serverId: caller.serverId, handle: taskId };
    const rules = deps.rules.findActiveRules(caller.tenantId);
    const found =
      rules === null
        ? undefined
        : (splitUnifiedName(rules, taskId) ?? findHidden(caller, rules, taskId));
    // Whoever asks for a task of nobody's is judged all the same, and told that there is none.
    return { serverId: found?.serverId ?? '', handle: found?.toolName ?? taskId };
  }

  async function list(
    caller: Caller,
    { method, params }: ModernRequest,
    { cancellation }: ModernExchange,
  ): Promise<CallAnswer> {
    if (isListMethod(method)) return deps.lists.list(caller, null, method, params, cancellation);
    if (method === 'server/discover') return discover(caller);
    throw new GatewayError(404, 'Method not found', RPC_ERRORS.METHOD_NOT_FOUND);
  }

  async function discover(caller: Caller): Promise<CallAnswer> {
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

function undeclared(): GatewayError {
  const { MISSING_CLIENT_CAPABILITY } = RPC_ERRORS;
  const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
  const message = `Missing required client capability: ${TASKS_EXTENSION}`;
  return new GatewayError(400, message, MISSING_CLIENT_CAPABILITY, undefined, data);
}
