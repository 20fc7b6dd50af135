/**
 * Prepares what is written down about a judged call: what is kept of its input, and the members of
 * its decision that repeat its content. A large call waits for another thread to do that. If the
 * rules change meanwhile, an allowed or escalated call is judged again. If the data protection of a
 * denied one changes, nothing of its content is written down, and an alert says so. Proven by
 * kept-on-threads.test.ts.
 */
import { isDeepStrictEqual } from 'node:util';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { stepPublisher } from './call/call-stages.ts';
import type { AgentCall, JudgedCall } from './call/calls.ts';
import { CONTENT_MEMBERS, type ProtectedMembers } from './call/content-members.ts';
import { REDACTED } from './call/cover-texts.ts';
import { MAX_REJUDGEMENTS } from './call/pipeline-builder.ts';
import { denied, findCallNow, hasMoved } from './permission/eligibility.ts';
import { isStillLifted } from './permission/exceptions.ts';
import type { enforcement, StepDeps } from './pipeline.ts';
import { type AuditDeps, type CallJudgement, recordMembersOf } from './record/audit.ts';
import type { PayloadKeeper, ProtectedInput } from './record/kept-payload.ts';
import { judgeAgain } from './steps/judge-again.ts';
import { policyInput } from './steps/policy.ts';

export interface DecisionPartsDeps {
  payloads: Pick<PayloadKeeper, 'protectInput'>;
  audit: AuditDeps;
  steps: StepDeps;
  enforcement: Pick<typeof enforcement, 'runAgain'>;
}

/** A judgement, and what is written down about its call. */
export interface Prepared {
  readonly judgement: CallJudgement;
  /** Null where nothing is kept. */
  readonly input: ProtectedInput | null;
  /** Null where the judgement leaves no decision. */
  readonly members: ProtectedMembers | null;
}

/** @returns a function that gives a promise only for a large call */
export function createDecisionParts({ payloads, audit, steps, enforcement }: DecisionPartsDeps) {
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
    const members = recordMembersOf(judgement, audit);
    if (!(members instanceof Promise)) return { judgement, input, members };
    return members.then((done) => ({ judgement, input, members: done }));
  }

  async function settle(judgement: CallJudgement, protecting: Promise<Prepared>) {
    const { tenantId } = judgement.call.caller;
    let before = audit.findSettings(tenantId);
    let prepared = await protecting;
    for (let agains = 0; prepared.judgement.verdict !== 'deny'; agains++) {
      const judging = judgeNow(prepared.judgement, agains);
      if (judging === null) return prepared;
      const again = await judging;
      before = audit.findSettings(tenantId);
      prepared = await protect(again);
    }
    const then = prepared.judgement.call.rules?.settings ?? before;
    return isProtectedAlike(then, audit.findSettings(tenantId))
      ? prepared
      : withoutContent(prepared);
  }

  /** The judgement of a call that has waited; null where the one it has still holds. */
  function judgeNow(
    { call: judged, step }: Exclude<CallJudgement, { verdict: 'deny' }>,
    agains: number,
  ): CallJudgement | Promise<CallJudgement> | null {
    // Policies alone allow or escalate, after all other steps.
    const call = judged as JudgedCall;
    const now = findCallNow(call, steps);
    if ('kind' in now) return { verdict: 'deny', step, call, deny: now };
    const { agent } = now;
    const isSame =
      steps.rules.findActiveRules(call.caller.tenantId) === call.rules &&
      isDeepStrictEqual(agent, call.agent) &&
      !hasMoved(call, now) &&
      isStillLifted(call, steps);
    if (isSame) return null;
    if (agains >= MAX_REJUDGEMENTS) {
      return { verdict: 'deny', step, call, deny: denied(CHANGED_TOO_OFTEN) };
    }
    return enforcement.runAgain(judgeAgain(call, now), steps, stepPublisher());
  }

  return (judgement: CallJudgement): Prepared | Promise<Prepared> => {
    const protecting = protect(judgement);
    return protecting instanceof Promise ? settle(judgement, protecting) : protecting;
  };
}

/** Whether two settings take the same out of what is written down. */
function isProtectedAlike(one: BundleSettings | null, other: BundleSettings | null): boolean {
  return (
    one === other ||
    isDeepStrictEqual([one?.data_protection, one?.dlp], [other?.data_protection, other?.dlp])
  );
}

/** A denial is recorded whatever happens, but what it says may repeat what is to be removed now. */
function withoutContent({ judgement, input: kept, members }: Prepared): Prepared {
  const input = kept && { ...kept, input: { notKept: 'settings_changed' } as const };
  if (members === null) return { judgement, input, members };
  const fields = CONTENT_MEMBERS.filter((name) => members[name] !== null);
  const covered = Object.fromEntries(fields.map((name) => [name, REDACTED]));
  return { judgement, input, members: { ...members, ...covered, protected_fields: fields } };
}

const CHANGED_TOO_OFTEN =
  'the rules changed again and again while the call was prepared for its record';
