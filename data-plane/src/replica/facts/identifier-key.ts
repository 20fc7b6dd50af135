/** The tenant's key for hashing identifiers, sealed to this data plane's own key (a compact JWE). */
import type { FactKindContext } from '../fact-kind.ts';

export const identifierKeyFacts = ({ facts, findDeploymentId }: FactKindContext) => ({
  finds: {
    findIdentifierKey(tenantId: string): string | undefined {
      const deploymentId = findDeploymentId(tenantId);
      if (deploymentId === undefined) return undefined;
      return facts.find(tenantId, 'identifier_key', deploymentId)?.jwe;
    },
  },
});
