import type { AppliedBarrier } from '@governance/shared/channel/channels';
import type { AgentStatus } from '@governance/shared/channel/facts';
import { AppError } from '@governance/shared/errors';
import { readKillSwitch } from '../kill-switch/kill-switch-store.ts';
import type { Page } from '../platform/database/page.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { createSecret } from '../platform/random-secret.ts';
import {
  type Agent,
  effectiveStatus,
  type KillSwitchState,
  type ListedAgent,
  toAgentFact,
} from './agent.ts';
import { type AgentChange, agentStore, type RoleOfAgent } from './agent-store.ts';
import { type AgentInput, registerAgent } from './register-agent.ts';
import { requireRoomOfAgent } from './role-limits.ts';

export interface AgentServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  applied: AppliedBarrier;
  now: () => Date;
}

/** An agent with its effective status, which takes the kill switch into account. */
export interface AgentAsHeld extends Agent {
  roles: RoleOfAgent[];
}

export interface AgentPatch {
  name?: string | undefined;
  description?: string | undefined;
  status?: AgentStatus | undefined;
}

export type AgentService = ReturnType<typeof createAgentService>;

export function createAgentService({ db, applied, now }: AgentServiceDeps) {
  /** Commits a change and waits until the local data plane enforces it. */
  async function change<T>(scope: TenantScope, work: (tx: TenantTransaction) => Promise<T>) {
    const { result, feedSeq } = await db.inTenantWithHeads(scope, work);
    if (feedSeq !== undefined) await applied.wait(scope.tenantId, { feedSeq });
    return result;
  }

  return {
    list: (scope: TenantScope, status: AgentStatus | undefined, page: Page) =>
      db.inTenant(scope, async (tx) => {
        const killSwitch = await readKillSwitch(tx);
        const { agents, total } = await agentStore(tx).list(status, page, killSwitch);
        return { agents: agents.map((agent) => asHeld(agent, killSwitch)), total };
      }),

    get: (scope: TenantScope, id: string): Promise<AgentAsHeld> =>
      db.inTenant(scope, async (tx) => describe(tx, await agentStore(tx).find(id))),

    /** @returns the agent and its secret, which is shown only here */
    register: (scope: TenantScope, input: AgentInput) =>
      change(scope, async (tx) => {
        const { agent, secret } = await registerAgent(tx, input, { now: now() });
        return { agent: asHeld(agent, await readKillSwitch(tx)), secret };
      }),

    patch: (scope: TenantScope, id: string, patch: AgentPatch): Promise<AgentAsHeld> =>
      change(scope, async (tx) => {
        const store = agentStore(tx);
        const agent = await store.lock(id);
        if (!agent) throw new AppError('AGENT_NOT_FOUND');
        const changes = changesOf(agent, patch, await readKillSwitch(tx));
        if (Object.keys(changes).length === 0) return describe(tx, agent);
        if (agent.status === 'deprovisioned') throw new AppError('AGENT_DEPROVISIONED');
        const updated = await store.update(id, changes, now());
        tx.feed.append({ kind: 'agent', key: id, value: toAgentFact(updated) });
        tx.audit.append(auditOf(agent, changes));
        return describe(tx, updated);
      }),

    /** Issues a new secret; the old one and its tokens end. */
    rotate: async (scope: TenantScope, id: string) => {
      const { secret, hash } = createSecret();
      const rotatedAt = now();
      const agent = await change(scope, async (tx) => {
        const store = agentStore(tx);
        const found = await store.lock(id);
        if (!found) throw new AppError('AGENT_NOT_FOUND');
        if (found.status === 'deprovisioned') throw new AppError('AGENT_DEPROVISIONED');
        const credentialVersion = found.credentialVersion + 1;
        const rotated = await store.update(id, { secretHash: hash, credentialVersion }, rotatedAt);
        tx.feed.append({ kind: 'agent', key: id, value: toAgentFact(rotated) });
        tx.audit.append({
          action: 'agent_secret_rotated',
          target: `agent/${id}`,
          details: { credential_version: credentialVersion },
        });
        return rotated;
      });
      return { agent, secret, rotatedAt };
    },

    assignRole: (scope: TenantScope, id: string, roleId: string) =>
      change(scope, (tx) => changeRole(tx, id, roleId, 'agent_role_assigned')),

    removeRole: (scope: TenantScope, id: string, roleId: string) =>
      change(scope, (tx) => changeRole(tx, id, roleId, 'agent_role_removed')),
  };

  async function changeRole(
    tx: TenantTransaction,
    id: string,
    roleId: string,
    action: 'agent_role_assigned' | 'agent_role_removed',
  ): Promise<AgentAsHeld> {
    const store = agentStore(tx);
    const agent = await store.lock(id);
    if (!agent) throw new AppError('AGENT_NOT_FOUND');
    if (agent.status === 'deprovisioned') throw new AppError('AGENT_DEPROVISIONED');
    const { tenantId } = tx.scope;
    const role = await tx.db.role.findUnique({ where: { tenantId_id: { tenantId, id: roleId } } });
    if (!role) throw new AppError('ROLE_NOT_FOUND');
    const changed =
      action === 'agent_role_assigned'
        ? await store.addRole(id, roleId, now())
        : await store.removeRole(id, roleId);
    if (!changed && action === 'agent_role_removed') {
      throw new AppError('ROLE_NOT_FOUND', 'The agent does not have this role.');
    }
    const after = await store.find(id);
    if (!after) throw new AppError('AGENT_NOT_FOUND');
    if (changed) {
      if (action === 'agent_role_assigned') await requireRoomOfAgent(tx, after.roleIds, 'role_id');
      tx.feed.append({ kind: 'agent', key: id, value: toAgentFact(after) });
      tx.audit.append({
        action,
        target: `agent/${id}/role/${roleId}`,
        details: { role_name: role.name, permissions: role.permissions },
      });
    }
    return describe(tx, after);
  }
}

/**
 * The fields that a patch changes. Setting an agent active also releases it from the kill switch.
 */
function changesOf(agent: Agent, patch: AgentPatch, killSwitch: KillSwitchState): AgentChange {
  const changes: AgentChange = {};
  if (patch.name !== undefined && patch.name !== agent.name) changes.name = patch.name;
  if (patch.description !== undefined && patch.description !== agent.description) {
    changes.description = patch.description;
  }
  if (patch.status !== undefined && patch.status !== agent.status) changes.status = patch.status;
  const { engaged, generation } = killSwitch;
  if (patch.status === 'active' && engaged && agent.killReleasedGeneration < generation) {
    changes.killReleasedGeneration = generation;
  }
  return changes;
}

function auditOf(agent: Agent, changes: AgentChange) {
  const target = `agent/${agent.id}`;
  const { name, description, status, killReleasedGeneration } = changes;
  const details = {
    ...(name === undefined ? {} : { name: { from: agent.name, to: name } }),
    ...(description === undefined ? {} : { description: { changed: true } }),
    ...(status === undefined ? {} : { status: { from: agent.status, to: status } }),
    ...(killReleasedGeneration === undefined
      ? {}
      : { released_from_kill_switch: killReleasedGeneration }),
  };
  const activated = status === 'active' || killReleasedGeneration !== undefined;
  if (activated) return { action: 'agent_activated', target, details };
  if (status === 'suspended') return { action: 'agent_suspended', target, details };
  if (status === 'deprovisioned') return { action: 'agent_deprovisioned', target, details };
  return { action: 'agent_updated', target, details };
}

function asHeld<A extends ListedAgent>(agent: A, killSwitch: KillSwitchState): A {
  return { ...agent, status: effectiveStatus(agent, killSwitch) };
}

async function describe(tx: TenantTransaction, agent: Agent | undefined): Promise<AgentAsHeld> {
  if (!agent) throw new AppError('AGENT_NOT_FOUND');
  const killSwitch = await readKillSwitch(tx);
  return { ...asHeld(agent, killSwitch), roles: await agentStore(tx).rolesOf(agent.id) };
}
