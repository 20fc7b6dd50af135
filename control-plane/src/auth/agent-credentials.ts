/** What the token route needs to know of an agent, read in one transaction of its tenant. */

import { type AgentStatus, effectiveAgentStatus } from '@governance/shared/channel/facts';
import type { RiskTier } from '@governance/shared/ledger/ledger-record';
import type { AgentCredentials } from '@governance/shared/tokens/agent-token-issue';
import { systemScope, type TenantDatabase } from '../platform/database/tenant-scope.ts';

export type FindAgentCredentials = (
  tenantId: string,
  agentId: string,
  /** Null: the agent's first credential. */
  credentialId: string | null,
) => Promise<AgentCredentials | undefined>;

export function createFindAgentCredentials(
  db: Pick<TenantDatabase, 'inTenant'>,
): FindAgentCredentials {
  return (tenantId, agentId, credentialId) =>
    db.inTenant(systemScope(tenantId), async (tx) => {
      const agent = await tx.db.agent.findUnique({
        where: { tenantId_id: { tenantId, id: agentId } },
        include: { roles: { include: { role: true }, orderBy: { roleId: 'asc' } } },
      });
      const killSwitch = await tx.db.killSwitch.findUnique({ where: { tenantId } });
      if (!agent) return undefined;
      const credential =
        credentialId === null
          ? { secretHash: agent.secretHash, version: agent.credentialVersion }
          : await tx.db.agentCredential.findFirst({
              where: { tenantId, agentId, id: credentialId },
              select: { secretHash: true, version: true },
            });
      // Revoked in the meantime.
      if (!credential) return undefined;
      // Read last: a data plane at this feed_seq has applied all that was read above.
      const head = await tx.db.tenantHead.findUniqueOrThrow({
        where: { tenantId },
        select: { feedSeq: true },
      });
      const roles = agent.roles.map(({ role }) => role);
      return {
        id: agent.id,
        tenantId,
        status: effectiveAgentStatus(
          {
            status: agent.status as AgentStatus,
            kill_released_generation: agent.killReleasedGeneration,
          },
          killSwitch,
        ),
        secretHash: credential.secretHash,
        proof: { credentialId, version: credential.version },
        riskTier: agent.riskTier as RiskTier,
        roles: roles.map((role) => role.name),
        permissions: [...new Set(roles.flatMap((role) => role.permissions))],
        feedSeq: Number(head.feedSeq),
      };
    });
}
