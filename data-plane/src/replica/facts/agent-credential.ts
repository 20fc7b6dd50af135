/** Credentials that agents have beside their first one, by id and by client id. */
import type { AgentCredentialFact } from '@governance/shared/channel/facts';
import { createClientIndex } from '../client-index.ts';
import { createFactCache } from '../fact-cache.ts';
import type { FactKindContext } from '../fact-kind.ts';

const KIND = 'optional.agent_credential';

/** The columns for SQL look-ups. Facts stored before this version knew the kind are entered too. */
export const CREDENTIALS_SCHEMA = `
CREATE TABLE agent_credentials (
  tenant_id TEXT NOT NULL,
  credential_id TEXT NOT NULL,
  client_id TEXT NOT NULL UNIQUE,
  PRIMARY KEY (tenant_id, credential_id)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO agent_credentials
  SELECT tenant_id, key, value->>'client_id' FROM facts
  WHERE kind = '${KIND}' AND value->>'client_id' IS NOT NULL;
`;

export function agentCredentialFacts(context: FactKindContext) {
  const { db, cachedAgents: cached } = context;
  const { find, changed, dropped } = createFactCache(context, [KIND], cached);
  const clients = createClientIndex(db, {
    kind: KIND,
    table: 'agent_credentials',
    members: ['client_id'],
    name: 'credential',
    cached,
  });
  const findCredential = (tenantId: string, id: string): AgentCredentialFact | undefined =>
    find(tenantId, KIND, id);

  return {
    finds: {
      findCredential,
      findCredentialOfClient: (clientId: string) => clients.find(clientId, findCredential),
    },
    index: clients.index,
    changed,
    dropped,
  };
}
