import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

/**
 * Which agents a kill switch stops: the tenant's own, or, by a super-admin, those of all tenants.
 */
export type KillSwitchScope = 'tenant' | 'all';

export interface KillSwitch {
  /** Counts its engagements; 0 for never. */
  generation: number;
  /** Whether any scope holds it. */
  engaged: boolean;
  /**
   * The scopes that hold it. Each is lifted separately, so that lifting one does not lift another.
   */
  scopes: KillSwitchScope[];
  reason: string | null;
  /** Who changed it last. */
  actor: string | null;
  engagedAt: Date | null;
  liftedAt: Date | null;
  /** The last order for all tenants that reached this tenant. */
  fleetGeneration: number;
}

const NEVER_ENGAGED: KillSwitch = {
  generation: 0,
  engaged: false,
  scopes: [],
  reason: null,
  actor: null,
  engagedAt: null,
  liftedAt: null,
  fleetGeneration: 0,
};

/** The tenant's kill switch, for every feature that shows or decides an agent's status. */
export async function readKillSwitch({ db, scope }: TenantTransaction): Promise<KillSwitch> {
  const row = await db.killSwitch.findUnique({ where: { tenantId: scope.tenantId } });
  return row ? { ...row, scopes: row.scopes as KillSwitchScope[] } : NEVER_ENGAGED;
}

/** Reads and locks it until the end of the transaction, which serialises changes. */
export async function lockKillSwitch(tx: TenantTransaction): Promise<KillSwitch> {
  const { tenantId } = tx.scope;
  await tx.db.killSwitch.createMany({ data: [{ tenantId }], skipDuplicates: true });
  await tx.db.$queryRaw`
    SELECT 1 FROM kill_switches WHERE tenant_id = ${tenantId}::uuid FOR UPDATE`;
  return readKillSwitch(tx);
}

export async function writeKillSwitch(
  { db, scope: { tenantId } }: TenantTransaction,
  state: KillSwitch,
  now: Date,
): Promise<void> {
  const { generation, engaged, scopes, reason, actor, engagedAt, liftedAt } = state;
  const { fleetGeneration } = state;
  const change = { generation, engaged, scopes, reason, actor, engagedAt, liftedAt };
  await db.killSwitch.update({
    where: { tenantId },
    data: { ...change, fleetGeneration, updatedAt: now },
  });
}

/** Agents that would be active but for this generation of the kill switch. */
export function countCaughtAgents(
  { db, scope: { tenantId } }: TenantTransaction,
  generation: number,
): Promise<number> {
  return db.agent.count({
    where: { tenantId, status: 'active', killReleasedGeneration: { lt: generation } },
  });
}
