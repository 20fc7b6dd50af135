/** The newest order of the kill switch for all tenants, in one row of the platform. */
import type {
  Actor,
  PlatformTransaction,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';

export interface FleetOrder {
  /** The order's number. */
  generation: number;
  /** The newest order that reached every tenant. */
  doneGeneration: number;
  engaged: boolean;
  reason: string | null;
  actor: Actor;
  requestId: string;
  changedAt: Date;
}

/**
 * Held while a tenant is created and while an order is written, so that a new tenant reads the
 * order before or after a change.
 */
const LOCK = 'governance.fleet_kill_switch';

type Reads = Pick<TenantTransaction | PlatformTransaction, 'db'>;

/** @returns undefined when there never was one */
export async function findFleetOrder({ db }: Reads): Promise<FleetOrder | undefined> {
  const row = await db.fleetKillSwitch.findFirst();
  if (!row) return undefined;
  const { generation, doneGeneration, engaged, reason, requestId, changedAt } = row;
  const actor: Actor = { id: row.actorId, username: row.actorUsername, role: 'super_admin' };
  return { generation, doneGeneration, engaged, reason, actor, requestId, changedAt };
}

/**
 * The current order, for a tenant that this transaction creates; it cannot change before the
 * commit.
 */
export async function holdFleetOrder(tx: TenantTransaction): Promise<FleetOrder | undefined> {
  await tx.db.$executeRaw`SELECT pg_advisory_xact_lock_shared(hashtextextended(${LOCK}, 0))`;
  return findFleetOrder(tx);
}

/** Writes the next order once all tenants being created have committed. */
export async function writeFleetOrder(
  tx: PlatformTransaction,
  order: Omit<FleetOrder, 'generation' | 'doneGeneration'>,
): Promise<FleetOrder> {
  await tx.db.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${LOCK}, 0))`;
  const before = await findFleetOrder(tx);
  const { engaged, reason, actor, requestId, changedAt } = order;
  const generation = (before?.generation ?? 0) + 1;
  const row = { generation, engaged, reason, requestId, changedAt };
  const data = { ...row, actorId: actor.id, actorUsername: actor.username };
  await tx.db.fleetKillSwitch.upsert({ where: { one: true }, create: data, update: data });
  return { ...order, generation, doneGeneration: before?.doneGeneration ?? 0 };
}

/** Records that the order reached every tenant. */
export async function markFleetOrderDone(
  { db }: PlatformTransaction,
  generation: number,
): Promise<void> {
  await db.fleetKillSwitch.updateMany({
    where: { doneGeneration: { lt: generation } },
    data: { doneGeneration: generation },
  });
}
