/**
 * The guard as modern clients meet it: their calls are judged, recorded and forwarded like any, and
 * what a server wants to know before it answers is judged too before it reaches the client.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import { isTaskMethod } from '../../enforcement/call-kinds.ts';
import type { RawCall } from '../../enforcement/calls.ts';
import type { CallAnswer } from '../../enforcement/enforcer.ts';
import type { ForwardExchange } from '../../enforcement/forward.ts';
import {
  type Cancellation,
  requireStillWanted,
  type UpstreamPeer,
} from '../../upstream/upstream.ts';
import type { Guard } from '../guard.ts';
import { isObject } from '../json-rpc.ts';
import { takesTasks } from './extensions.ts';
import { type InputDeps, judgeInputRequests } from './input-requests.ts';
import { type OpenCall, toUpstreamAnswer } from './open-call.ts';
import type { ParkedCalls } from './parked-calls.ts';
import { coverState, uncoverState } from './request-states.ts';
import { resultOf } from './results.ts';
import type { TaskHandles } from './task-handles.ts';

export interface ModernGuardDeps extends InputDeps {
  guard: Guard;
  parked: ParkedCalls;
  tasks: TaskHandles;
}

type Entry = ReturnType<ParkedCalls['begin']>;

/** Builds it. */
export function createModernGuard(deps: ModernGuardDeps): Guard {
  const { guard, parked } = deps;
  /** The results that are the gateway's own. */
  const made = new WeakSet<object>();

  async function start(
    call: RawCall & { peer: UpstreamPeer },
    exchange: ForwardExchange,
  ): Promise<CallAnswer> {
    const entry = parked.begin(call);
    const { open } = entry;
    const own = {
      ...unchanged(exchange),
      cancellation: open.cancellation,
      send: open.send,
      onNotification: (heard: Parameters<ForwardExchange['onNotification']>[0]) =>
        open.onNotification?.(heard),
    };
    void guard.call(call, own).then((answer) => parked.end(entry, answer));
    return wait(entry, exchange, exchange.cancellation);
  }

  /** Until the server answers or asks, for one request of the client. */
  async function wait(
    entry: Entry,
    exchange: ForwardExchange,
    cancellation: Cancellation,
  ): Promise<CallAnswer> {
    const { open } = entry;
    open.isAwaited = true;
    open.onNotification = (heard) => exchange.onNotification(heard);
    cancellation.onCancel = () => open.abandon();
    try {
      const turn = await open.turn();
      if (turn.kind === 'asked') return asked(entry, open);
      parked.forget(entry);
      return turn.answer;
    } finally {
      cancellation.onCancel = null;
      open.onNotification = null;
    }
  }

  function asked(entry: Entry, open: OpenCall): CallAnswer {
    const value = {
      resultType: 'input_required',
      inputRequests: open.inputRequests(),
      requestState: parked.park(entry),
    };
    made.add(value);
    return resultOf(value);
  }

  /** The request made again: judged like any, and then the open call goes on with what it brings. */
  async function resume(
    entry: Entry,
    call: RawCall,
    exchange: ForwardExchange,
  ): Promise<CallAnswer> {
    const { open } = entry;
    open.isAwaited = true;
    let isDelivered = false;
    const answer = await guard.call(
      {
        ...call,
        recipient: {
          async request(_request, under) {
            requireStillWanted(under);
            isDelivered = true;
            open.deliver(call.retry?.inputResponses ?? {});
            return toUpstreamAnswer(await wait(entry, exchange, under.cancellation));
          },
        },
      },
      exchange,
    );
    if (!isDelivered) {
      // Denied: what the call was waiting for does not come.
      open.abandon();
      parked.forget(entry);
    }
    return answer;
  }

  async function pass(call: RawCall, exchange: ForwardExchange): Promise<CallAnswer> {
    const isOfTask = isTaskMethod(call.method);
    const own = isOfTask ? deps.tasks.open(call) : call;
    if (own === undefined) return guard.call({ ...call, recipient: NO_TASK }, exchange);
    const hasPeer = own.peer !== undefined && !isOfTask;
    const answer = hasPeer
      ? await start(own as RawCall & { peer: UpstreamPeer }, exchange)
      : await guard.call(own, exchange);
    return look(own, answer);
  }

  /** What a server asks in an answer is judged before the client sees it; its tasks are sealed. */
  async function look(call: RawCall, answer: CallAnswer): Promise<CallAnswer> {
    if (answer.kind !== 'result' || !isObject(answer.value)) return answer;
    // What the gateway asks itself was judged when the server asked it.
    if (made.has(answer.value)) return answer;
    const { resultType, inputRequests } = answer.value;
    const isOfTask = resultType === 'task' || isTaskMethod(call.method);
    const asks = resultType === 'input_required';
    if (asks || isOfTask) {
      const refused = await judgeInputRequests(deps, call, inputRequests);
      if (refused !== null) return refused;
    }
    if (resultType === 'task' && !takesTasks(call.peer?.capabilities)) {
      return failed('The MCP server made a task of it, which this client did not declare.');
    }
    return deps.tasks.seal(call, asks ? coverState(answer) : answer);
  }

  return {
    identify: guard.identify,
    findBar: guard.findBar,
    findAgent: guard.findAgent,
    async call(call, exchange) {
      const entry = parked.find(call);
      if (entry === 'none') return pass(uncoverState(call), exchange);
      // Judged and recorded all the same, and answered by nobody.
      if (entry === 'unknown') return guard.call({ ...call, recipient: NO_CALL }, exchange);
      return look(call, await resume(entry, call, exchange));
    },
  };
}

const NO_CALL = refuses(
  'This requestState is none that the gateway waits for: it has lapsed, was used, or belongs to another request. Make the request without it.',
);
const NO_TASK = refuses('No such task of this agent here.');

/** Stands in for a server where there is nothing that one could be asked. */
function refuses(message: string): NonNullable<RawCall['recipient']> {
  const value = { code: RPC_ERRORS.INVALID_PARAMS, message };
  const answer = { kind: 'error', raw: JSON.stringify(value), value } as const;
  return { request: async () => answer };
}

function unchanged({ wantsProgress, takesEveryResult, logLevel }: ForwardExchange) {
  return { wantsProgress, takesEveryResult, logLevel };
}

function failed(message: string): CallAnswer {
  return { kind: 'error', status: 200, code: RPC_ERRORS.INTERNAL, message };
}
