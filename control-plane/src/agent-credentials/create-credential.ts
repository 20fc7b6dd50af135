import { MAX_AGENT_CREDENTIALS } from '@governance/shared/channel/facts';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import type { McpClient } from '@governance/shared/mcp/mcp-clients';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { createSecret } from '../platform/random-secret.ts';
import { type AgentCredential, createCredentialClientId, toCredentialFact } from './credential.ts';
import { credentialStore } from './credential-store.ts';

export interface NewCredential {
  /** Generated unless given. */
  id?: string;
  agentId: string;
  label: string;
  client: McpClient;
}

/**
 * Creates a credential with its fact and its audit record. The tenant's transaction must hold the
 * agent's lock.
 *
 * @returns the credential, and its secret, which is shown only here
 * @throws AppError AGENT_CREDENTIAL_LIMIT_REACHED
 */
export async function createCredential(
  tx: TenantTransaction,
  input: NewCredential,
  now: Date,
): Promise<{ credential: AgentCredential; secret: string }> {
  const store = credentialStore(tx);
  if ((await store.count(input.agentId)) >= MAX_AGENT_CREDENTIALS) {
    throw new AppError('AGENT_CREDENTIAL_LIMIT_REACHED');
  }
  const { secret, hash: secretHash } = createSecret();
  const credential: AgentCredential = {
    ...{ id: uuidv7(now.getTime()), ...input, secretHash, version: 1 },
    clientId: createCredentialClientId(now),
    ...{ createdBy: tx.scope.actor.username, createdAt: now, rotatedAt: null },
  };
  await store.insert(credential);
  const { id, agentId, label, client, clientId: client_id } = credential;
  const kind = 'optional.agent_credential';
  tx.feed.append({ kind, key: id, value: toCredentialFact(credential) });
  tx.audit.append({
    action: 'agent_credential_created',
    target: `agent/${agentId}/credential/${id}`,
    details: { label, client, client_id },
  });
  return { credential, secret };
}
