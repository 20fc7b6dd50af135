/**
 * Whether a workflow session and a chain of delegations hold now. Asked when a call is judged, and
 * again directly before it goes out: what was revoked meanwhile holds for it.
 */
import { type DelegationFact, MAX_WORKFLOW_DEPTH } from '@governance/shared/facts';
import type { Replica } from '../contracts.ts';
import type { AgentCall, DelegationChain, DelegationLink, Deny } from './calls.ts';
import { findAgentIneligibility } from './eligibility.ts';

export interface WorkflowStandingDeps {
  replica: Pick<Replica, 'findAgent' | 'findKillSwitch' | 'findWorkflowSession' | 'findDelegation'>;
  /** Unix milliseconds. */
  now(): number;
}

export type RunningSession = NonNullable<ReturnType<Replica['findWorkflowSession']>>;

/** A session that calls may be made in. */
export function findSession(
  tenantId: string,
  sessionId: string,
  { replica, now }: WorkflowStandingDeps,
): RunningSession | Deny {
  const found = replica.findWorkflowSession(tenantId, sessionId);
  if (found === undefined) return refused('the workflow session has ended or is unknown');
  if (Date.parse(found.session.expires_at) <= now()) {
    return refused('the workflow session has expired');
  }
  if (found.workflow.status === 'active') return found;
  return denied('the workflow is suspended');
}

/** A delegation with all that it hangs on, from the first: each of them has to hold. */
export function findChain(
  tenantId: string,
  held: DelegationFact,
  deps: WorkflowStandingDeps,
): DelegationChain | Deny {
  const links: DelegationLink[] = [];
  let delegation = held;
  while (links.length < MAX_WORKFLOW_DEPTH) {
    if (delegation.workflow_session_id !== held.workflow_session_id) {
      return refused('the delegation hangs on one of another workflow session');
    }
    if (Date.parse(delegation.expires_at) <= deps.now()) {
      return refused('the delegation has expired');
    }
    const delegator = deps.replica.findAgent(tenantId, delegation.delegator_agent_id);
    if (!delegator || findAgentIneligibility(tenantId, delegator, deps)) {
      return refused('a delegator of the delegation may not act');
    }
    links.unshift({ delegation, delegator });
    const { parent_delegation_id: parentId } = delegation;
    if (parentId === null) return { links, held };
    const parent = deps.replica.findDelegation(tenantId, parentId);
    if (parent?.delegatee_agent_id !== delegation.delegator_agent_id) {
      return refused('a delegation that it hangs on was revoked');
    }
    delegation = parent;
  }
  return refused('the delegation hangs on too many others');
}

/** Why a call's session or delegation does not hold any more, if so. */
export function findWorkflowIneligibility(
  { caller: { tenantId }, workflow, delegation }: AgentCall,
  deps: WorkflowStandingDeps,
): Deny | undefined {
  if (workflow === undefined) return undefined;
  const session = findSession(tenantId, workflow.sessionId, deps);
  if ('kind' in session) return session;
  if (delegation === undefined) return undefined;
  const held = deps.replica.findDelegation(tenantId, delegation.held.id);
  if (held === undefined) return refused('the delegation was revoked or is unknown');
  const chain = findChain(tenantId, held, deps);
  return 'kind' in chain ? chain : undefined;
}

/** A session or a delegation is not valid: -32000. */
export function refused(why: string): Deny {
  return {
    kind: 'deny',
    cause: 'ineligible',
    message: `Unauthorized: ${why}.`,
    reasons: [],
    detail: why,
    challenge: 'bearer',
  };
}

/** It is valid and does not let the call through: -32003. */
export function denied(message: string): Deny {
  return { kind: 'deny', cause: 'policy', message, reasons: [] };
}
