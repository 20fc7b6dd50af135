import type { AgentFact, AgentStatus, KillSwitchFact } from '@governance/shared/channel/facts';
import { effectiveAgentStatus } from '@governance/shared/channel/facts';
import type { RiskTier } from '@governance/shared/ledger/ledger-record';

/** An agent as lists show it, without its roles. */
export interface ListedAgent {
  id: string;
  name: string;
  agentType: string;
  owner: string;
  description: string;
  /** As administrators set it; `effectiveStatus` is what is enforced. */
  status: AgentStatus;
  riskScore: number;
  riskTier: RiskTier;
  clientId: string;
  secretHash: string;
  credentialVersion: number;
  killReleasedGeneration: number;
  baselineStatus: string;
  hasRecentDrift: boolean;
  createdAt: Date;
  updatedAt: Date;
}

export interface Agent extends ListedAgent {
  roleIds: string[];
}

/** The kill switch as a transaction reads it. */
export type KillSwitchState = Pick<KillSwitchFact, 'engaged' | 'generation'>;

/** The status that the API shows; enforcement computes it from the same facts. */
export function effectiveStatus(
  agent: Pick<Agent, 'status' | 'killReleasedGeneration'>,
  killSwitch: KillSwitchState,
): AgentStatus {
  return effectiveAgentStatus(
    { status: agent.status, kill_released_generation: agent.killReleasedGeneration },
    killSwitch,
  );
}

export function toAgentFact(agent: Agent): AgentFact {
  return {
    id: agent.id,
    name: agent.name,
    agent_type: agent.agentType,
    owner: agent.owner,
    status: agent.status,
    risk_score: agent.riskScore,
    risk_tier: agent.riskTier,
    client_id: agent.clientId,
    secret_hash: agent.secretHash,
    credential_version: agent.credentialVersion,
    kill_released_generation: agent.killReleasedGeneration,
    role_ids: agent.roleIds,
  };
}
