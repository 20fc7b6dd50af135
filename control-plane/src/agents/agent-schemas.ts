import { AgentStatus } from '@governance/shared/channel/facts';
import { RiskTier } from '@governance/shared/ledger/ledger-record';
import { GivenId } from '@governance/shared/text';
import { z } from 'zod';
import { Description, listOf, Name, pageQuery } from '../platform/http/schemas.ts';
import type { ListedAgent } from './agent.ts';
import type { AgentAsHeld } from './agent-service.ts';

export const AgentParams = z.object({ id: GivenId });
export const AgentRoleParams = z.object({ id: GivenId, role_id: GivenId });

export const AgentQuery = z.object({
  status: AgentStatus.optional(),
  ...pageQuery({ default: 50, max: 1000 }),
});

export const NewAgentBody = z.strictObject({
  name: Name,
  agent_type: Name,
  owner: Name,
  description: Description.default(''),
});

export const AgentPatchBody = z.strictObject({
  name: Name.optional(),
  description: Description.optional(),
  status: AgentStatus.optional(),
});

export const AssignRoleBody = z.strictObject({ role_id: GivenId });

const listed = {
  id: z.string(),
  name: z.string(),
  agent_type: z.string(),
  owner: z.string(),
  /** The effective status: an active agent under the kill switch is suspended. */
  status: AgentStatus,
  risk_score: z.number(),
  risk_tier: RiskTier,
  client_id: z.string(),
  created_at: z.string(),
  baseline_status: z.string(),
  has_recent_drift: z.boolean(),
};

export const AgentList = listOf('agents', z.object(listed));

export const AgentView = z
  .object({
    ...listed,
    description: z.string(),
    updated_at: z.string(),
    /** Version of its credentials; each rotation raises it. */
    credential_version: z.int(),
    roles: z.array(z.object({ id: z.string(), name: z.string(), description: z.string() })),
    /** The permissions of all its roles combined. */
    permissions: z.array(z.string()),
    resource_scopes: z.array(z.string()),
  })
  .meta({ id: 'Agent' });

export const CreatedAgent = z.object({
  id: z.string(),
  name: z.string(),
  client_id: z.string(),
  client_secret: z.string(),
  status: AgentStatus,
  created_at: z.string(),
});

export const RotatedAgent = z.object({
  id: z.string(),
  client_id: z.string(),
  client_secret: z.string(),
  rotated_at: z.string(),
});

export function toListed(agent: ListedAgent): z.input<typeof AgentList>['agents'][number] {
  return {
    id: agent.id,
    name: agent.name,
    agent_type: agent.agentType,
    owner: agent.owner,
    status: agent.status,
    risk_score: agent.riskScore,
    risk_tier: agent.riskTier,
    client_id: agent.clientId,
    created_at: agent.createdAt.toISOString(),
    baseline_status: agent.baselineStatus,
    has_recent_drift: agent.hasRecentDrift,
  };
}

export function toView(agent: AgentAsHeld): z.input<typeof AgentView> {
  return {
    ...toListed(agent),
    description: agent.description,
    updated_at: agent.updatedAt.toISOString(),
    credential_version: agent.credentialVersion,
    roles: agent.roles.map(({ id, name, description }) => ({ id, name, description })),
    permissions: union(agent.roles.map((role) => role.permissions)),
    resource_scopes: union(agent.roles.map((role) => role.resourceScopes)),
  };
}

function union(lists: string[][]): string[] {
  return [...new Set(lists.flat())].sort();
}
