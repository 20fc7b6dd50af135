import type { ReplicaClient } from '../contracts.ts';
import type { FactFinds } from './fact-kinds.ts';

/**
 * Look-up by client id: at most two by key, of agents' first credentials and of the others. A
 * credential counts as missing while its agent is unknown.
 */
export function createFindClient({
  findAgent,
  findAgentOfClient,
  findCredentialOfClient,
}: Pick<FactFinds, 'findAgent' | 'findAgentOfClient' | 'findCredentialOfClient'>) {
  return (clientId: string): ReplicaClient | undefined => {
    const first = findAgentOfClient(clientId);
    if (first) {
      const { tenantId, fact: agent } = first;
      const proof = { credentialId: null, version: agent.credential_version };
      return { tenantId, agent, secretHash: agent.secret_hash, proof };
    }
    const found = findCredentialOfClient(clientId);
    const agent = found && findAgent(found.tenantId, found.fact.agent_id);
    if (!agent) return undefined;
    const { tenantId, fact: credential } = found;
    const proof = { credentialId: credential.id, version: credential.version };
    return { tenantId, agent, secretHash: credential.secret_hash, proof };
  };
}
