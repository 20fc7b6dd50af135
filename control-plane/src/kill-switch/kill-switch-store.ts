import type { TenantTransaction } from '../platform/tenant-scope.ts';

export interface KillSwitch {
  /** Counts the times it was engaged; 0 for never. */
  generation: number;
  engaged: boolean;
  scope: 'tenant' | 'all' | null;
  reason: string | null;
  /** Who changed it last. */
  actor: string | null;
  engagedAt: Date | null;
  liftedAt: Date | null;
}

const NEVER_ENGAGED: KillSwitch = {
  generation: 0,
  engaged: false,
  scope: null,
  reason: null,
  actor: null,
  engagedAt: null,
  liftedAt: null,
};

/** The tenant's kill switch, for every feature that shows or decides an agent's status. */
export async function readKillSwitch({ db, scope }: TenantTransaction): Promise<KillSwitch> {
  const row = await db.killSwitch.findUnique({ where: { tenantId: scope.tenantId } });
  return row ? { ...row, scope: row.scope as KillSwitch['scope'] } : NEVER_ENGAGED;
}

/** Reads it and holds it to the end of the transaction, so that two changes follow each other. */
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
  const { generation, engaged, scope, reason, actor, engagedAt, liftedAt } = state;
  await db.killSwitch.update({
    where: { tenantId },
    data: { generation, engaged, scope, reason, actor, engagedAt, liftedAt, updatedAt: now },
  });
}
