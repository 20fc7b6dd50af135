/**
 * The kill switch is a generation a tenant, not a rewrite of every agent's row: an agent's status
 * is computed from it (shared/facts, effectiveAgentStatus). So it takes one row whatever the number
 * of agents, an agent registered later is caught too, and lifting it restores what was.
 */
import type { AppliedBarrier } from '@governance/shared/channels';
import { AppError } from '@governance/shared/errors';
import { agentStore } from '../agents/agent-store.ts';
import type { Actor, TenantDatabase, TenantScope } from '../platform/tenant-scope.ts';
import {
  type KillSwitch,
  lockKillSwitch,
  readKillSwitch,
  writeKillSwitch,
} from './kill-switch-store.ts';

export interface KillSwitchServiceDeps {
  db: TenantDatabase;
  applied: AppliedBarrier;
  now: () => Date;
}

export interface KillSwitchChange {
  lift: boolean;
  reason: string | null;
}

export interface KillSwitchResult extends KillSwitch {
  tenantId: string;
  changedAt: Date | null;
  /** Agents that would act but for the kill switch. */
  suspendedAgents: number;
}

export type KillSwitchService = ReturnType<typeof createKillSwitchService>;

/** Of tenants at a time, when a super-admin acts on all of them. */
const PARALLEL_TENANTS = 4;

export function createKillSwitchService({ db, applied, now }: KillSwitchServiceDeps) {
  async function changeTenant(
    scope: TenantScope,
    reach: 'tenant' | 'all',
    { lift, reason }: KillSwitchChange,
  ): Promise<KillSwitchResult> {
    const { result, feedSeq } = await db.inTenantWithHeads(scope, async (tx) => {
      const before = await lockKillSwitch(tx);
      // Lifting what is not engaged changes nothing; engaging again catches the released agents.
      const changes = before.engaged || !lift;
      if (!changes) return toResult(scope, before, 0);
      const at = now();
      const after: KillSwitch = {
        generation: before.generation + (lift ? 0 : 1),
        engaged: !lift,
        scope: reach,
        reason,
        actor: scope.actor.username,
        engagedAt: lift ? before.engagedAt : at,
        liftedAt: lift ? at : null,
      };
      await writeKillSwitch(tx, after, at);
      const { generation, engaged } = after;
      const changed_at = at.toISOString();
      tx.feed.append({
        kind: 'kill_switch',
        key: 'tenant',
        value: { generation, engaged, reason, changed_at },
      });
      // Those that this generation suspends, or that lifting it releases.
      const suspendedAgents = lift ? 0 : await agentStore(tx).countActive();
      tx.audit.append({
        action: lift ? 'kill_switch_lifted' : 'kill_switch_engaged',
        target: `tenant/${scope.tenantId}`,
        details: { generation, scope: reach, reason, suspended_agents: suspendedAgents },
      });
      return toResult(scope, after, suspendedAgents);
    });
    if (feedSeq !== undefined) await applied.wait(scope.tenantId, { feedSeq });
    return result;
  }

  return {
    read: (scope: TenantScope): Promise<KillSwitchResult> =>
      db.inTenant(scope, async (tx) => {
        const state = await readKillSwitch(tx);
        const suspended = state.engaged ? await agentStore(tx).countCaught(state.generation) : 0;
        return toResult(scope, state, suspended);
      }),

    change: (scope: TenantScope, change: KillSwitchChange) => changeTenant(scope, 'tenant', change),

    /**
     * Acts on every tenant; each one's own audit chain names the actor.
     *
     * @throws AppError UNAVAILABLE when it failed for some; the others stand, and repeating is safe
     */
    changeAll: async (
      actor: Actor,
      change: KillSwitchChange,
      requestId: string,
    ): Promise<KillSwitchResult[]> => {
      const tenants = await db.inPlatform(actor, (tx) =>
        tx.db.tenant.findMany({ select: { id: true }, orderBy: { id: 'asc' } }),
      );
      const waiting = tenants.map((tenant) => tenant.id);
      const results: KillSwitchResult[] = [];
      const failures: unknown[] = [];
      const work = async () => {
        for (let tenantId = waiting.shift(); tenantId; tenantId = waiting.shift()) {
          const scope = { tenantId, actor, requestId, breakGlass: true };
          try {
            results.push(await changeTenant(scope, 'all', change));
          } catch (error) {
            failures.push(error);
          }
        }
      };
      await Promise.all(Array.from({ length: PARALLEL_TENANTS }, work));
      if (failures.length > 0) {
        throw new AppError(
          'UNAVAILABLE',
          `It took effect in ${results.length} of ${tenants.length} tenants: try again.`,
          { cause: new AggregateError(failures) },
        );
      }
      return results;
    },
  };
}

function toResult(
  { tenantId }: TenantScope,
  state: KillSwitch,
  suspendedAgents: number,
): KillSwitchResult {
  const changedAt = state.engaged ? state.engagedAt : (state.liftedAt ?? state.engagedAt);
  return { tenantId, ...state, changedAt, suspendedAgents };
}
