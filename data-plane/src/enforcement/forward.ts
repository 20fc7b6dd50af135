/**
 * Carries out an allowed call: sends it once, inspects the answer, holds a result that a person has
 * to release, and records the outcome. Proven by enforcer.test.ts.
 */
import type { Logger } from 'pino';
import { AnswerBytes } from '../upstream/shares/answer-room.ts';
import type { FairBytes } from '../upstream/shares/fair-bytes.ts';
import type {
  Cancellation,
  SendToClient,
  UpstreamExchange,
  UpstreamFailure,
  UpstreamNotification,
} from '../upstream/upstream.ts';
import { type Answer, isRefusal, type Refusal } from './call/answer.ts';
import { publishStage } from './call/call-stages.ts';
import type { Deny, Destination, Exchange, JudgedCall, RawCall } from './call/calls.ts';
import type { Inspect, Inspected } from './call/received-message.ts';
import type { ResultWaits } from './holds/result-waits.ts';
import { InspectedStream } from './inspected-stream.ts';
import type { AllowedCall } from './record/audit.ts';
import { aboutCall } from './record/decision-log.ts';
import {
  blocked,
  type OutcomeDeps,
  type Passed,
  recordAnswerStarted,
  recordOutcome,
} from './record/outcome.ts';
import {
  type AnswerLimits,
  deniedAnswer,
  failedAnswer,
  failureOf,
  internalRefusal,
} from './record/refusals.ts';

export interface ForwardDeps {
  inspect: Inspect;
  /** Why the call may no longer be sent; undefined where it may. */
  findIneligibility(call: JudgedCall): Deny | undefined;
  /**
   * Why its agent may get nothing any more; undefined where it may. Its workflow does not count: a
   * session that ended while the server worked takes back nothing that was done in it.
   */
  findReaderIneligibility(call: Pick<JudgedCall, 'caller'>): Deny | undefined;
  waits: Pick<ResultWaits, 'hold' | 'wait'>;
  outcome: OutcomeDeps;
  /** For the answers of all calls. */
  room: FairBytes;
  limits: AnswerLimits;
  log: Pick<Logger, 'error' | 'warn'>;
}

/** Sends an allowed call; resolves to the answer for its agent. */
export type Forward = (
  allowed: AllowedCall,
  destination: Destination,
  exchange: Exchange,
) => Promise<Answer>;

export function createForward(deps: ForwardDeps): Forward {
  const { inspect, waits, outcome, limits, log } = deps;

  function inspectAnswer(
    call: JudgedCall,
    speaker: Destination['speaker'],
    sending: Sending,
    sent: Answer,
  ): Passed | Promise<Passed> {
    const settled = sending.stream?.settled;
    if (settled) return settled.then(() => inspectAnswer(call, speaker, sending, sent));
    if (sending.failed !== undefined) return passedOf(call, sending.failed);
    if (sent.kind === 'refusal' || sent.kind === 'model') logFailure(call, sent.failure);
    // Not inspected: a model's answer, which was passed on already, derives from the agent's own
    // prompt.
    if (!('raw' in sent)) return { answer: sent };
    const { caller, ask } = call;
    const { carry = '', carriedLast = 0 } = sending.stream ?? {};
    const received = {
      speaker,
      caller,
      serverId: ask.serverId,
      call,
      part: sent,
      waiting: sent.waiting,
      carry,
      carriedLast,
    };
    const inspecting = inspect(received);
    return inspecting instanceof Promise
      ? inspecting.then((inspected) => passedOf(call, inspected))
      : passedOf(call, inspecting);
  }

  function passedOf(call: JudgedCall, inspected: Inspected): Passed {
    const { part, step, blocked: why, refusal, error, findings, isHeld } = inspected;
    if (error !== undefined)
      log.error({ ...aboutCall(call), err: error, why }, 'an inspection threw');
    if (why !== undefined) return { ...blocked(call, step, why, refusal), findings, isHeld };
    if (part.kind !== 'notification') return { answer: part, step, findings };
    return blocked(call, step, `${step}: it turned an answer into something else`);
  }

  /**
   * Server and inspection may have taken their time: an agent that may not act any more gets its
   * refusal in place of the answer, and no person is asked about the answer. What a client answered
   * is sent to a server only now, so all counts that counts for a call before it is sent.
   */
  function forReader(
    call: JudgedCall,
    speaker: Destination['speaker'],
    passed: Passed,
    exchange: Exchange,
  ): Passed {
    const { answer, findings, isHeld } = passed;
    // Nobody reads a cancelled answer, and a model's was passed on already.
    if (answer.kind === 'cancelled' || answer.kind === 'model') return passed;
    if (exchange.sender?.() === null) return passed;
    const find = speaker === 'client' ? deps.findIneligibility : deps.findReaderIneligibility;
    const deny = find(asNow(call, exchange));
    if (deny === undefined) return passed;
    const refusal = deniedAnswer(deny, call.id);
    // What failed, or was blocked already, is recorded as that.
    if (answer.kind === 'refusal' && !isHeld) return { ...passed, answer: refusal };
    const why = `eligibility: ${deny.message}`;
    return { ...blocked(call, 'eligibility', why, refusal), findings };
  }

  function failed(call: JudgedCall, error: unknown, exchange: Exchange): Answer {
    if (isRefusal(error)) return error;
    const failure = failureOf(error, exchange.cancellation.isCancelled);
    // The denial itself says whether the client's credential is at fault.
    const deny =
      failure.kind === 'ineligible' ? deps.findIneligibility(asNow(call, exchange)) : undefined;
    if (deny !== undefined) return { ...deniedAnswer(deny, call.id), failure };
    return failedAnswer(failure, call.id, limits);
  }

  function logFailure(call: RawCall, failure: UpstreamFailure | undefined): void {
    // An agent retries these often: each refusal is recorded, but not logged.
    if (failure === undefined || failure.kind === 'busy' || failure.kind === 'ineligible') return;
    const { kind, message } = failure;
    log.warn({ ...aboutCall(call), failure: kind, detail: message }, 'no upstream answer');
  }

  return async (allowed, destination, exchange) => {
    const { call } = allowed;
    const { speaker } = destination;
    const sentAt = outcome.elapsed();
    const sending = new Sending(call, speaker, exchange, deps);
    try {
      let sent: Answer;
      try {
        const answering = destination.send(call, sending);
        publishStage(call, 'sent-upstream');
        sent = await answering;
      } catch (error) {
        sent = failed(call, error, exchange);
      }
      sending.end();
      publishStage(call, 'upstream-answered');
      const passing = inspectAnswer(call, speaker, sending, sent);
      const inspected = passing instanceof Promise ? await passing : passing;
      let passed = forReader(call, speaker, inspected, exchange);
      if (passed.isHeld) {
        const held = await waits.hold(allowed, sent, passed, exchange);
        if ('wait' in held) {
          const { step, findings } = passed;
          const waiting = { answer: sent, step, findings, heldAs: held.escalationId };
          const { heldBytes } = sending;
          recordOutcome(allowed, { sent, passed: waiting, sentAt, heldBytes }, outcome);
          sending.release();
          return waits.wait(call, held, exchange);
        }
        passed = held;
      }
      const { heldBytes } = sending;
      const recorded = recordOutcome(allowed, { sent, passed, sentAt, heldBytes }, outcome);
      publishStage(call, 'outcome-handed-over');
      if (passed.answer === sent) return sent;
      // Where inspection changed the answer, that is on disk before the agent gets the answer.
      const isRecorded = await recorded;
      const shown = forReader(call, speaker, passed, exchange).answer;
      return isRecorded || shown.kind === 'refusal' ? shown : unrecordedAnswer(call);
    } finally {
      sending.release();
    }
  };
}

function unrecordedAnswer(call: RawCall): Refusal {
  const message = 'What inspection did to the answer cannot be recorded now.';
  return internalRefusal(message, { event_id: call.id, failure: 'unrecorded' });
}

/** A call with the sender of its newest request. */
function asNow(call: JudgedCall, { sender }: Exchange): JudgedCall {
  const caller = sender?.();
  return caller == null ? call : { ...call, caller };
}

/** The exchange that the destination gets: messages before the answer are inspected. */
class Sending implements UpstreamExchange {
  readonly cancellation: Cancellation;
  readonly send: SendToClient | undefined;
  readonly takesEveryResult: boolean;
  readonly logLevel: string | undefined;
  readonly wantsProgress: boolean;
  /** Set when the inspection of an earlier message threw: the answer fails with it. */
  failed: Inspected | undefined = undefined;
  /** Created when something is sent before the answer. */
  stream: InspectedStream | null = null;
  #isOver = false;
  #held: AnswerBytes | null = null;
  readonly #call: JudgedCall;
  readonly #speaker: Destination['speaker'];
  readonly #client: Exchange;
  readonly #deps: ForwardDeps;

  constructor(
    call: JudgedCall,
    speaker: Destination['speaker'],
    client: Exchange,
    deps: ForwardDeps,
  ) {
    this.cancellation = client.cancellation;
    this.send = client.send;
    this.takesEveryResult = call.caller.era === 'modern';
    this.logLevel = client.logLevel;
    this.wantsProgress = client.wantsProgress;
    this.#call = call;
    this.#speaker = speaker;
    this.#client = client;
    this.#deps = deps;
  }

  onPaused(retryMs: number): void {
    this.#client.onPaused?.(retryMs);
  }

  onAnswerStarted(status: number): void {
    recordAnswerStarted(this.#call, status, this.#deps.outcome);
  }

  findIneligibility(): string | undefined {
    return this.#deps.findIneligibility(asNow(this.#call, this.#client))?.message;
  }

  hold(bytes: number): boolean {
    this.#held ??= new AnswerBytes(this.#deps.room, this.#call.caller);
    return this.#held.hold(bytes);
  }

  /** Bytes that are counted for the answer. */
  get heldBytes(): number {
    return this.#held?.bytes ?? 0;
  }

  /** To be called when the answer was handed over, or is kept elsewhere. */
  release(): void {
    this.#held?.release();
  }

  /** To be called when the answer has arrived: later messages are dropped. */
  end(): void {
    this.#isOver = true;
  }

  onNotification(notification: UpstreamNotification): void {
    if (this.#isOver) return;
    this.stream ??= new InspectedStream({
      caller: this.#call.caller,
      speaker: this.#speaker,
      call: this.#call,
      inspect: this.#deps.inspect,
      hold: (bytes) => this.hold(bytes),
      passOn: (_serverId, notification) => {
        const now = asNow(this.#call, this.#client);
        if (this.#deps.findReaderIneligibility(now) === undefined) {
          this.#client.onNotification(notification);
        }
      },
      onFailed: (_serverId, inspected) => {
        this.failed = inspected;
      },
      onDropped: () =>
        this.#deps.log.warn(aboutCall(this.#call), 'too many notifications: some were dropped'),
    });
    this.stream.push(this.#call.ask.serverId, notification);
  }
}
