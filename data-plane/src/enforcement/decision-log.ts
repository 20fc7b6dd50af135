/**
 * SERVICE_DEBUG: how a decision came about. Ids, steps and times alone: neither arguments nor what
 * policies or servers said of them, which may repeat them.
 */
import type { Logger } from 'pino';
import type { CallJudgement } from './audit.ts';
import { roundMs } from './audit.ts';
import type { CallObserver } from './call-observer.ts';
import type { RawCall } from './calls.ts';

export interface DecisionLog {
  /** To be told of each part that a call has come through. */
  observe: CallObserver;
  /** Told once a call was judged and recorded. */
  judged(judgement: CallJudgement): void;
  /** Told where it was not judged at all. */
  forget(call: RawCall): void;
}

/** @returns undefined where nobody reads it, so that calls pay nothing for it */
export function createDecisionLog(
  log: Pick<Logger, 'debug' | 'isLevelEnabled'>,
  elapsed: () => number,
  observe?: CallObserver,
): DecisionLog | undefined {
  if (!log.isLevelEnabled('debug')) return undefined;
  // By id: a step may make another object of the call.
  const parts = new Map<string, { part: string; at: number }[]>();
  return {
    observe: (call, part) => {
      observe?.(call, part);
      if (part === 'received') parts.set(call.id, []);
      parts.get(call.id)?.push({ part, at: elapsed() });
    },
    forget: (call) => void parts.delete(call.id),
    judged: (judgement) => {
      const passed = parts.get(judgement.call.id) ?? [];
      parts.delete(judgement.call.id);
      log.debug(describe(judgement, passed), 'a call was judged');
    },
  };
}

function describe(judgement: CallJudgement, passed: { part: string; at: number }[]) {
  const call: RawCall & Partial<CallJudgement['call']> = judgement.call;
  const steps = passed.slice(1).map(({ part, at }, index) => ({
    step: part,
    ms: roundMs(at - (passed[index]?.at ?? at)),
  }));
  const reasons =
    judgement.verdict === 'allow'
      ? judgement.call.reasons
      : judgement.verdict === 'deny'
        ? judgement.deny.reasons
        : judgement.escalate.reasons;
  return {
    reqId: call.requestId,
    event_id: call.id,
    tenant_id: call.tenantId,
    agent_id: call.agent?.id,
    server: call.serverId,
    method: call.method,
    tool: call.toolName,
    action: call.action,
    bundle_revision: call.rules?.revision,
    verdict: judgement.verdict,
    decided_by: judgement.step,
    ...(judgement.verdict === 'deny' && { cause: judgement.deny.cause }),
    policies: reasons.map(({ policy_id, policy, rule }) => ({ policy_id, policy, rule })),
    steps,
  };
}
