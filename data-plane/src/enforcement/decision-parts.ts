/**
 * Prepares what is written down of a judged call: what is kept of its input, and the members of its
 * decision that repeat its content. Of large calls another thread does that, and they wait for it.
 * What changes meanwhile holds for a call that was allowed: it is judged again. Proven by
 * kept-on-threads.test.ts.
 */
import { isDeepStrictEqual } from 'node:util';
import { type AuditDeps, type CallJudgement, membersOf, type ProtectedMembers } from './audit.ts';
import { stepTeller } from './call-parts.ts';
import type { AgentCall, Deny } from './calls.ts';
import { findCallNow, hasMoved } from './eligibility.ts';
import { isStillLifted } from './exceptions.ts';
import type { PayloadKeeper, ProtectedInput } from './kept-payload.ts';
import type { enforcement, StepDeps } from './pipeline.ts';
import { judgeAgain } from './steps/judge-again.ts';
import { policyInput } from './steps/policy.ts';

export interface DecisionPartsDeps {
  payloads: Pick<PayloadKeeper, 'protectInput'>;
  audit: AuditDeps;
  steps: StepDeps;
  page: Pick<typeof enforcement, 'runAgain'>;
}

/** A judgement, and what is written down of its call. */
export interface Prepared {
  readonly judgement: CallJudgement;
  /** Null where nothing is kept. */
  readonly input: ProtectedInput | null;
  /** Null where the judgement leaves no decision. */
  readonly members: ProtectedMembers | null;
}

/** How often a call is judged again: rules seldom change twice within a wait. */
const MOST_AGAINS = 3;

/** @returns a function that gives a promise only for a large call */
export function createDecisionParts({ payloads, audit, steps, page }: DecisionPartsDeps) {
  function protect(judgement: CallJudgement): Prepared | Promise<Prepared> {
    const { call } = judgement;
    const isProven = call.agent !== undefined;
    const input = isProven
      ? payloads.protectInput(call as AgentCall, (classified) =>
          policyInput(classified, classified.agent, steps),
        )
      : null;
    // One after the other: a call has one scan at a time, as others wait for their turns too.
    if (input instanceof Promise) return input.then((done) => withMembers(judgement, done));
    return withMembers(judgement, input);
  }

  function withMembers(
    judgement: CallJudgement,
    input: ProtectedInput | null,
  ): Prepared | Promise<Prepared> {
    const members = membersOf(judgement, audit);
    if (!(members instanceof Promise)) return { judgement, input, members };
    return members.then((done) => ({ judgement, input, members: done }));
  }

  async function settle(protecting: Promise<Prepared>): Promise<Prepared> {
    let prepared = await protecting;
    for (let agains = 0; prepared.judgement.verdict === 'allow'; agains++) {
      const judging = judgeNow(prepared.judgement, agains);
      if (judging === null) break;
      prepared = await protect(await judging);
    }
    return prepared;
  }

  /** The judgement of an allowed call that has waited; null where the one it has still holds. */
  function judgeNow(
    { call, step }: Extract<CallJudgement, { verdict: 'allow' }>,
    agains: number,
  ): CallJudgement | Promise<CallJudgement> | null {
    const now = findCallNow(call, steps);
    if ('kind' in now) return { verdict: 'deny', step, call, deny: now };
    const { agent } = now;
    const isSame =
      steps.rules.findActiveRules(call.caller.tenantId) === call.rules &&
      isDeepStrictEqual(agent, call.agent) &&
      !hasMoved(call, now) &&
      isStillLifted(call, steps);
    if (isSame) return null;
    if (agains >= MOST_AGAINS) return { verdict: 'deny', step, call, deny: tooOften() };
    return page.runAgain(judgeAgain(call, now), steps, stepTeller());
  }

  return (judgement: CallJudgement): Prepared | Promise<Prepared> => {
    const protecting = protect(judgement);
    return protecting instanceof Promise ? settle(protecting) : protecting;
  };
}

function tooOften(): Deny {
  const message = 'the rules changed again and again while the call was prepared for its record';
  return { kind: 'deny', cause: 'policy', message, reasons: [] };
}
