/**
 * Whether an agent may act now, itself and in its workflow. This is the only place that decides it.
 * It is asked when a request arrives (for the 401), in the pipeline, after every wait, and right
 * before bytes go to a server, so that a revocation in the meantime applies to the call.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type DelegationFact,
  effectiveAgentStatus,
  MAX_WORKFLOW_DEPTH,
} from '@governance/shared/channel/facts';
import type { CredentialProof } from '@governance/shared/tokens/agent-token';
import type { FindDenial, Replica, ReplicaAgent, RulesProvider } from '../../contracts.ts';
import { isList } from '../call/call-kinds.ts';
import type {
  AgentCall,
  AgentKey,
  Caller,
  DelegationChain,
  DelegationLink,
  Deny,
  JudgedCall,
  WorkflowPlace,
} from '../call/calls.ts';
import { findLackingPermission, findServer } from './permits.ts';

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

/** Why a caller may not act now, whether or not its request is a judged call. */
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

/** An agent's place in a workflow: as participant, or as owner, who may do everything there. */
export function placeInWorkflow(
  agentId: string,
  { session, workflow }: RunningSession,
): WorkflowPlace | undefined {
  const participant = workflow.participants.find(({ agent_id }) => agent_id === agentId);
  if (participant === undefined && workflow.owner_agent_id !== agentId) return undefined;
  return {
    ...placeOfDelegatee({ session, workflow }),
    role: participant?.role ?? 'owner',
    allowedActions: participant?.allowed_actions ?? ['*'],
  };
}

/** The place of an agent that takes part only by a delegation. */
export function placeOfDelegatee({ session, workflow }: RunningSession): WorkflowPlace {
  return {
    sessionId: session.id,
    workflowId: workflow.id,
    maxDepth: workflow.max_depth,
    role: 'delegatee',
    allowedActions: null,
    delegatorsActions: [],
    causalDepth: 0,
    parentEventId: null,
  };
}

/** The place of an agent that calls by a delegation; a denial where the workflow does not allow it. */
export function findDelegatedPlace(
  agentId: string,
  { links }: DelegationChain,
  session: RunningSession,
): WorkflowPlace | Deny {
  const { max_depth } = session.workflow;
  if (links.length > max_depth) {
    return denied(`the workflow allows delegations ${max_depth} deep`);
  }
  const delegators = links.map(({ delegator }) => placeInWorkflow(delegator.id, session));
  // The first delegator must be a participant; later ones may take part by delegation only.
  if (delegators[0] === undefined) return refused('its delegator takes no part in this workflow');
  const delegatorsActions = delegators.flatMap((one) =>
    one?.allowedActions ? [one.allowedActions] : [],
  );
  return { ...(placeInWorkflow(agentId, session) ?? placeOfDelegatee(session)), delegatorsActions };
}

/** The denial of an agent that is neither participant nor owner nor delegatee. */
export const NO_PART = denied('the agent takes no part in this workflow');

/**
 * The present place and chain of a call that had to wait: changes of the workflow, its participants,
 * its delegations and their delegators apply to it. Its place in the trace stays.
 *
 * @returns a denial where the session or a delegation is no longer valid, or the agent takes no part
 */
function findPlaceNow(
  { caller: { tenantId }, agent, workflow: then, delegation }: AgentCall,
  deps: WorkflowEligibilityDeps,
): Pick<AgentCall, 'workflow' | 'delegation'> | Deny {
  if (then === undefined) return {};
  const { causalDepth, parentEventId } = then;
  const asBefore = (place: WorkflowPlace) =>
    causalDepth > place.maxDepth
      ? tooDeep(causalDepth, place.maxDepth)
      : { ...place, causalDepth, parentEventId };
  const session = findSession(tenantId, then.sessionId, deps);
  if ('kind' in session) return session;
  if (delegation === undefined) {
    const place = placeInWorkflow(agent.id, session);
    if (place === undefined) return NO_PART;
    const workflow = asBefore(place);
    return 'kind' in workflow ? workflow : { workflow };
  }
  const last = deps.replica.findDelegation(tenantId, delegation.last.id);
  if (last === undefined) return refused('the delegation was revoked or is unknown');
  const chain = findChain(tenantId, last, deps);
  if ('kind' in chain) return chain;
  const place = findDelegatedPlace(agent.id, chain, session);
  if ('kind' in place) return place;
  const workflow = asBefore(place);
  return 'kind' in workflow ? workflow : { workflow, delegation: chain };
}

export interface CallNowDeps extends WorkflowEligibilityDeps {
  replica: WorkflowEligibilityDeps['replica'] & EligibilityDeps['replica'];
  findDenial: EligibilityDeps['findDenial'];
}

/** What a call was judged by beside the rules. */
export type CallNow = Pick<AgentCall, 'agent' | 'workflow' | 'delegation'>;

/**
 * The present agent, place in the workflow and delegations of a call that had to wait.
 *
 * @returns a denial where one of them no longer holds
 */
export function findCallNow(call: AgentCall, deps: CallNowDeps): CallNow | Deny {
  const agent = findAgentNow(call, deps);
  if ('kind' in agent) return agent;
  const place = findPlaceNow(call, deps);
  return 'kind' in place ? place : { agent, ...place };
}

/**
 * What a judged call stood on and lost while it waited for its session with the server: its server's
 * registration, or a permission of its agent's roles.
 *
 * @param agent as it is now
 * @returns why the call may no longer be sent. What it never had it cannot lose: a policy or a
 * person may have allowed it all the same.
 */
export function findLostGround(
  { caller, ask, action, rules: then, agent: before }: JudgedCall,
  agent: ReplicaAgent,
  rules: RulesProvider,
): Deny | undefined {
  const now = rules.findActiveRules(caller.tenantId);
  if (now !== then && findServer(then, ask.serverId) && !findServer(now, ask.serverId)) {
    return denied('the MCP server is no longer registered');
  }
  // A list that shows its agent nothing any more is empty, and no error (ADR 40).
  if (agent.permits === before.permits || isList(ask.method)) return undefined;
  const lacks = (one: ReplicaAgent) => findLackingPermission(one, { ask, action, rules: now });
  const lacking = lacks(agent);
  if (lacking === undefined || lacks(before) !== undefined) return undefined;
  return {
    ...denied("the agent's roles no longer permit the call"),
    neededPermission: lacking.permission,
  };
}

/**
 * Whether a call's place in its workflow, or its delegations, are no longer as they were: earlier
 * steps went by them.
 */
export function hasMoved(then: AgentCall, now: CallNow): boolean {
  return !(
    isDeepStrictEqual(then.workflow, now.workflow) &&
    isDeepStrictEqual(then.delegation, now.delegation)
  );
}

/** The denial of a call that stands too deep in the trace of its session. */
export function tooDeep(depth: number, maxDepth: number): Deny {
  return denied(`the call is ${depth} deep, and its workflow allows ${maxDepth}`);
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
