/**
 * Calls of modern clients. A server's question cannot reach the client while its call is open: the
 * client gets it as an answer, and makes the call again with the replies; meanwhile the call is
 * parked (parked-calls.ts). Tasks are kept apart by their handles.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import type { Answer } from '../../enforcement/call/answer.ts';
import { isList, isTaskMethod } from '../../enforcement/call/call-kinds.ts';
import type { Ask, Caller, Destination, Exchange } from '../../enforcement/call/calls.ts';
import type { Enforcer } from '../../enforcement/enforcer.ts';
import { internalRefusal, resultOf } from '../../enforcement/record/refusals.ts';
import { isObject } from '../../upstream/message.ts';
import { type Cancellation, requireStillWanted } from '../../upstream/upstream.ts';
import { takesTasks } from '../extensions.ts';
import { refusingDestination } from '../router.ts';
import type { Entry, ParkedCalls, PeerCaller } from './parked-calls.ts';
import { askAgain, coverState, uncoverState, withoutHoldState } from './request-states.ts';
import type { TaskHandles } from './task-handles.ts';

export interface ModernCallDeps {
  enforcer: Pick<Enforcer, 'call'>;
  parked: ParkedCalls;
  tasks: TaskHandles;
}

export type ModernCalls = ReturnType<typeof createModernCalls>;

/** What the enforcer gets for a request, and what its client gets of the answer. */
interface Way {
  ask: Ask;
  destination: Destination;
  exchange: Exchange;
  answerOf(answering: Promise<Answer>): Promise<Answer>;
}

export function createModernCalls({ enforcer, parked, tasks }: ModernCallDeps) {
  /** Makes a call for one request of a client of this era; the call itself may outlive it. */
  async function call(
    caller: Caller,
    given: Ask,
    destination: Destination,
    exchange: Exchange,
  ): Promise<Answer> {
    const ask = withoutHoldState(given);
    const way = wayOf(caller, ask, destination, exchange);
    const answering = enforcer.call(caller, way.ask, way.destination, way.exchange);
    return askAgain(ask, await way.answerOf(answering));
  }

  function wayOf(caller: Caller, ask: Ask, destination: Destination, exchange: Exchange): Way {
    const refused = (by: Destination): Way => ({
      ask,
      destination: by,
      exchange,
      answerOf: asItIs,
    });
    const entry = parked.find(caller, ask);
    // Judged and recorded all the same, without a destination.
    if (entry === 'unknown') return refused(NO_CALL);
    if (entry !== 'none') return wayBack(caller, entry, ask, exchange);
    const isOfTask = isTaskMethod(ask.method);
    const own = isOfTask ? tasks.open(caller.key, ask) : uncoverState(ask);
    if (own === undefined) return refused(NO_TASK);
    // A list cannot be answered with a question.
    const canAsk = !isOfTask && !isList(ask.method) && destination.speaker === 'server';
    if (hasPeer(caller) && canAsk) return openWay(caller, own, destination, exchange);
    const answerOf = async (answering: Promise<Answer>) => shown(caller, own, await answering);
    return { ask: own, destination, exchange, answerOf };
  }

  /** Of a call during which the server may ask the client: it can be parked. */
  function openWay(
    caller: PeerCaller,
    ask: Ask,
    destination: Destination,
    exchange: Exchange,
  ): Way {
    const entry = parked.begin(caller, ask, exchange.keepBody?.());
    const { open } = entry;
    const own: Exchange = {
      ...exchange,
      cancellation: open.cancellation,
      send: open.send,
      sender: () => (open.isAwaited ? entry.caller : null),
      onNotification: (notification) => open.onNotification?.(notification),
    };
    return {
      ask,
      destination,
      exchange: own,
      answerOf(answering) {
        void answering.then((answer) => parked.end(entry, shown(caller, ask, answer)));
        return wait(entry, exchange, exchange.cancellation);
      },
    };
  }

  /** Waits for the server's answer or question on behalf of one request of the client. */
  async function wait(
    entry: Entry,
    exchange: Exchange,
    cancellation: Cancellation,
  ): Promise<Answer> {
    const { open } = entry;
    open.isAwaited = true;
    open.onNotification = (notification) => exchange.onNotification(notification);
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

  /** Of the repeated request: judged like any, and then the open call continues with its input. */
  function wayBack(caller: Caller, entry: Entry, ask: Ask, exchange: Exchange): Way {
    const { open } = entry;
    open.isAwaited = true;
    let isDelivered = false;
    const parkedCall: Destination = {
      speaker: 'gateway',
      async send(_call, under) {
        requireStillWanted(under);
        isDelivered = true;
        entry.caller = { ...caller, peer: entry.caller.peer };
        open.deliver(ask.retry?.inputResponses ?? {});
        return wait(entry, exchange, under.cancellation);
      },
    };
    return {
      ask,
      destination: parkedCall,
      exchange,
      async answerOf(answering) {
        const answer = await answering;
        if (!isDelivered) {
          // Denied: the input that the call waits for will not come.
          open.abandon();
          parked.forget(entry);
        }
        return answer;
      },
    };
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

  return { call };
}

const asItIs = (answering: Promise<Answer>) => answering;

/** Whether servers may ask its client something, or hand it a task. */
function hasPeer(caller: Caller): caller is PeerCaller {
  return caller.peer !== undefined && !caller.peer.isShared;
}

const NO_CALL = refusingDestination(
  RPC_ERRORS.INVALID_PARAMS,
  'This requestState is none that the gateway waits for: it has lapsed, was used, or belongs to another request. Make the request without it.',
);
const NO_TASK = refusingDestination(RPC_ERRORS.INVALID_PARAMS, 'No such task of this agent here.');
