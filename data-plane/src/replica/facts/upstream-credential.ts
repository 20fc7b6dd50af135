/**
 * The credential that this data plane presents to an MCP server, sealed to its own key (a compact
 * JWE).
 */
import type { FactKindContext } from '../fact-kind.ts';

export const upstreamCredentialFacts = ({ facts, findDeploymentId }: FactKindContext) => ({
  finds: {
    findUpstreamCredential(tenantId: string, serverId: string): string | undefined {
      const deploymentId = findDeploymentId(tenantId);
      if (deploymentId === undefined) return undefined;
      return facts.find(tenantId, 'upstream_credential', `${deploymentId}/${serverId}`)?.jwe;
    },
  },
});
