/**
 * Calls of modern clients. A server's question cannot reach the client while its call is open: the
 * client gets it as an answer, and makes the call again with the replies; meanwhile the call is
 * parked (parked-calls.ts). Tasks are kept apart by their handles.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import type { Answer } from '../../enforcement/answer.ts';
import { isList, isTaskMethod } from '../../enforcement/call-kinds.ts';
import type { Ask, Caller, Destination, Exchange } from '../../enforcement/calls.ts';
import type { Enforcer } from '../../enforcement/enforcer.ts';
import { internalRefusal, resultOf } from '../../enforcement/refusals.ts';
import { isObject } from '../../upstream/message.ts';
import { type Cancellation, requireStillWanted } from '../../upstream/upstream.ts';
import { takesTasks } from '../extensions.ts';
import { callRouted, type Routed, refusingDestination } from '../router.ts';
import type { Entry, ParkedCalls, PeerCaller } from './parked-calls.ts';
import { askAgain, coverState, uncoverState, withoutHoldState } from './request-states.ts';
import type { TaskHandles } from './task-handles.ts';

export interface ModernCallDeps {
  enforcer: Pick<Enforcer, 'call'>;
  parked: ParkedCalls;
  tasks: TaskHandles;
}

export type ModernCalls = ReturnType<typeof createModernCalls>;

export function createModernCalls({ enforcer, parked, tasks }: ModernCallDeps) {
  async function call(
    caller: Caller,
    given: Ask,
    destination: Destination,
    exchange: Exchange,
  ): Promise<Answer> {
    const ask = withoutHoldState(given);
    return askAgain(ask, await callOnce(caller, ask, destination, exchange));
  }

  function callOnce(
    caller: Caller,
    ask: Ask,
    destination: Destination,
    exchange: Exchange,
  ): Promise<Answer> {
    const entry = parked.find(caller, ask);
    // Judged and recorded all the same, without a destination.
    if (entry === 'unknown') return enforcer.call(caller, ask, NO_CALL, exchange);
    if (entry !== 'none') return resume(entry, caller, ask, exchange);
    const isOfTask = isTaskMethod(ask.method);
    const own = isOfTask ? tasks.open(caller.key, ask) : uncoverState(ask);
    if (own === undefined) return enforcer.call(caller, ask, NO_TASK, exchange);
    // A list cannot be answered with a question.
    const canAsk = !isOfTask && !isList(ask.method) && destination.speaker === 'server';
    if (hasPeer(caller) && canAsk) {
      return start(caller, own, destination, exchange);
    }
    return enforcer
      .call(caller, own, destination, exchange)
      .then((answer) => shown(caller, own, answer));
  }

  function start(
    caller: PeerCaller,
    ask: Ask,
    destination: Destination,
    exchange: Exchange,
  ): Promise<Answer> {
    const entry = parked.begin(caller, ask);
    const { open } = entry;
    const own: Exchange = {
      ...exchange,
      cancellation: open.cancellation,
      send: open.send,
      onNotification: (heard) => open.onNotification?.(heard),
    };
    void enforcer
      .call(caller, ask, destination, own)
      .then((answer) => parked.end(entry, shown(caller, ask, answer)));
    return wait(entry, exchange, exchange.cancellation);
  }

  /** Waits for the server's answer or question on behalf of one request of the client. */
  async function wait(
    entry: Entry,
    exchange: Exchange,
    cancellation: Cancellation,
  ): Promise<Answer> {
    const { open } = entry;
    open.isAwaited = true;
    open.onNotification = (heard) => exchange.onNotification(heard);
    cancellation.onCancel = () => open.abandon();
    try {
      const answer = await open.turn();
      if (answer === null) {
        return resultOf({
          resultType: 'input_required',
          inputRequests: open.inputRequests(),
          requestState: parked.park(entry),
        });
      }
      parked.forget(entry);
      return answer;
    } finally {
      cancellation.onCancel = null;
      open.onNotification = null;
    }
  }

  /** The repeated request: judged like any, and then the open call continues with its input. */
  async function resume(
    entry: Entry,
    caller: Caller,
    ask: Ask,
    exchange: Exchange,
  ): Promise<Answer> {
    const { open } = entry;
    open.isAwaited = true;
    let isDelivered = false;
    const parkedCall: Destination = {
      speaker: 'gateway',
      async send(_call, under) {
        requireStillWanted(under);
        isDelivered = true;
        open.deliver(ask.retry?.inputResponses ?? {});
        return wait(entry, exchange, under.cancellation);
      },
    };
    const answer = await enforcer.call(caller, ask, parkedCall, exchange);
    if (!isDelivered) {
      // Denied: the input that the call waits for will not come.
      open.abandon();
      parked.forget(entry);
    }
    return answer;
  }

  /** The answer for this client: task ids are sealed, a server's state is marked. */
  function shown(caller: Caller, ask: Ask, answer: Answer): Answer {
    if (answer.kind !== 'result' || !isObject(answer.value)) return answer;
    const { resultType } = answer.value;
    if (resultType === 'task' && !takesTasks(caller.peer?.capabilities)) {
      return internalRefusal('The MCP server made it a task, which this client did not declare.');
    }
    const covered = resultType === 'input_required' ? coverState(answer) : answer;
    return tasks.seal(caller.key, ask, covered);
  }

  return {
    call: (caller: Caller, routed: Routed, exchange: Exchange): Promise<Answer> =>
      callRouted(caller, routed, exchange, call),
  };
}

function hasPeer(caller: Caller): caller is PeerCaller {
  return caller.peer !== undefined;
}

const NO_CALL = refusingDestination(
  RPC_ERRORS.INVALID_PARAMS,
  'This requestState is none that the gateway waits for: it has lapsed, was used, or belongs to another request. Make the request without it.',
);
const NO_TASK = refusingDestination(RPC_ERRORS.INVALID_PARAMS, 'No such task of this agent here.');
