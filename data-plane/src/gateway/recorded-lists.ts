/**
 * Lists on their way through the enforcement path. They show what an agent's permissions cover, and
 * are recorded like calls: nothing that an agent asks for reaches a server without a record. So is
 * what an agent asks for that may do nothing at all.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import { isStorableText } from '@governance/shared/text';
import type { RulesProvider } from '../contracts.ts';
import { isJudgedRead, nameOfMethod } from '../enforcement/call-kinds.ts';
import type { Deny } from '../enforcement/calls.ts';
import type { CallAnswer } from '../enforcement/enforcer.ts';
import { isServerVisible } from '../enforcement/tool-visibility.ts';
import { LIST_MEMBERS, type ListMethod } from '../upstream/list-page.ts';
import {
  Cancellation,
  requireStillWanted,
  type UpstreamAnswer,
  UpstreamFailure,
  type UpstreamSession,
} from '../upstream/upstream.ts';
import { requireRules, requireServer } from './call-routing.ts';
import { callServer } from './call-server.ts';
import type { Caller } from './caller.ts';
import type { Guard } from './guard.ts';
import { isObject } from './json-rpc.ts';
import { isReadList, type ListService } from './list-service.ts';
import type { ToolService } from './tool-service.ts';

export interface RecordedListDeps {
  guard: Pick<Guard, 'call'>;
  tools: Pick<ToolService, 'listTools'>;
  lists: ListService;
  rules: RulesProvider;
  now(): number;
}

export type RecordedLists = ReturnType<typeof createRecordedLists>;

/** What else there is in the revisions of MCP that a client may ask for. */
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

/** Whether a method is a list of MCP. */
export function isListMethod(method: string): method is ListMethod {
  return Object.hasOwn(LIST_MEMBERS, method);
}

/** Builds it. */
export function createRecordedLists(deps: RecordedListDeps) {
  async function ask(
    caller: Caller,
    method: ListMethod,
    params: Record<string, unknown>,
    cancellation: Cancellation,
  ): Promise<UpstreamAnswer> {
    if (!isReadList(method)) {
      const value = { ...(await deps.tools.listTools(caller, params, cancellation)) };
      return { kind: 'result', raw: JSON.stringify(value), value };
    }
    const answer = await deps.lists.list(caller, method, params, cancellation);
    if (answer.kind === 'result') return answer;
    const raw = answer.kind === 'upstream-error' ? answer.raw : REFUSED;
    return { kind: 'error', raw, value: JSON.parse(raw) };
  }

  function record(
    caller: Caller,
    sessionId: string | null,
    method: string,
    params: Record<string, unknown>,
    recipient: Pick<UpstreamSession, 'request'>,
    cancellation = new Cancellation(),
  ): Promise<CallAnswer> {
    const { cursor } = params;
    const args = typeof cursor === 'string' && isStorableText(cursor) ? { cursor } : {};
    const serverId = caller.serverId ?? '';
    const asked = { serverId, method, toolName: nameOfMethod(method), args, recipient };
    return callServer(deps, caller, sessionId, asked, {
      onNotification: () => undefined,
      wantsProgress: false,
      cancellation,
    });
  }

  return {
    /**
     * Records a list and makes it. One that shows the agent nothing is an empty one.
     *
     * @param params of the request, caller-controlled
     * @param cancellation of a client whose leaving ends it
     * @throws GatewayError, UpstreamFailure
     */
    async list(
      caller: Caller,
      sessionId: string | null,
      method: ListMethod,
      params: Record<string, unknown>,
      cancellation = new Cancellation(),
    ): Promise<CallAnswer> {
      const rules = requireRules(deps.rules, caller);
      const { serverId } = caller;
      // Whoever may use nothing of a server is not told whether it is there.
      if (serverId !== null && isServerVisible(caller.agent.grants, serverId, rules)) {
        requireServer(rules, serverId);
      }
      let failure: unknown;
      const recipient: Pick<UpstreamSession, 'request'> = {
        async request(_request, exchange) {
          let asked: UpstreamAnswer;
          try {
            asked = await ask(caller, method, params, exchange.cancellation);
          } catch (error) {
            failure = error;
            if (error instanceof UpstreamFailure) throw error;
            return { kind: 'error', raw: REFUSED, value: JSON.parse(REFUSED) };
          }
          // A server can draw a list out: it is nothing for an agent that may not act any more.
          requireStillWanted(exchange);
          return asked;
        },
      };
      const answer = await record(caller, sessionId, method, params, recipient, cancellation);
      if (failure !== undefined) throw failure;
      const isEmpty =
        answer.kind === 'error' &&
        answer.code === RPC_ERRORS.POLICY_DENIED &&
        isObject(answer.data) &&
        answer.data.reason === undefined;
      if (!isEmpty) return answer;
      const value = { [LIST_MEMBERS[method]]: [] };
      return { kind: 'result', raw: JSON.stringify(value), value };
    },

    /**
     * Records what an agent asked for that may do nothing: it is answered nothing but that. Where it
     * is the data plane that may let nobody act, what is no call is not worth a record.
     */
    async refused(
      caller: Caller,
      bar: Deny,
      sessionId: string | null,
      method: string,
    ): Promise<void> {
      if (bar.cause === 'plane') return;
      if (!OTHERS.has(method) && !isListMethod(method) && !isJudgedRead(method)) return;
      await record(caller, sessionId, method, {}, NOBODY);
    },
  };
}

const REFUSED = JSON.stringify({ code: RPC_ERRORS.INTERNAL, message: 'The list was not made.' });

const NOBODY: Pick<UpstreamSession, 'request'> = {
  request: async () => ({ kind: 'error', raw: REFUSED, value: JSON.parse(REFUSED) }),
};
