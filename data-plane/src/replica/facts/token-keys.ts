/** The keys that a tenant's agent tokens may be signed with. None where they cannot be read. */
import type { FactKindContext } from '../fact-kind.ts';

export const tokenKeyFacts = ({ facts }: FactKindContext) => ({
  finds: { findTokenKeys: (tenantId: string) => facts.find(tenantId, 'token_keys', 'current') },
});
