/** The keys that may sign a tenant's agent tokens. None if they cannot be read. */
import type { FactKindContext } from '../fact-kind.ts';

export const tokenKeyFacts = ({ facts }: FactKindContext) => ({
  finds: { findTokenKeys: (tenantId: string) => facts.find(tenantId, 'token_keys', 'current') },
});
