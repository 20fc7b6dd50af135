/**
 * Asks an OPA server for the verdict of the policy step. Facts may change during the wait: agent,
 * kill switch and rules are looked up again, and an answer counts only if it was made with the
 * bundle that is active here, for the agent's present state. Proven by tests/opa-server.test.ts.
 */
import type { PolicyOutcome } from '@governance/policies/contract';
import type { ActiveRules, ReplicaAgent, RulesProvider } from '../../contracts.ts';
import type { OpaFailure } from '../../opa-server/opa-answer.ts';
import type { OpaServers } from '../../opa-server/opa-servers.ts';
import type { ClassifiedCall, Deny } from '../call/calls.ts';
import { type EligibilityDeps, findAgentNow } from '../permission/eligibility.ts';

/** Why OPA's answer does not count; each is a denial. */
export type OpaDenial =
  | OpaFailure
  | 'opa_unavailable'
  | 'opa_stale'
  | 'opa_ahead'
  | 'opa_no_bundle';

export type OpaJudgement =
  | { kind: 'judged'; outcome: PolicyOutcome; agent: ReplicaAgent; rules: ActiveRules }
  /** OPA could not be reached, and the operator allows such calls. */
  | { kind: 'allowed_unjudged'; agent: ReplicaAgent; rules: ActiveRules }
  | { kind: 'denied'; reason: OpaDenial; message: string };

export interface AskOpaDeps extends EligibilityDeps {
  opa: OpaServers;
  rules: RulesProvider;
}

/** How long OPA may have an older or newer bundle than the one that is active here. */
const SETTLE_MS = 1_000;

/**
 * @param inputOf builds the policy input for the agent's state at that time
 * @returns a Deny where the agent may no longer act
 */
export async function askOpa(
  call: ClassifiedCall,
  inputOf: (agent: ReplicaAgent) => string,
  deps: AskOpaDeps,
): Promise<OpaJudgement | Deny> {
  const { opa } = deps;
  const { tenantId } = call.caller;
  const server = opa.of(tenantId);
  const began = performance.now();
  const left = () => began + opa.timeoutMs + SETTLE_MS - performance.now();
  let settleUntil: number | null = null;
  let { agent } = call;
  for (;;) {
    const input = inputOf(agent);
    const ms = Math.max(1, Math.min(opa.timeoutMs, left()));
    const reaction = await server.ask(agent.id, input, ms);
    const agentNow = findAgentNow(call, deps);
    if ('kind' in agentNow) return agentNow;
    const rules = deps.rules.findActiveRules(tenantId);
    if (rules === null) return denied('opa_no_bundle', 'no policy bundle is active here');

    if (reaction.kind === 'unavailable') {
      opa.alert(tenantId, 'unavailable', { message: reaction.message });
      if (!opa.failClosed) return { kind: 'allowed_unjudged', agent: agentNow, rules };
      return denied('opa_unavailable', reaction.message);
    }
    if (reaction.kind === 'failed') return denied(reaction.failure, reaction.message);

    const isSameAgent = agentNow === agent || inputOf(agentNow) === input;
    if (reaction.revision === rules.revision && isSameAgent) {
      return { kind: 'judged', outcome: reaction.outcome, agent: agentNow, rules };
    }
    agent = agentNow;
    settleUntil ??= performance.now() + SETTLE_MS;
    const isOver = () => performance.now() >= (settleUntil ?? 0) || left() <= 1;
    if (isOver()) return unsettled(reaction.revision, rules.revision);
    while (!isOver()) {
      const { state, revision } = await server.look();
      const isEqual = revision === deps.rules.findActiveRules(tenantId)?.revision;
      if (isEqual || state === 'unreachable') break;
    }
  }
}

function unsettled(decidedBy: number | null, active: number): OpaJudgement {
  if (decidedBy === null) return denied('opa_no_bundle', 'OPA has no bundle of this service');
  const message = `OPA decided by revision ${decidedBy}, and ${active} is active here`;
  return denied(decidedBy < active ? 'opa_stale' : 'opa_ahead', message);
}

function denied(reason: OpaDenial, message: string): OpaJudgement {
  return { kind: 'denied', reason, message };
}
