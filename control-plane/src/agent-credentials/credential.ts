/**
 * A credential that an agent has beside its first one: for one client, which can be revoked alone.
 */
import type { AgentCredentialFact } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import type { McpClient } from '@governance/shared/mcp/mcp-clients';

export interface AgentCredential {
  id: string;
  agentId: string;
  label: string;
  client: McpClient;
  clientId: string;
  secretHash: string;
  version: number;
  createdBy: string;
  createdAt: Date;
  rotatedAt: Date | null;
}

/**
 * Its prefix differs from that of an agent's own client id (`agt_`), so that the two never collide.
 */
export function createCredentialClientId(now: Date): string {
  return `acr_${uuidv7(now.getTime()).replaceAll('-', '')}`;
}

export function toCredentialFact(credential: AgentCredential): AgentCredentialFact {
  return {
    id: credential.id,
    agent_id: credential.agentId,
    client_id: credential.clientId,
    secret_hash: credential.secretHash,
    version: credential.version,
  };
}
