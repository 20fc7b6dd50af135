/**
 * May this agent act now? The one answer to that question, asked when a request has arrived (for
 * the 401), in the pipeline, after every wait, and directly before bytes go to a server.
 */
import type { CredentialProof } from '@governance/shared/agent-token';
import { effectiveAgentStatus } from '@governance/shared/facts';
import type { FindDenial, Replica, ReplicaAgent } from '../contracts.ts';
import type { AgentCall, AgentKey, Caller, Deny } from './calls.ts';

export interface EligibilityDeps {
  replica: Pick<Replica, 'findAgent' | 'findCredential' | 'findKillSwitch'>;
  /** Why this data plane lets nobody of a tenant act, if so. */
  findDenial: FindDenial;
}

/** Why nobody of the tenant may act at this data plane, if so. */
export function findTenantIneligibility(
  tenantId: string,
  { findDenial }: Pick<EligibilityDeps, 'findDenial'>,
): Deny | undefined {
  const denial = findDenial(tenantId);
  if (denial === null) return undefined;
  const { reason, message } = denial;
  const said = { kind: 'deny', reasons: [], detail: `${reason}: ${message}` } as const;
  // The local switch answers as the tenant's does.
  return reason === 'local_kill_switch'
    ? { ...said, cause: 'ineligible', message: `Unauthorized: ${message}`, challenge: 'bearer' }
    : { ...said, cause: 'plane', message, planeReason: reason };
}

/** Why an agent may not act by what is known of itself: suspended, or caught by the kill switch. */
export function findAgentIneligibility(
  tenantId: string,
  agent: ReplicaAgent,
  { replica }: { replica: Pick<Replica, 'findKillSwitch'> },
): Deny | undefined {
  const status = effectiveAgentStatus(agent, replica.findKillSwitch(tenantId) ?? null);
  if (status === 'active') return undefined;
  const isCaught = agent.status === 'active';
  return {
    kind: 'deny',
    cause: 'ineligible',
    message: `Unauthorized: the agent is ${status}.`,
    reasons: [],
    detail: isCaught ? 'the kill switch is engaged' : `the agent is ${status}`,
    challenge: 'bearer',
  };
}

/** Why a caller may not act, whatever the cause; undefined where it may. */
export function findIneligibility(
  { tenantId, agent, bar }: Pick<Caller, 'tenantId' | 'agent' | 'bar'>,
  deps: Pick<EligibilityDeps, 'findDenial'> & { replica: Pick<Replica, 'findKillSwitch'> },
): Deny | undefined {
  return (
    bar ?? findTenantIneligibility(tenantId, deps) ?? findAgentIneligibility(tenantId, agent, deps)
  );
}

/**
 * The version that the credential of a proof has now.
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
 * The call's agent as it is now, for a call that had to wait: what an administrator changed
 * meanwhile holds for it.
 *
 * @returns the denial where it may not act any more, or where its credential was replaced or revoked
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

/** The key of an agent. Neither id has a space. */
export function agentKeyOf(tenantId: string, agentId: string): AgentKey {
  return `${tenantId} ${agentId}` as AgentKey;
}
