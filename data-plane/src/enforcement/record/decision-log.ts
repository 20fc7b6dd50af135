/**
 * SERVICE_DEBUG: logs how each decision was made. Only ids, steps and times: no arguments, and no
 * reasons of policies or servers, which may repeat arguments.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { PolicyReason } from '@governance/policies/contract';
import type { Logger } from 'pino';
import { shownName } from '../call/call-kinds.ts';
import { CALL_STAGES, type PassedStage } from '../call/call-stages.ts';
import type { RawCall } from '../call/calls.ts';
import { type CallJudgement, roundMs } from './audit.ts';

/** Called for each call after it was judged and recorded, or could not be recorded. */
export type DecisionLog = (judgement: CallJudgement) => void;

interface TimedStage {
  stage: string;
  at: number;
}

/** @returns undefined where debug logs are off, so that calls do not pay for it */
export function createDecisionLog(
  log: Pick<Logger, 'debug' | 'isLevelEnabled'>,
  elapsed: () => number,
): DecisionLog | undefined {
  if (!log.isLevelEnabled('debug')) return undefined;
  const passed = new WeakMap<RawCall, TimedStage[]>();
  subscribe(CALL_STAGES, (message) => {
    const { call, stage } = message as PassedStage;
    if (stage === 'received') passed.set(call, []);
    // The stages after the steps are not part of the decision.
    if (stage.startsWith('record-')) return;
    passed.get(call)?.push({ stage, at: elapsed() });
  });
  return (judgement) => {
    log.debug(describe(judgement, passed.get(judgement.call) ?? []), 'a call was judged');
  };
}

/** The fields by which a log line identifies a call. */
export function aboutCall({ id, caller, ask }: RawCall) {
  return { reqId: caller.requestId, event_id: id, server: ask.serverId };
}

function describe(judgement: CallJudgement, passed: readonly TimedStage[]) {
  const call: RawCall & Partial<CallJudgement['call']> = judgement.call;
  const { caller, ask } = call;
  const steps = passed.slice(1).map(({ stage, at }, index) => ({
    step: stage,
    ms: roundMs(at - (passed[index]?.at ?? at)),
  }));
  return {
    reqId: caller.requestId,
    event_id: call.id,
    // Only once the pipeline has authenticated the agent.
    tenantId: call.agent && caller.tenantId,
    agent_id: call.agent?.id,
    // Null for the agent's first credential.
    credential_id: call.agent && caller.proof.credentialId,
    server: ask.serverId,
    method: ask.method,
    tool: shownName(call),
    action: call.action,
    bundle_revision: call.rules?.revision,
    verdict: judgement.verdict,
    decided_by: judgement.step,
    ...(judgement.verdict === 'deny' && { cause: judgement.deny.cause }),
    policies: reasonsOf(judgement).map(({ policy_id, policy, rule }) => ({
      policy_id,
      policy,
      rule,
    })),
    steps,
  };
}

function reasonsOf(judgement: CallJudgement): readonly PolicyReason[] {
  switch (judgement.verdict) {
    case 'allow':
      return judgement.call.reasons;
    case 'deny':
      return judgement.deny.reasons;
    case 'escalate':
      return judgement.escalate.reasons;
  }
}
