/** An agent for tests that are not about creating agents. */
import { createHash, randomBytes } from 'node:crypto';
import type { TenantScope } from '@governance/control-plane/platform/database/tenant-scope';
import { uuidv7 } from '@governance/shared/ids';
import type { TestDatabase } from './test-database.ts';

export interface AnAgent {
  id: string;
  clientId: string;
  clientSecret: string;
}

/** @param columns of the row, where they matter to the test */
export async function anAgent(
  { db }: Pick<TestDatabase, 'db'>,
  scope: TenantScope,
  columns: {
    status?: string;
    riskTier?: string;
    roles?: { name: string; permissions: string[] }[];
  } = {},
): Promise<AnAgent> {
  const { roles = [], ...given } = columns;
  const { tenantId } = scope;
  const agent = {
    id: uuidv7(),
    clientId: `agent-${randomBytes(8).toString('hex')}`,
    clientSecret: randomBytes(32).toString('base64url'),
  };
  await db.inTenant(scope, async (tx) => {
    await tx.db.agent.create({
      data: {
        tenantId,
        id: agent.id,
        name: agent.clientId,
        agentType: 'assistant',
        owner: 'tests',
        clientId: agent.clientId,
        secretHash: createHash('sha256').update(agent.clientSecret).digest('hex'),
        ...given,
      },
    });
    for (const role of roles) {
      const id = uuidv7();
      await tx.db.role.create({ data: { tenantId, id, ...role } });
      await tx.db.agentRole.create({ data: { tenantId, agentId: agent.id, roleId: id } });
    }
  });
  return agent;
}
