import type { AgentStatus } from '@governance/shared/channel/facts';
import type { RiskTier } from '@governance/shared/ledger/ledger-record';
import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { Prisma } from '../platform/generated/client.ts';
import type { Agent, KillSwitchState, ListedAgent } from './agent.ts';

export interface NewAgent {
  id: string;
  name: string;
  agentType: string;
  owner: string;
  description: string;
  clientId: string;
  secretHash: string;
  now: Date;
}

export type AgentChange = Partial<
  Pick<
    Agent,
    | 'name'
    | 'description'
    | 'status'
    | 'secretHash'
    | 'credentialVersion'
    | 'killReleasedGeneration'
  >
>;

export interface RoleOfAgent {
  id: string;
  name: string;
  description: string;
  permissions: string[];
  resourceScopes: string[];
}

export interface AgentStore {
  create(agent: NewAgent): Promise<Agent>;
  find(id: string): Promise<Agent | undefined>;
  /** Locks the agent for this transaction, so that its facts are in the order of its changes. */
  lock(id: string): Promise<Agent | undefined>;
  update(id: string, change: AgentChange, now: Date): Promise<Agent>;
  /** Newest first; filtered by the effective status. */
  list(
    status: AgentStatus | undefined,
    page: Page,
    killSwitch: KillSwitchState,
  ): Promise<{ agents: ListedAgent[]; total: number }>;
  rolesOf(id: string): Promise<RoleOfAgent[]>;
  /** @returns false when the agent already had the role */
  addRole(id: string, roleId: string, now: Date): Promise<boolean>;
  /** @returns false when the agent did not have the role */
  removeRole(id: string, roleId: string): Promise<boolean>;
}

const WITH_ROLES = {
  roles: { select: { roleId: true }, orderBy: { roleId: 'asc' } },
} satisfies Prisma.AgentInclude;
type Row = Prisma.AgentGetPayload<{ include: typeof WITH_ROLES }>;

export function agentStore({ db, scope }: TenantTransaction): AgentStore {
  const { tenantId } = scope;
  const at = (id: string) => ({ tenantId_id: { tenantId, id } });
  const find = async (id: string) => {
    const row = await db.agent.findUnique({ where: at(id), include: WITH_ROLES });
    return row ? toAgent(row) : undefined;
  };
  return {
    find,
    create: async ({ now, ...agent }) =>
      toAgent(
        await db.agent.create({
          data: { tenantId, ...agent, createdAt: now, updatedAt: now },
          include: WITH_ROLES,
        }),
      ),
    lock: async (id) => {
      await db.$queryRaw`
        SELECT 1 FROM agents WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid FOR UPDATE`;
      return find(id);
    },
    update: async (id, change, now) =>
      toAgent(
        await db.agent.update({
          where: at(id),
          data: { ...change, updatedAt: now },
          include: WITH_ROLES,
        }),
      ),
    list: async (status, page, killSwitch) => {
      const where = { tenantId, ...(status ? whereStatusHolds(status, killSwitch) : {}) };
      const [rows, total] = [
        await db.agent.findMany({
          where,
          orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
          ...rowsOf(page),
        }),
        await db.agent.count({ where }),
      ];
      return { agents: rows.map(toListedAgent), total };
    },
    rolesOf: (id) =>
      db.role.findMany({
        where: { tenantId, agents: { some: { tenantId, agentId: id } } },
        select: {
          id: true,
          name: true,
          description: true,
          permissions: true,
          resourceScopes: true,
        },
        orderBy: { name: 'asc' },
      }),
    addRole: async (agentId, roleId, now) => {
      const { count } = await db.agentRole.createMany({
        data: [{ tenantId, agentId, roleId, createdAt: now }],
        skipDuplicates: true,
      });
      return count > 0;
    },
    removeRole: async (agentId, roleId) => {
      const { count } = await db.agentRole.deleteMany({ where: { tenantId, agentId, roleId } });
      return count > 0;
    },
  };
}

/**
 * `effectiveAgentStatus` of shared/facts as an SQL condition; agent-routes.pg.test.ts compares
 * them.
 */
function whereStatusHolds(
  status: AgentStatus,
  killSwitch: KillSwitchState,
): Prisma.AgentWhereInput {
  if (status === 'deprovisioned' || !killSwitch.engaged) return { status };
  const released = { gte: killSwitch.generation };
  const caught = { lt: killSwitch.generation };
  if (status === 'active') return { status, killReleasedGeneration: released };
  return { OR: [{ status }, { status: 'active', killReleasedGeneration: caught }] };
}

function toAgent({ roles, ...row }: Row): Agent {
  return { ...toListedAgent(row), roleIds: roles.map((role) => role.roleId) };
}

function toListedAgent({ tenantId: _, ...row }: Omit<Row, 'roles'>): ListedAgent {
  // The table's CHECK constraints guarantee these values.
  return { ...row, status: row.status as AgentStatus, riskTier: row.riskTier as RiskTier };
}
