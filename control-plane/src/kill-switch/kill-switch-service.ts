/**
 * The kill switch is a generation per tenant, not a rewrite of every agent's row: an agent's status
 * is computed from it (shared/facts, effectiveAgentStatus). So engaging it changes one row for any
 * number of agents, it also suspends agents registered later, and lifting it restores each agent's
 * status.
 *
 * A tenant's administrator and a super-admin who stops all tenants hold it independently: it is
 * lifted when neither holds it. Proven by kill-switch-routes.pg.test.ts.
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { createFleetKillSwitch } from './fleet-kill-switch.ts';
import { type FleetOrder, holdFleetOrder } from './fleet-order-store.ts';
import {
  countCaughtAgents,
  type KillSwitch,
  type KillSwitchScope,
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
  /**
   * True lifts it; false engages it, or engages it again, which also suspends agents released
   * since.
   */
  lift: boolean;
  reason: string | null;
}

export interface KillSwitchResult {
  tenantId: string;
  generation: number;
  engaged: boolean;
  /** The scope that holds it; when none does, the requested one. */
  scope: KillSwitchScope | null;
  reason: string | null;
  actor: string | null;
  changedAt: Date | null;
  /** Agents that would be active but for the kill switch. */
  suspendedAgents: number;
}

export type KillSwitchService = ReturnType<typeof createKillSwitchService>;

export function createKillSwitchService({ db, applied, now }: KillSwitchServiceDeps) {
  /** @param order an order for all tenants; applied once, and never after a newer one */
  async function changeTenant(
    scope: TenantScope,
    reach: KillSwitchScope,
    change: KillSwitchChange,
    order?: FleetOrder,
  ): Promise<{ result: KillSwitchResult; enforced: Promise<unknown> | undefined }> {
    const { result, feedSeq } = await db.inTenantWithHeads(scope, async (tx) => {
      const before = await lockKillSwitch(tx);
      const fleetGeneration = order?.generation ?? before.fleetGeneration;
      if (order && before.fleetGeneration >= fleetGeneration) return describe(tx, before, reach);
      const scopes = change.lift ? scopesLeft(before, reach, scope) : [reach, ...before.scopes];
      const isLiftOfNothing = change.lift && scopes.length === before.scopes.length;
      if (isLiftOfNothing) {
        if (order) await writeKillSwitch(tx, { ...before, fleetGeneration }, now());
        return describe(tx, before, reach);
      }
      const at = now();
      const engaged = scopes.length > 0;
      const after: KillSwitch = {
        generation: before.generation + (change.lift ? 0 : 1),
        engaged,
        scopes: [...new Set(scopes)].sort(),
        reason: change.lift && engaged ? before.reason : change.reason,
        actor: scope.actor.username,
        engagedAt: change.lift ? before.engagedAt : at,
        liftedAt: change.lift ? at : before.liftedAt,
        fleetGeneration,
      };
      return write(tx, after, reach, change, at);
    });
    // Enforced once the local data plane has applied it.
    const enforced = feedSeq === undefined ? undefined : applied.wait(scope.tenantId, { feedSeq });
    return { result, enforced };
  }

  const fleet = createFleetKillSwitch({
    db,
    give: (scope, order) => changeTenant(scope, 'all', toChange(order), order),
    now,
  });

  return {
    read: (scope: TenantScope): Promise<KillSwitchResult> =>
      db.inTenant(scope, async (tx) => describe(tx, await readKillSwitch(tx), null)),

    /**
     * @throws AppError SUPER_ADMIN_REQUIRED when it would lift what a super-admin holds for all
     * tenants
     */
    change: async (scope: TenantScope, change: KillSwitchChange): Promise<KillSwitchResult> => {
      const { result, enforced } = await changeTenant(scope, 'tenant', change);
      await enforced;
      return result;
    },

    /**
     * Changes every tenant; each tenant's admin chain records the actor.
     *
     * @throws AppError UNAVAILABLE when it failed for some; it is stored and retried
     */
    changeAll: fleet.order,

    /** Finishes an unfinished order; called periodically by one replica. */
    finishAll: fleet.finish,

    /**
     * Applies the newest order for all tenants to a new tenant, in the transaction that creates it.
     */
    begin: async (tx: TenantTransaction): Promise<void> => {
      const order = await holdFleetOrder(tx);
      if (!order) return;
      const { generation: fleetGeneration, engaged } = order;
      const before = { ...(await lockKillSwitch(tx)), fleetGeneration };
      const at = now();
      if (!engaged) return writeKillSwitch(tx, before, at);
      const after: KillSwitch = {
        ...before,
        generation: before.generation + 1,
        engaged,
        scopes: ['all'],
        reason: order.reason,
        actor: order.actor.username,
        engagedAt: at,
      };
      await write(tx, after, 'all', toChange(order), at);
    },
  };
}

function toChange({ engaged, reason }: FleetOrder): KillSwitchChange {
  return { lift: !engaged, reason };
}

/** Writes the row, its fact for the data planes and its audit record. */
async function write(
  tx: TenantTransaction,
  after: KillSwitch,
  reach: KillSwitchScope,
  change: KillSwitchChange,
  at: Date,
): Promise<KillSwitchResult> {
  await writeKillSwitch(tx, after, at);
  const { generation, engaged, reason } = after;
  tx.feed.append({
    kind: 'kill_switch',
    key: 'tenant',
    value: { generation, engaged, reason, changed_at: at.toISOString() },
  });
  const result = await describe(tx, after, reach);
  tx.audit.append({
    action: change.lift ? 'kill_switch_lifted' : 'kill_switch_engaged',
    target: `tenant/${tx.scope.tenantId}`,
    details: {
      generation,
      scope: reach,
      engaged,
      reason: change.reason,
      suspended_agents: result.suspendedAgents,
    },
  });
  return result;
}

/** The scopes that still hold the switch after this one is lifted. */
function scopesLeft(
  { scopes }: KillSwitch,
  reach: KillSwitchScope,
  { actor }: TenantScope,
): KillSwitchScope[] {
  if (reach === 'all') return scopes.filter((scope) => scope !== 'all');
  // A super-admin who names a tenant lifts both.
  if (actor.role === 'super_admin') return [];
  const left = scopes.filter((scope) => scope !== 'tenant');
  if (left.length > 0 && left.length === scopes.length) {
    throw new AppError(
      'SUPER_ADMIN_REQUIRED',
      'A super-admin stopped all tenants, and only a super-admin may lift that.',
    );
  }
  return left;
}

async function describe(
  tx: TenantTransaction,
  state: KillSwitch,
  asked: KillSwitchScope | null,
): Promise<KillSwitchResult> {
  const { generation, engaged, scopes, reason, actor, engagedAt, liftedAt } = state;
  const times = [engagedAt, liftedAt].filter((time) => time !== null);
  const changedAt = times.sort((a, b) => b.getTime() - a.getTime())[0] ?? null;
  const holder = scopes.includes('all') ? 'all' : 'tenant';
  const suspendedAgents = engaged ? await countCaughtAgents(tx, generation) : 0;
  const scope = engaged ? holder : asked;
  const { tenantId } = tx.scope;
  return { tenantId, generation, engaged, scope, reason, actor, changedAt, suspendedAgents };
}
