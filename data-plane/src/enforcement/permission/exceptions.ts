/**
 * What exceptions lift of a verdict: an escalation of their shape, or one policy's denial of one
 * agent, and nothing else. A denial by a step before policy never comes here, and where no policy
 * allows the call an exception changes nothing. Proven by exceptions.test.ts.
 */
import {
  formatReasons,
  type PolicyReason,
  type PolicyVerdict,
} from '@governance/policies/contract';
import { BLAST_RADIUS, type ExceptionLifts } from '@governance/shared/channel/exceptions';
import type { ExceptionFact } from '@governance/shared/channel/facts';
import { coverReach, parseResourceScopes } from '@governance/shared/tokens/resource-scopes';
import type { Replica } from '../../contracts.ts';
import { readingsOfCall } from '../call/call-targets.ts';
import type { AgentCall, Ask, JudgedCall, Lifted } from '../call/calls.ts';

export interface ExceptionDeps {
  replica: Pick<Replica, 'findExceptions'>;
  /**
   * A clock that never runs back, Unix milliseconds: an exception expires here without the control
   * plane.
   */
  planeNow(): number;
}

/** Finds an exception that lifts a policy's escalation or denial; undefined where there is none. */
export type FindException = (lifts: ExceptionLifts, policyId: string) => ExceptionFact | undefined;

/** Matching steps that one call may cost. Beyond them, an exception covers nothing. */
const EFFORT = 1_000_000;

/** Finds the exceptions for one call. They are looked up on first use. */
export function exceptionsFor(
  { caller, agent, ask }: Pick<AgentCall, 'caller' | 'agent' | 'ask'>,
  deps: ExceptionDeps,
): FindException {
  let inForce: readonly ExceptionFact[] | undefined;
  let readings: readonly string[] | null | undefined;
  const effort = { left: EFFORT };

  function coversTargets({ resource }: ExceptionFact): boolean {
    if (resource === null) return true;
    if (readings === undefined) readings = readingsOfCall(ask);
    if (readings === null) return false;
    if (resource === '') return readings.length === 0;
    const scopes = parseResourceScopes([`target:${resource}`]);
    if (scopes === null || scopes === 'none') return false;
    return coverReach(scopes, { resource: '', targets: readings }, effort);
  }

  return (lifts, policyId) => {
    inForce ??= findInForce(caller.tenantId, agent.id, ask, deps);
    return inForce.find(
      (fact) => fact.lifts === lifts && coversPolicy(fact, policyId) && coversTargets(fact),
    );
  };
}

/** Whether what exceptions lifted of a call is still lifted, for a call that had to wait. */
export function isStillLifted(
  { caller, agent, ask, lifted }: Pick<JudgedCall, 'caller' | 'agent' | 'ask' | 'lifted'>,
  deps: ExceptionDeps,
): boolean {
  if (lifted === undefined) return true;
  const inForce = findInForce(caller.tenantId, agent.id, ask, deps);
  return lifted.exceptionIds.every((id) => inForce.some((fact) => fact.id === id));
}

function findInForce(tenantId: string, agentId: string, ask: Ask, deps: ExceptionDeps) {
  const place = { agentId, serverId: ask.serverId, toolName: ask.name };
  const found = deps.replica.findExceptions(tenantId, place);
  if (found.length === 0) return found;
  const now = deps.planeNow();
  return found.filter(({ expires_at }) => Date.parse(expires_at) > now);
}

/** An exception covers the blast radius only if it names it, or one tool of one server. */
function coversPolicy(fact: ExceptionFact, policyId: string): boolean {
  if (fact.policy_id !== null) return fact.policy_id === policyId;
  return policyId !== BLAST_RADIUS || (fact.mcp_server !== null && fact.tool_name !== null);
}

/** The decision from a verdict and the reasons of earlier steps, after exceptions and approvals. */
export interface Decided {
  decision: PolicyVerdict['decision'];
  /** For an escalation, the reasons that are not lifted; otherwise the deciding reasons. */
  reasons: readonly PolicyReason[];
  lifted?: Lifted;
}

export interface Spoken {
  verdict: PolicyVerdict;
  /** Reasons of earlier steps that a person has to approve. */
  carried: readonly PolicyReason[];
  /** Whether a person has approved a policy's reason. */
  isApproved(reason: PolicyReason): boolean;
  findException: FindException;
}

/**
 * Decides a call. Denials are lifted only if exceptions lift all of them. The call is then decided
 * without the policies that denied it, and stays denied if none of the others allows or escalates
 * it. An escalation is lifted only where a policy allows the call.
 */
export function decideCall({ verdict, carried, isApproved, findException }: Spoken): Decided {
  // Nearly every call: every reason allows it, and nothing has to be lifted or approved.
  const isAllowed = verdict.decision === 'allow' && carried.length === 0;
  if (isAllowed && verdict.reasons.every(({ rule }) => rule === 'allow')) {
    return { decision: 'allow', reasons: verdict.reasons };
  }
  const exceptions = new Set<string>();
  const taken: PolicyReason[] = [];
  const lift = (lifts: ExceptionLifts, reason: PolicyReason): boolean => {
    const exception = findException(lifts, reason.policy_id);
    if (exception === undefined) return false;
    exceptions.add(exception.id);
    taken.push(reason);
    return true;
  };
  const isOf = (rule: PolicyReason['rule']) => (reason: PolicyReason) => reason.rule === rule;
  const denied = (): Decided => ({
    decision: 'deny',
    reasons: verdict.reasons.filter(isOf('deny')),
  });

  let { decision, reasons } = verdict;
  if (decision === 'deny') {
    const denials = reasons.filter(isOf('deny'));
    if (denials.length === 0 || !denials.every((reason) => lift('deny', reason))) return denied();
    const silenced = new Set(denials.map(({ policy_id }) => policy_id));
    reasons = reasons.filter(({ policy_id }) => !silenced.has(policy_id));
    if (reasons.length === 0) return denied();
    decision = reasons.some(isOf('escalate')) ? 'escalate' : 'allow';
  }
  const permits = reasons.filter(isOf('allow'));
  const asking = [...reasons.filter(isOf('escalate')), ...carried];
  // Where no policy allows the call, no exception applies.
  const isPermitted = decision === 'allow' || permits.length > 0;
  const open = isPermitted ? asking.filter((reason) => !lift('escalation', reason)) : asking;
  const lifted =
    exceptions.size > 0 ? { exceptionIds: [...exceptions], reasons: taken } : undefined;
  const under = lifted ? { lifted } : {};
  const isUnfounded = decision === 'escalate' && asking.length === 0;
  if (isUnfounded || !open.every(isApproved)) {
    return { decision: 'escalate', reasons: open, ...under };
  }
  const isAsked = open.some((reason) => !carried.includes(reason));
  return { decision: 'allow', reasons: isAsked ? open : [...permits, ...open], ...under };
}

/** Names the exceptions, for the record of a decision. */
export function describeLifted({ exceptionIds, reasons }: Lifted, format = formatReasons): string {
  const named = `exception${exceptionIds.length > 1 ? 's' : ''} ${exceptionIds.join(' and ')}`;
  return `under ${named}, lifting ${format(reasons)}`;
}
