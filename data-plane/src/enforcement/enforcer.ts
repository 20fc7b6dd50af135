/**
 * The stages of a call: judge, record, hold, send, inspect, record the outcome. Nothing reaches a
 * server, and nothing from a server reaches an agent, except through here. An error in any stage
 * permits nothing. Proven by enforcer.test.ts.
 */
import { uuidv7 } from '@governance/shared/ids';
import type { Logger } from 'pino';
import type { Ledger } from '../contracts.ts';
import { Cancellation } from '../upstream/upstream.ts';
import { type Answer, isRefusal, type Refusal } from './call/answer.ts';
import { publishStage, stepPublisher } from './call/call-stages.ts';
import type {
  AgentCall,
  Ask,
  Caller,
  Deny,
  Destination,
  Exchange,
  HoldGrant,
  JudgedCall,
  RawCall,
} from './call/calls.ts';
import { createInspect } from './call/received-message.ts';
import { createDecisionParts, type Prepared } from './decision-parts.ts';
import { createForward } from './forward.ts';
import {
  type Escalated,
  type HeldAnswer,
  type Holds,
  NOBODY_TO_ASK,
  type OpenedHold,
} from './holds/holds.ts';
import { createResultWaits } from './holds/result-waits.ts';
import { type InspectionDeps, inspection } from './inspection.ts';
import {
  type CallNowDeps,
  findCallerIneligibility,
  findCallNow,
  findLostGround,
} from './permission/eligibility.ts';
import { enforcement, type StepDeps } from './pipeline.ts';
import {
  type AllowedCall,
  type AuditDeps,
  type CallJudgement,
  recordDecision,
} from './record/audit.ts';
import { aboutCall, createDecisionLog } from './record/decision-log.ts';
import type { PayloadKeeper } from './record/kept-payload.ts';
import type { OutcomeDeps } from './record/outcome.ts';
import { type AnswerLimits, deniedAnswer, internalRefusal, refusalOf } from './record/refusals.ts';
import { checkPinnedTool, type PinnedToolsDeps } from './steps/pinned-tools.ts';
import { findExcess } from './steps/rate-limit.ts';
import { checkDelegatedScope } from './steps/scope-probe.ts';
import { checkWorkflowActions } from './steps/workflow-actions.ts';
import { createUnprompted, type Unprompted, type UnpromptedDeps } from './unprompted.ts';

export type Verdict = CallJudgement['verdict'] | 'unauthenticated' | 'unrecorded';

export interface EnforcerDeps extends UnpromptedDeps {
  steps: StepDeps;
  audit: AuditDeps;
  outcome: OutcomeDeps;
  inspection: Omit<InspectionDeps, 'judge'>;
  ledger: Ledger;
  payloads: PayloadKeeper;
  log: Pick<Logger, 'error' | 'warn' | 'debug' | 'isLevelEnabled'>;
  /** `tenantId` is null for an unauthenticated caller. */
  onVerdict(verdict: Verdict, ms: number, tenantId: string | null): void;
  /** For messages that name a limit. */
  limits: AnswerLimits;
}

export interface Enforcer extends Unprompted {
  /**
   * Judges, records and sends a call, and inspects its answer. Never rejects.
   *
   * @param exchange the client's end of the call, if the client waits for more than the answer
   */
  call(caller: Caller, ask: Ask, destination: Destination, exchange?: Exchange): Promise<Answer>;
  /**
   * Counts a request against its agent's rate limit that is not judged but causes work at servers,
   * such as one that begins a session.
   *
   * @returns the refusal where the agent calls too often
   */
  admit(caller: Caller): Refusal | undefined;
}

/** What is done with a call and its answer, in order. */
export interface StepLists {
  enforcement: typeof enforcement;
  inspection: typeof inspection;
}

/** The product's own lists. */
export const STEP_LISTS: StepLists = { enforcement, inspection };

/** @param holds how escalated calls and results are held; without it they are refused */
export function createEnforcer(
  deps: EnforcerDeps,
  lists: StepLists,
  holds: Holds = NOBODY_TO_ASK,
): Enforcer {
  const { audit, log } = deps;
  const logDecision = createDecisionLog(log, audit.elapsed);
  const prepare = createDecisionParts({ ...deps, enforcement: lists.enforcement });
  const inspect = createInspect(lists.inspection, { ...deps.inspection, judge: judgeQuestion });
  const waits = createResultWaits({ results: holds.results, outcome: deps.outcome, log, runAgain });
  const forward = createForward({
    inspect,
    findIneligibility: (call) => findCallIneligibility(call, deps.steps),
    findReaderIneligibility: ({ caller }) => findCallerIneligibility(caller, deps.steps),
    waits,
    outcome: deps.outcome,
    room: deps.room,
    limits: deps.limits,
    log,
  });

  async function run(
    caller: Caller,
    ask: Ask,
    destination: Destination,
    exchange: Exchange,
    grant?: HoldGrant,
  ): Promise<Answer> {
    const call: RawCall = { id: uuidv7(audit.now()), caller, ask, grant };
    publishStage(call, 'received');
    // Fail closed: a call that cannot be recorded is refused before any work is done.
    const condition = deps.ledger.condition();
    if (condition === 'full' || condition === 'failed') {
      return unrecorded(call, `the ledger is ${condition}`);
    }
    const judging = lists.enforcement.run(call, deps.steps, stepPublisher());
    let prepared: Prepared;
    try {
      const preparing = prepare(judging instanceof Promise ? await judging : judging);
      prepared = preparing instanceof Promise ? await preparing : preparing;
    } catch (error) {
      return unrecorded(call, 'its record could not be prepared', error);
    }
    const { judgement } = prepared;
    if (judgement.verdict === 'deny' && 'error' in judgement) {
      const { step, error } = judgement;
      log.error({ ...aboutCall(call), err: error, step }, 'an enforcement step threw');
    }
    if (grant && judgement.verdict === 'allow' && !isCovered(judgement.call, grant, log)) {
      // The server or its tool is not what the person saw: the call is judged without the approval.
      grant.release();
      caller.workflow?.announceAgain?.();
      return run(caller, ask, destination, exchange);
    }
    const hold = judgement.verdict === 'escalate' ? openHold(judgement, exchange) : null;
    // A held result of the same call: the server has answered, and is not asked again.
    const heldResult =
      judgement.verdict === 'allow' && !grant?.destination
        ? holds.results.find(judgement.call, exchange)
        : null;
    const ended = heldResult?.isPending() === false ? await heldResult.wait() : null;
    if (ended && !('kind' in ended)) return waits.handOver(judgement.call, exchange, ended);
    const opened = hold !== null && !isRefusal(hold) ? hold : heldResult;
    let allowed: AllowedCall | null;
    try {
      allowed = await record(prepared, opened);
    } catch (error) {
      return unrecorded(call, 'the ledger did not take the record', error);
    }
    reportVerdict(judgement);
    if (allowed !== null) {
      grant?.used();
      if (heldResult) return waits.join(allowed, heldResult, ended, exchange);
      return forward(allowed, grant?.destination ?? destination, exchange);
    }
    if (hold !== null && isRefusal(hold)) return hold;
    if (opened === null) return refusalOf(judgement);
    const held = await opened.wait();
    if ('kind' in held) return held;
    return runAgain({ caller, ask }, destination, exchange, held);
  }

  /** Opens a hold. Where that throws, the call is refused, and its decision is still recorded. */
  function openHold(escalated: Escalated, exchange: Exchange): OpenedHold | Refusal | null {
    // Without an agent there is nobody whose call a person could approve.
    if (escalated.call.agent === undefined) return null;
    try {
      return holds.open(escalated, exchange);
    } catch (error) {
      log.error({ ...aboutCall(escalated.call), err: error }, 'a call could not be held');
      return refusalOf(escalated);
    }
  }

  /**
   * Records a judgement, with the opening of its hold.
   *
   * @returns the call to forward; null where it was not allowed
   * @throws where the record could not be made durable; what was opened is dropped then
   */
  async function record(
    { judgement, input, members }: Prepared,
    hold: OpenedHold | HeldAnswer | null,
  ): Promise<AllowedCall | null> {
    const { call } = judgement;
    try {
      const isProven = call.agent !== undefined;
      const kept = isProven ? deps.payloads.keepInput(call as AgentCall, input) : null;
      return await recordDecision(judgement, { members, kept, hold }, audit);
    } catch (error) {
      hold?.drop();
      throw error;
    } finally {
      logDecision?.(judgement);
    }
  }

  function reportVerdict({ verdict, call }: CallJudgement): void {
    const ms = audit.elapsed() - call.caller.arrivedAt;
    if (call.agent === undefined) deps.onVerdict('unauthenticated', ms, null);
    else deps.onVerdict(verdict, ms, call.caller.tenantId);
  }

  /** Judges a call again after a wait, since everything may have changed in the meantime. */
  async function runAgain(
    { caller, ask }: Pick<RawCall, 'caller' | 'ask'>,
    destination: Destination,
    exchange: Exchange,
    held: HoldGrant,
  ): Promise<Answer> {
    const again = { ...(exchange.sender?.() ?? caller), arrivedAt: audit.elapsed() };
    // What runs is the event of the client's call; a released result is of one that ran before.
    if (held.destination === undefined) again.workflow?.announceAgain?.();
    try {
      return await run(again, ask, destination, exchange, held);
    } finally {
      held.release();
    }
  }

  function unrecorded(call: RawCall, why: string, error?: unknown): Answer {
    log.error({ ...aboutCall(call), err: error, why }, 'a call was refused unrecorded');
    deps.onVerdict('unrecorded', audit.elapsed() - call.caller.arrivedAt, null);
    return internalRefusal('The call cannot be recorded now, so it was not forwarded.');
  }

  /** Judges a server's question within a result, as a call that arrived when the server asked. */
  function judgeQuestion(caller: Caller, ask: Ask, destination: Destination): Promise<Answer> {
    return run({ ...caller, arrivedAt: audit.elapsed() }, ask, destination, quiet());
  }

  return {
    ...createUnprompted(inspect, deps),
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
  };
}

/** Why a judged call may no longer be sent; undefined where it may. */
function findCallIneligibility(
  call: JudgedCall,
  deps: CallNowDeps & PinnedToolsDeps & Pick<StepDeps, 'rules'>,
): Deny | undefined {
  const now = findCallNow(call, deps);
  if ('kind' in now) return now;
  const lost = findLostGround(call, now.agent, deps.rules);
  if (lost !== undefined) return lost;
  // A step behind the one that looks at the pins may have waited.
  const pinned = checkPinnedTool(call, deps);
  if (pinned.kind === 'deny') return pinned;
  if (now.workflow === undefined) return undefined;
  const again = { ...call, ...now };
  for (const check of [checkWorkflowActions, checkDelegatedScope]) {
    const result = check(again);
    if (result.kind === 'deny') return result;
  }
  return undefined;
}

/** Whether a grant covers a call: not where the comparison throws. */
function isCovered(call: JudgedCall, grant: HoldGrant, log: EnforcerDeps['log']): boolean {
  try {
    return grant.covers(call);
  } catch (error) {
    log.error(
      { ...aboutCall(call), err: error },
      'an approval could not be compared with its call',
    );
    return false;
  }
}

/** The exchange of a call whose client waits only for the answer. */
export function quiet(): Exchange {
  return {
    cancellation: new Cancellation(),
    wantsProgress: false,
    onNotification: () => undefined,
  };
}
