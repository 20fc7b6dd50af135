/**
 * Whether an agent may act now, itself and in its workflow. This is the only place that decides it.
 * It is asked when a request arrives (for the 401), in the pipeline, after every wait, and right
 * before bytes go to a server, so that a revocation in the meantime applies to the call.
 */
import type { CredentialProof } from '@governance/shared/agent-token';
import {
  type DelegationFact,
  effectiveAgentStatus,
  MAX_WORKFLOW_DEPTH,
} from '@governance/shared/facts';
import type { FindDenial, Replica, ReplicaAgent } from '../contracts.ts';
import type {
  AgentCall,
  AgentKey,
  Caller,
  DelegationChain,
  DelegationLink,
  Deny,
} from './calls.ts';

export interface EligibilityDeps {
  replica: Pick<Replica, 'findAgent' | 'findCredential' | 'findKillSwitch'>;
  /** Why this data plane denies all calls of a tenant, if it does. */
  findDenial: FindDenial;
}

/** Why this data plane denies all calls of the tenant, if it does. */
export function findTenantIneligibility(
  tenantId: string,
  { findDenial }: Pick<EligibilityDeps, 'findDenial'>,
): Deny | undefined {
  const denial = findDenial(tenantId);
  if (denial === null) return undefined;
  const { reason, message } = denial;
  const said = { kind: 'deny', reasons: [], detail: `${reason}: ${message}` } as const;
  // The local kill switch is answered like the tenant's.
  return reason === 'local_kill_switch'
    ? { ...said, cause: 'ineligible', message: `Unauthorized: ${message}`, challenge: 'bearer' }
    : { ...said, cause: 'plane', message, planeReason: reason };
}

/** Why an agent itself may not act: suspended, or caught by the kill switch. */
export function findAgentIneligibility(
  tenantId: string,
  agent: ReplicaAgent,
  { replica }: { replica: Pick<Replica, 'findKillSwitch'> },
): Deny | undefined {
  const status = effectiveAgentStatus(agent, replica.findKillSwitch(tenantId) ?? null);
  if (status === 'active') return undefined;
  const denial = refused(`the agent is ${status}`);
  const isCaught = agent.status === 'active';
  return isCaught ? { ...denial, detail: 'the kill switch is engaged' } : denial;
}

/** Why a caller may not act, whatever the cause; undefined where it may. */
export function findIneligibility(
  { tenantId, agent, ineligibility }: Pick<Caller, 'tenantId' | 'agent' | 'ineligibility'>,
  deps: Pick<EligibilityDeps, 'findDenial'> & { replica: Pick<Replica, 'findKillSwitch'> },
): Deny | undefined {
  return (
    ineligibility ??
    findTenantIneligibility(tenantId, deps) ??
    findAgentIneligibility(tenantId, agent, deps)
  );
}

/**
 * The present version of a proof's credential.
 *
 * @returns undefined where it was revoked, or is another agent's
 */
export function currentVersion(
  tenantId: string,
  agent: Pick<ReplicaAgent, 'id' | 'credential_version'>,
  { credentialId }: CredentialProof,
  replica: Pick<Replica, 'findCredential'>,
): number | undefined {
  if (credentialId === null) return agent.credential_version;
  const credential = replica.findCredential(tenantId, credentialId);
  return credential?.agent_id === agent.id ? credential.version : undefined;
}

/**
 * The present state of a call's agent, for a call that had to wait: changes in the meantime apply
 * to it.
 *
 * @returns a denial where the agent may no longer act, or its credential was replaced or revoked
 */
export function findAgentNow(
  { caller, agent: then }: Pick<AgentCall, 'caller' | 'agent'>,
  deps: EligibilityDeps,
): ReplicaAgent | Deny {
  const { tenantId, proof } = caller;
  const agent = deps.replica.findAgent(tenantId, then.id);
  const isCurrent =
    agent !== undefined && currentVersion(tenantId, agent, proof, deps.replica) === proof.version;
  if (!isCurrent) {
    return {
      kind: 'deny',
      cause: 'unauthenticated',
      message: 'Unauthorized: the credential is no longer valid.',
      reasons: [],
      detail: agent === undefined ? 'unknown_agent' : 'credential_rotated',
      challenge: 'bearer',
    };
  }
  return findIneligibility({ tenantId, agent }, deps) ?? agent;
}

/** The same for a caller, whether or not its request is a judged call. */
export function findCallerIneligibility(caller: Caller, deps: EligibilityDeps): Deny | undefined {
  const agent = caller.ineligibility ?? findAgentNow({ caller, agent: caller.agent }, deps);
  return 'kind' in agent ? agent : undefined;
}

export interface WorkflowEligibilityDeps {
  replica: Pick<Replica, 'findAgent' | 'findKillSwitch' | 'findWorkflowSession' | 'findDelegation'>;
  /** Unix milliseconds. */
  now(): number;
}

export type RunningSession = NonNullable<ReturnType<Replica['findWorkflowSession']>>;

/** A workflow session in which calls may be made; a denial where they may not. */
export function findSession(
  tenantId: string,
  sessionId: string,
  { replica, now }: WorkflowEligibilityDeps,
): RunningSession | Deny {
  const found = replica.findWorkflowSession(tenantId, sessionId);
  if (found === undefined) return refused('the workflow session has ended or is unknown');
  if (Date.parse(found.session.expires_at) <= now()) {
    return refused('the workflow session has expired');
  }
  if (found.workflow.status === 'active') return found;
  return denied('the workflow is suspended');
}

/**
 * A delegation with the whole chain that it depends on, the first delegation first.
 *
 * @returns a denial where one of them is not valid, or its delegator may not act
 */
export function findChain(
  tenantId: string,
  last: DelegationFact,
  deps: WorkflowEligibilityDeps,
): DelegationChain | Deny {
  const links: DelegationLink[] = [];
  let delegation = last;
  while (links.length < MAX_WORKFLOW_DEPTH) {
    if (delegation.workflow_session_id !== last.workflow_session_id) {
      return refused('the delegation depends on one of another workflow session');
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
    if (parentId === null) return { links, last };
    const parent = deps.replica.findDelegation(tenantId, parentId);
    if (parent?.delegatee_agent_id !== delegation.delegator_agent_id) {
      return refused('a delegation that it depends on was revoked');
    }
    delegation = parent;
  }
  return refused('the delegation depends on too many others');
}

/** Why a judged call may no longer be sent; undefined where it may. */
export function findCallIneligibility(
  call: AgentCall,
  deps: EligibilityDeps & WorkflowEligibilityDeps,
): Deny | undefined {
  const agent = findAgentNow(call, deps);
  return 'kind' in agent ? agent : findWorkflowIneligibility(call, deps);
}

/** Why a call's session or delegation is no longer valid; undefined where it is. */
function findWorkflowIneligibility(
  { caller: { tenantId }, workflow, delegation }: AgentCall,
  deps: WorkflowEligibilityDeps,
): Deny | undefined {
  if (workflow === undefined) return undefined;
  const session = findSession(tenantId, workflow.sessionId, deps);
  if ('kind' in session) return session;
  if (delegation === undefined) return undefined;
  const last = deps.replica.findDelegation(tenantId, delegation.last.id);
  if (last === undefined) return refused('the delegation was revoked or is unknown');
  const chain = findChain(tenantId, last, deps);
  return 'kind' in chain ? chain : undefined;
}

/** The denial where an agent may not act, or a session or delegation is invalid: -32000. */
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

/** The denial where a session or delegation is valid but does not permit the call: -32003. */
export function denied(message: string): Deny {
  return { kind: 'deny', cause: 'policy', message, reasons: [] };
}

/** The key of an agent. It is unambiguous, since neither id contains a space. */
export function agentKeyOf(tenantId: string, agentId: string): AgentKey {
  return `${tenantId} ${agentId}` as AgentKey;
}
