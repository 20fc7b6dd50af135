/**
 * What servers ask of a client, in either era: its roots, a completion of its model, a form for a
 * person to fill in. Each question is judged and recorded like a call of the agent, since the reply
 * leaves the agent for the server.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import type { Answer } from '../enforcement/call/answer.ts';
import type { Caller, Destination } from '../enforcement/call/calls.ts';
import { askOf, canAnswer } from '../enforcement/call/client-questions.ts';
import { type Enforcer, quiet } from '../enforcement/enforcer.ts';
import { deniedByPolicy } from '../enforcement/record/refusals.ts';
import { isObject } from '../upstream/message.ts';
import { AnswerBytes, bytesToHold, noRoomYet } from '../upstream/shares/answer-room.ts';
import type { FairBytes } from '../upstream/shares/fair-bytes.ts';
import {
  type Cancellation,
  requireEligible,
  type SendToClient,
  type ServerRequest,
  type SessionPeer,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
} from '../upstream/upstream.ts';
import { answerText, errorText } from './json-rpc.ts';

export interface QuestionDeps {
  enforcer: Pick<Enforcer, 'call' | 'introduce'>;
  /** For questions, from their arrival until they are over. */
  room: FairBytes;
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** Milliseconds that a client may take to answer. */
  timeoutMs: number;
}

/** The client that a question is put to. */
export interface QuestionTarget {
  /** The sender of the client's newest request: it is judged by that one's credential. */
  sender(): Caller;
  /** Delivers the question, once it was allowed and recorded. */
  deliver: Destination['send'];
}

/** A client that servers may ask. */
export interface AskedClient extends Pick<SessionPeer, 'capabilities' | 'needsStream'> {
  /**
   * @param send the stream of the call with which the question came, where it came with one
   * @returns why it cannot be asked, where it cannot
   */
  findTarget(serverId: string, send: SendToClient | undefined): QuestionTarget | string;
}

/** A client as one server's session sees it. */
export function bindClient(client: AskedClient, serverId: string, deps: QuestionDeps): SessionPeer {
  /** Questions in progress, by the server's own ids. */
  const asked = new Map<string, Cancellation>();
  const { capabilities, needsStream } = client;

  async function ask(
    { id, method, params }: ServerRequest,
    send: SendToClient | undefined,
  ): Promise<string | null> {
    if (!canAnswer(capabilities, method, params)) {
      const message = `The client does not support ${method}.`;
      return errorText(id, RPC_ERRORS.METHOD_NOT_FOUND, message);
    }
    const key = JSON.stringify(id);
    const target = asked.has(key) ? TOO_MANY : client.findTarget(serverId, send);
    if (typeof target === 'string') return errorText(id, RPC_ERRORS.INTERNAL, target);
    const caller = { ...target.sender(), arrivedAt: deps.elapsed() };
    const held = new AnswerBytes(deps.room, caller);
    if (!held.hold(bytesToHold(JSON.stringify(params).length, asked.size === 0))) {
      return errorText(id, RPC_ERRORS.INTERNAL, noRoomYet().message);
    }
    const exchange = { ...quiet(), sender: target.sender };
    asked.set(key, exchange.cancellation);
    try {
      const destination: Destination = {
        speaker: 'client',
        send: async (call, exchange) => {
          requireEligible(exchange);
          return target.deliver(call, exchange);
        },
      };
      const shown = await deps.enforcer.introduce(caller, serverId, params, 'question');
      if (shown === null) return errorText(id, RPC_ERRORS.INTERNAL, REFUSED);
      const question = askOf(serverId, method, shown);
      return replyText(id, await deps.enforcer.call(caller, question, destination, exchange));
    } finally {
      asked.delete(key);
      held.release();
    }
  }

  return {
    capabilities,
    needsStream,
    ask,
    withdraw: (requestId) => asked.get(JSON.stringify(requestId))?.cancel(),
    abandon: () => {
      for (const cancellation of asked.values()) cancellation.cancel();
    },
  };
}

const REFUSED = 'The gateway refused the request or its answer.';
export const TOO_MANY = 'Too many requests wait for the client.';

/** A question that its client was asked, until it is answered, withdrawn, or given up. */
export class Question {
  readonly answer: Promise<UpstreamAnswer>;
  readonly #onOver: (isGivenUp: boolean) => void;
  readonly #cancellation: Cancellation;
  readonly #timer: NodeJS.Timeout;
  #resolve: (answer: UpstreamAnswer) => void = () => undefined;
  #reject: (failure: UpstreamFailure) => void = () => undefined;

  /**
   * @param onOver called before `answer` settles; when given up, the client may still be working on
   * it
   */
  constructor(
    { cancellation }: UpstreamExchange,
    timeoutMs: number,
    onOver: (isGivenUp: boolean) => void,
  ) {
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#onOver = onOver;
    this.#cancellation = cancellation;
    const giveUp = (kind: 'timeout' | 'cancelled', why: string) => {
      this.#end(true);
      this.#reject(new UpstreamFailure(kind, why));
    };
    this.#timer = setTimeout(
      () => giveUp('timeout', 'the client did not answer in time'),
      timeoutMs,
    );
    cancellation.onCancel = () => giveUp('cancelled', 'the server withdrew it');
  }

  resolve(answer: UpstreamAnswer): void {
    this.#end(false);
    this.#resolve(answer);
  }

  fail(failure: UpstreamFailure): void {
    this.#end(false);
    this.#reject(failure);
  }

  #end(isGivenUp: boolean): void {
    clearTimeout(this.#timer);
    this.#cancellation.onCancel = null;
    this.#onOver(isGivenUp);
  }
}

/**
 * The client capabilities that the gateway passes on to servers; null where there are none.
 *
 * @param declared `capabilities` of `initialize`, caller-controlled
 */
export function askableCapabilities(declared: unknown): Record<string, unknown> | null {
  if (!isObject(declared)) return null;
  const { roots, sampling, elicitation } = declared;
  const passed: Record<string, unknown> = {};
  if (isObject(roots)) passed.roots = roots.listChanged === true ? { listChanged: true } : {};
  if (isObject(sampling)) passed.sampling = modes(sampling, ['context', 'tools']);
  if (isObject(elicitation)) passed.elicitation = modes(elicitation, ['form', 'url']);
  return Object.keys(passed).length > 0 ? passed : null;
}

function modes(declared: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => (isObject(declared[name]) ? [[name, {}]] : [])),
  );
}

/** The response for the server. It learns neither the policies nor the agent's identity. */
function replyText(id: string | number, answer: Answer): string | null {
  if (answer.kind !== 'refusal') return answerText(id, answer);
  const { code, data } = answer;
  if (data?.failure !== undefined) {
    const isLate = data.failure === 'timeout';
    const why = isLate ? 'The client did not answer in time.' : 'The client gave no answer.';
    return errorText(id, RPC_ERRORS.INTERNAL, why);
  }
  const isDenied = code === RPC_ERRORS.POLICY_DENIED;
  return errorText(id, code, isDenied ? deniedByPolicy(REFUSED).message : REFUSED);
}
