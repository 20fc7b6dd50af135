import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { createSecret } from '../platform/random-secret.ts';
import { type Agent, toAgentFact } from './agent.ts';
import { agentStore } from './agent-store.ts';

export interface AgentInput {
  name: string;
  agentType: string;
  owner: string;
  description: string;
}

/**
 * Registers an agent in a transaction of its tenant, with its fact and its audit records.
 *
 * @param roleIds the roles that it starts with
 * @returns the agent with its stored status, and its secret, which is shown only here
 * @throws AppError ROLE_NOT_FOUND
 */
export async function registerAgent(
  tx: TenantTransaction,
  input: AgentInput,
  { roleIds = [], now }: { roleIds?: readonly string[]; now: Date },
): Promise<{ agent: Agent; secret: string }> {
  const store = agentStore(tx);
  const { secret, hash: secretHash } = createSecret();
  const id = uuidv7(now.getTime());
  const clientId = `agt_${uuidv7(now.getTime()).replaceAll('-', '')}`;
  const created = await store.create({ id, ...input, clientId, secretHash, now });
  const { name, agentType: agent_type, owner } = input;
  tx.audit.append({
    action: 'agent_created',
    target: `agent/${id}`,
    details: { name, agent_type, owner },
  });
  const { tenantId } = tx.scope;
  for (const roleId of roleIds) {
    const role = await tx.db.role.findUnique({ where: { tenantId_id: { tenantId, id: roleId } } });
    if (!role) throw new AppError('ROLE_NOT_FOUND');
    await store.addRole(id, roleId, now);
    tx.audit.append({
      action: 'agent_role_assigned',
      target: `agent/${id}/role/${roleId}`,
      details: { role_name: role.name, permissions: role.permissions },
    });
  }
  const agent = roleIds.length > 0 ? ((await store.find(id)) ?? created) : created;
  tx.feed.append({ kind: 'agent', key: id, value: toAgentFact(agent) });
  return { agent, secret };
}
