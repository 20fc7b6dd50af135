/**
 * The way of a call: judge, record, hold, send, inspect, outcome. Nothing reaches a server, and
 * nothing from a server reaches an agent, except through here. An error on the way is never
 * permission. Proven by enforcer.test.ts.
 */
import { uuidv7 } from '@governance/shared/ids';
import type { Logger } from 'pino';
import type { Ledger } from '../contracts.ts';
import {
  Cancellation,
  type UpstreamFailure,
  type UpstreamNotification,
} from '../upstream/upstream.ts';
import { type Answer, isRefusal, type Refusal } from './answer.ts';
import { type AllowedCall, type AuditDeps, type CallJudgement, recordDecision } from './audit.ts';
import { stepTeller, tellPart } from './call-parts.ts';
import type {
  AgentCall,
  Ask,
  Caller,
  Destination,
  Exchange,
  HoldGrant,
  JudgedCall,
  RawCall,
} from './calls.ts';
import { createDecisionLog } from './decision-log.ts';
import { findCallIneligibility } from './eligibility.ts';
import { type Escalated, type Holds, NOBODY_TO_ASK, type OpenedHold } from './holds.ts';
import { InspectedStream } from './inspected-stream.ts';
import { type InspectionDeps, inspection } from './inspection.ts';
import type { PayloadKeeper } from './kept-payload.ts';
import { blocked, type OutcomeDeps, type Passed, recordOutcome } from './outcome.ts';
import { enforcement, type StepDeps } from './pipeline.ts';
import {
  type AnswerLimits,
  deniedAnswer,
  failedAnswer,
  failureOf,
  internalRefusal,
  refusalOf,
} from './refusals.ts';
import { createResultWaits } from './result-waits.ts';
import { createInspect, type Inspected } from './said.ts';
import { Sending, type SendingDeps } from './sending.ts';
import { policyInput } from './steps/policy.ts';
import { findExcess } from './steps/rate-limit.ts';

export type Verdict = CallJudgement['verdict'] | 'unauthenticated' | 'unrecorded';

export interface EnforcerDeps {
  steps: StepDeps;
  audit: AuditDeps;
  outcome: OutcomeDeps;
  inspection: Omit<InspectionDeps, 'judge'>;
  ledger: Ledger;
  payloads: Pick<PayloadKeeper, 'keepInput'>;
  log: Pick<Logger, 'error' | 'warn' | 'debug' | 'isLevelEnabled'>;
  /** `tenantId` is null for an unauthenticated caller. */
  onVerdict(verdict: Verdict, ms: number, tenantId: string | null): void;
  /** Called when a message that a server sent unprompted could not be inspected. */
  onInspectionFailed(tenantId: string, serverId: string, why: string): void;
  /** For messages that name a limit. */
  limits: AnswerLimits;
}

/** Passes on a server's message. */
export type Hear = (serverId: string, notification: UpstreamNotification) => void;

export interface Enforcer {
  /**
   * Judges, records and sends a call, and inspects its answer. Never rejects.
   *
   * @param exchange the client's end of the call, if the client waits for more than the answer
   */
  call(caller: Caller, ask: Ask, destination: Destination, exchange?: Exchange): Promise<Answer>;
  /**
   * Counts a request that is not judged but costs servers something, such as one that begins a
   * session.
   *
   * @returns what it is answered where its agent calls too often
   */
  admit(caller: Caller): Refusal | undefined;
  /**
   * Inspects messages that servers send unprompted, on one stream of the caller's.
   *
   * @param passOn gets what the caller may hear
   * @returns takes what the servers say
   */
  listen(caller: Caller, passOn: Hear): Hear;
  /**
   * Inspects what a server says outside an answer: about itself, or as a question to the client.
   *
   * @returns null where nothing of it is passed on
   */
  introduce<T extends object>(caller: Caller, serverId: string, said: T): Promise<T | null>;
}

/** The lists of steps, and who is asked about an escalation. */
export interface EnforcementPages {
  enforcement: typeof enforcement;
  inspection: typeof inspection;
  holds?: Holds;
}

/** The product's own lists. */
export const PAGES: EnforcementPages = { enforcement, inspection };

export function createEnforcer(deps: EnforcerDeps, pages: EnforcementPages = PAGES): Enforcer {
  const { audit, log } = deps;
  const { holds = NOBODY_TO_ASK } = pages;
  const logDecision = createDecisionLog(log, audit.elapsed);
  const inspect = createInspect(pages.inspection, { ...deps.inspection, judge: judgeQuestion });
  const sending: SendingDeps = {
    inspect,
    findIneligibility: (call) => findCallIneligibility(call, deps.steps)?.message,
  };
  const waits = createResultWaits({ results: holds.results, outcome: deps.outcome, log, runAgain });

  async function run(
    caller: Caller,
    ask: Ask,
    destination: Destination,
    exchange: Exchange,
    grant?: HoldGrant,
  ): Promise<Answer> {
    const call: RawCall = { id: uuidv7(audit.now()), caller, ask, grant };
    tellPart(call, 'received');
    // No record, no call: the specification's fail-closed, before any work is done.
    const condition = deps.ledger.condition();
    if (condition === 'full' || condition === 'failed') {
      return unrecorded(call, `the ledger is ${condition}`);
    }
    const judging = pages.enforcement.run(call, deps.steps, stepTeller());
    const judgement = judging instanceof Promise ? await judging : judging;
    if (judgement.verdict === 'deny' && 'error' in judgement) {
      const { step, error } = judgement;
      log.error({ ...about(call), err: error, step }, 'an enforcement step threw');
    }
    const isProven = judgement.call.agent !== undefined;
    if (grant && judgement.verdict === 'allow' && !isCovered(grant, judgement.call)) {
      // The server or its tool is not what the person saw: judged as if nobody had approved.
      grant.release();
      return run(caller, ask, destination, exchange);
    }
    const hold =
      judgement.verdict === 'escalate' && isProven ? openHold(judgement, exchange) : null;
    // The server has answered this call already, and is not asked again.
    const ofResult =
      judgement.verdict === 'allow' && !grant?.destination
        ? holds.results.find(judgement.call, exchange)
        : null;
    const ended = ofResult?.isPending() === false ? await ofResult.wait() : null;
    if (ended && !('kind' in ended)) return waits.handOver(judgement.call, exchange, ended);
    const opened = hold !== null && !isRefusal(hold) ? hold : ofResult;
    let allowed: AllowedCall | null;
    try {
      const kept = keepInput(judgement);
      allowed = await recordDecision(judgement, audit, kept, opened);
    } catch (error) {
      opened?.drop();
      return unrecorded(call, 'the ledger did not take the record', error);
    } finally {
      logDecision?.(judgement);
    }
    const ms = audit.elapsed() - caller.arrivedAt;
    if (isProven) deps.onVerdict(judgement.verdict, ms, caller.tenantId);
    else deps.onVerdict('unauthenticated', ms, null);
    if (allowed !== null) {
      grant?.used();
      if (ofResult) return waits.join(allowed, ofResult, ended, exchange);
      return forward(allowed, grant?.destination ?? destination, exchange);
    }
    if (hold !== null && isRefusal(hold)) return hold;
    if (opened === null) return refusalOf(judgement);
    const held = await opened.wait();
    if ('kind' in held) return held;
    return runAgain({ caller, ask }, destination, exchange, held);
  }

  /** Judged again, since everything may have changed before a person decided. */
  async function runAgain(
    { caller, ask }: Pick<RawCall, 'caller' | 'ask'>,
    destination: Destination,
    exchange: Exchange,
    held: HoldGrant,
  ): Promise<Answer> {
    const again = { ...caller, arrivedAt: audit.elapsed() };
    try {
      return await run(again, ask, destination, exchange, held);
    } finally {
      held.release();
    }
  }

  /** A grant that cannot be compared covers nothing. */
  function isCovered(grant: HoldGrant, call: JudgedCall): boolean {
    try {
      return grant.covers(call);
    } catch (error) {
      log.error({ ...about(call), err: error }, 'an approval could not be compared with its call');
      return false;
    }
  }

  /** A call that cannot be held still leaves a decision. */
  function openHold(escalated: Escalated, exchange: Exchange): OpenedHold | Refusal {
    try {
      return holds.open(escalated, exchange);
    } catch (error) {
      log.error({ ...about(escalated.call), err: error }, 'a call could not be held');
      return refusalOf(escalated);
    }
  }

  function keepInput({ call }: CallJudgement) {
    if (call.agent === undefined) return null;
    return deps.payloads.keepInput(call as AgentCall, (classified) =>
      policyInput(classified, classified.agent, deps.steps),
    );
  }

  async function forward(
    allowed: AllowedCall,
    destination: Destination,
    exchange: Exchange,
  ): Promise<Answer> {
    const { call } = allowed;
    const sentAt = audit.elapsed();
    const way = new Sending(call, destination.speaker, exchange, sending);
    let sent: Answer;
    try {
      const answering = destination.send(call, way);
      tellPart(call, 'sent-upstream');
      sent = await answering;
    } catch (error) {
      const { isCancelled } = exchange.cancellation;
      sent = isRefusal(error)
        ? error
        : failedAnswer(failureOf(error, isCancelled), call.id, deps.limits);
    }
    way.end();
    tellPart(call, 'upstream-answered');
    const passing = inspectAnswer(call, destination.speaker, way, sent);
    let passed = passing instanceof Promise ? await passing : passing;
    if (passed.isHeld) {
      const held = await waits.hold(allowed, sent, passed, exchange);
      if ('wait' in held) {
        const { step, findings } = passed;
        const heldAs = held.escalationId;
        recordOutcome(
          allowed,
          sent,
          { answer: sent, step, findings, heldAs },
          sentAt,
          deps.outcome,
        );
        return waits.wait(call, held, exchange);
      }
      passed = held;
    }
    const recorded = recordOutcome(allowed, sent, passed, sentAt, deps.outcome);
    tellPart(call, 'outcome-handed-over');
    if (passed.answer === sent) return sent;
    // What inspection did to an answer is on disk before anyone sees the answer.
    const isRecorded = await recorded;
    return isRecorded || passed.answer.kind === 'refusal' ? passed.answer : unrecordedAnswer(call);
  }

  function inspectAnswer(
    call: JudgedCall,
    speaker: Destination['speaker'],
    way: Sending,
    sent: Answer,
  ): Passed | Promise<Passed> {
    const settled = way.stream?.settled;
    if (settled) return settled.then(() => inspectAnswer(call, speaker, way, sent));
    if (way.failed !== undefined) return passedOf(call, way.failed);
    if (sent.kind === 'refusal' || sent.kind === 'model') logFailure(call, sent.failure);
    // A model's answer was passed on already: it derives from what the agent itself had sent.
    if (!('raw' in sent)) return { answer: sent };
    const { caller, ask } = call;
    const carry = way.stream?.carry ?? '';
    const said = { speaker, caller, serverId: ask.serverId, call, part: sent, carry };
    const inspecting = inspect(said);
    return inspecting instanceof Promise
      ? inspecting.then((inspected) => passedOf(call, inspected))
      : passedOf(call, inspecting);
  }

  function passedOf(call: JudgedCall, inspected: Inspected): Passed {
    const { part, step, blocked: why, refusal, error, findings, isHeld } = inspected;
    if (error !== undefined) log.error({ ...about(call), err: error, why }, 'an inspection threw');
    if (why !== undefined) return { ...blocked(call, step, why, refusal), findings, isHeld };
    if (part.kind !== 'notification') return { answer: part, step, findings };
    return blocked(call, step, `${step}: it turned an answer into something else`);
  }

  function logFailure(call: RawCall, failure: UpstreamFailure | undefined): void {
    // A busy agent retries often: the record has each refusal, the log does not.
    if (failure === undefined || failure.kind === 'busy' || failure.kind === 'ineligible') return;
    const { kind, message } = failure;
    log.warn({ ...about(call), failure: kind, detail: message }, 'no upstream answer');
  }

  function unrecorded(call: RawCall, why: string, error?: unknown): Answer {
    log.error({ ...about(call), err: error, why }, 'a call was refused unrecorded');
    deps.onVerdict('unrecorded', audit.elapsed() - call.caller.arrivedAt, null);
    return internalRefusal('The call cannot be recorded now, so it was not forwarded.');
  }

  /** For messages outside a call, which have no outcome to report it. */
  function failed(caller: Caller, serverId: string, why: string, error: unknown): void {
    log.error({ err: error, server: serverId, why }, 'an inspection threw');
    deps.onInspectionFailed(caller.tenantId, serverId, why);
  }

  /** A server's question within a result, as a call: its arrival is the time the server asked. */
  function judgeQuestion(caller: Caller, ask: Ask, destination: Destination): Promise<Answer> {
    return run({ ...caller, arrivedAt: audit.elapsed() }, ask, destination, quiet());
  }

  return {
    call: (caller, ask, destination, exchange = quiet()) =>
      run(caller, ask, destination, exchange).catch((error: unknown) => {
        const fields = { err: error, reqId: caller.requestId, server: ask.serverId };
        log.error(fields, 'a call failed');
        return internalRefusal('Internal error');
      }),
    admit(caller) {
      const request = { caller, agent: caller.agent };
      const deny = findExcess(request, deps.steps);
      if (deny?.exceeded === undefined) return undefined;
      audit.refusedCalls.count(request, deny.exceeded, audit.findRevision(caller.tenantId));
      return deniedAnswer(deny, null);
    },
    listen(caller, passOn) {
      const stream = new InspectedStream({
        caller,
        speaker: 'server',
        call: null,
        inspect,
        passOn,
        onFailed: (serverId, { blocked: why = '', error }) => failed(caller, serverId, why, error),
      });
      return (serverId, notification) => stream.push(serverId, notification);
    },
    async introduce<T extends object>(caller: Caller, serverId: string, value: T) {
      const part = { kind: 'result', raw: JSON.stringify(value), value } as const;
      const said = { speaker: 'server', caller, serverId, call: null, part, carry: '' } as const;
      const { blocked, error, ...inspected } = await inspect(said);
      if (error !== undefined) failed(caller, serverId, blocked ?? '', error);
      if (blocked !== undefined || inspected.part.kind === 'notification') return null;
      return inspected.part.value as T;
    },
  };
}

function unrecordedAnswer(call: RawCall): Refusal {
  const message = 'What inspection did to the answer cannot be recorded now.';
  return internalRefusal(message, { event_id: call.id, failure: 'unrecorded' });
}

/** The fields of every log line about a call. */
function about({ id, caller, ask }: RawCall) {
  return { reqId: caller.requestId, event_id: id, server: ask.serverId };
}

/** For a call whose client waits only for its answer. */
export function quiet(): Exchange {
  return {
    cancellation: new Cancellation(),
    wantsProgress: false,
    onNotification: () => undefined,
  };
}
