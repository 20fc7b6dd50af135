import type { ReplicaClient } from '../contracts.ts';
import type { FactFinds } from './fact-kinds.ts';

type ClientFinds = Pick<FactFinds, 'findAgent' | 'findAgentOfClient' | 'findCredentialOfClient'>;

/**
 * Looks up at most two client ids: among agents' first credentials, then among the others. A
 * credential counts as missing while its agent is unknown.
 */
export function createClientLookup(finds: ClientFinds) {
  return (clientId: string): ReplicaClient | undefined => {
    const first = finds.findAgentOfClient(clientId);
    if (first) {
      const { tenantId, fact: agent } = first;
      const proof = { credentialId: null, version: agent.credential_version };
      return { tenantId, agent, secretHash: agent.secret_hash, proof };
    }
    const found = finds.findCredentialOfClient(clientId);
    const agent = found && finds.findAgent(found.tenantId, found.fact.agent_id);
    if (!agent) return undefined;
    const { tenantId, fact: credential } = found;
    const proof = { credentialId: credential.id, version: credential.version };
    return { tenantId, agent, secretHash: credential.secret_hash, proof };
  };
}
