import type { McpClient } from '@governance/shared/mcp/mcp-clients';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { AgentCredential } from './credential.ts';

type Row = Awaited<ReturnType<TenantTransaction['db']['agentCredential']['findFirstOrThrow']>>;

/** This feature's rows, of the transaction's tenant. */
export function credentialStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    insert: async (credential: AgentCredential): Promise<void> => {
      await db.agentCredential.create({ data: { tenantId, ...credential } });
    },

    count: (agentId: string): Promise<number> =>
      db.agentCredential.count({ where: { tenantId, agentId } }),

    /** An agent's credentials, oldest first; at most MAX_AGENT_CREDENTIALS. */
    list: async (agentId: string): Promise<AgentCredential[]> => {
      const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
      const rows = await db.agentCredential.findMany({ where: { tenantId, agentId }, orderBy });
      return rows.map(toCredential);
    },

    find: async (agentId: string, id: string): Promise<AgentCredential | undefined> => {
      const row = await db.agentCredential.findFirst({ where: { tenantId, agentId, id } });
      return row ? toCredential(row) : undefined;
    },

    rotate: async (
      id: string,
      change: Pick<AgentCredential, 'secretHash' | 'version' | 'rotatedAt'>,
    ): Promise<AgentCredential> =>
      toCredential(
        await db.agentCredential.update({ where: { tenantId_id: { tenantId, id } }, data: change }),
      ),

    remove: async (id: string): Promise<void> => {
      await db.agentCredential.delete({ where: { tenantId_id: { tenantId, id } } });
    },
  };
}

function toCredential({ tenantId: _, ...row }: Row): AgentCredential {
  // Only values that the schema `McpClient` accepts are written.
  return { ...row, client: row.client as McpClient };
}
