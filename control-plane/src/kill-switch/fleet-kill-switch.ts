/**
 * The kill switch of all tenants. The order is committed before any tenant is changed; each tenant
 * applies it once, in its own transaction, with its own audit record. So nothing is lost when a
 * replica dies in between: the leader finishes the rest, and repeating is safe. A tenant created
 * while it is engaged begins with it engaged. Proven by fleet-kill-switch.pg.test.ts.
 */
import { AppError } from '@governance/shared/errors';
import {
  type Actor,
  SYSTEM_ACTOR,
  type TenantDatabase,
  type TenantScope,
} from '../platform/database/tenant-scope.ts';
import {
  type FleetOrder,
  findFleetOrder,
  markFleetOrderDone,
  writeFleetOrder,
} from './fleet-order-store.ts';

/** Tenants processed concurrently. */
const PARALLEL_TENANTS = 4;

export interface FleetKillSwitchDeps<R> {
  db: Pick<TenantDatabase, 'inPlatform'>;
  /**
   * Applies the order to one tenant. Returns after the commit; `enforced` resolves once it is
   * enforced.
   */
  give(
    scope: TenantScope,
    order: FleetOrder,
  ): Promise<{ result: R; enforced: Promise<unknown> | undefined }>;
  now: () => Date;
}

export interface FleetResult<R> {
  order: FleetOrder;
  tenants: R[];
}

export function createFleetKillSwitch<R>({ db, give, now }: FleetKillSwitchDeps<R>) {
  async function giveToAll(order: FleetOrder): Promise<FleetResult<R>> {
    const tenants = await db.inPlatform(order.actor, (tx) =>
      tx.db.tenant.findMany({ select: { id: true }, orderBy: { id: 'asc' } }),
    );
    const { actor, requestId } = order;
    const waiting = tenants.map((tenant) => tenant.id);
    const results: R[] = [];
    const failures: unknown[] = [];
    const enforcing: Promise<unknown>[] = [];
    const fail = (error: unknown) => void failures.push(error);
    const work = async () => {
      for (let tenantId = waiting.shift(); tenantId; tenantId = waiting.shift()) {
        const scope = { tenantId, actor, requestId, breakGlass: true };
        try {
          const { result, enforced } = await give(scope, order);
          results.push(result);
          // Awaited at the end, so that a slow tenant does not delay the next.
          if (enforced) enforcing.push(enforced.catch(fail));
        } catch (error) {
          fail(error);
        }
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_TENANTS }, work));
    if (results.length === tenants.length) {
      await db.inPlatform(order.actor, (tx) => markFleetOrderDone(tx, order.generation));
    }
    await Promise.all(enforcing);
    if (failures.length > 0) {
      throw new AppError(
        'UNAVAILABLE',
        `The order is stored, and took effect in ${results.length} of ${tenants.length} tenants. The rest is retried; repeating is safe.`,
        { cause: new AggregateError(failures) },
      );
    }
    return { order, tenants: results };
  }

  return {
    /** @throws AppError UNAVAILABLE when it failed for some; it is stored and retried */
    order: async (
      actor: Actor,
      change: { lift: boolean; reason: string | null },
      requestId: string,
    ): Promise<FleetResult<R>> => {
      const order = await db.inPlatform(actor, (tx) =>
        writeFleetOrder(tx, {
          engaged: !change.lift,
          reason: change.reason,
          actor,
          requestId,
          changedAt: now(),
        }),
      );
      return giveToAll(order);
    },

    /** Finishes what a dead replica or an unreachable database left unfinished. */
    finish: async (): Promise<void> => {
      const order = await db.inPlatform(SYSTEM_ACTOR, findFleetOrder);
      if (order && order.doneGeneration < order.generation) await giveToAll(order);
    },
  };
}
