/**
 * The operator's word that the database was restored from a backup, in every tenant's admin chain.
 * It says why data planes know heads that the chain does not have, and verifies nothing: the break
 * stays, explained. No route of the API leads here, or an administrator could explain away what was
 * cut. Proven by announce-restore.pg.test.ts.
 */
import { CONTROL_PLANE_RESTORED } from '../audit/admin-facts.ts';
import { forEachTenant } from '../data-planes/each-tenant.ts';
import type { TenantDatabase, TenantTransaction } from '../platform/tenant-scope.ts';

export interface AnnouncedRestore {
  tenantId: string;
  /** Where the admin chain stood when it was announced: what the backup held, and what came since. */
  restored: { stream: string; epoch: number; seq: number; hash: string };
  /** The highest head that data planes have reported and the chain does not have. */
  lost: { position: string; signedAt: string | null } | null;
}

/**
 * @param announced.operator who says so: the login at the machine
 * @returns what was recorded, a tenant each
 */
export async function announceRestore(
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>,
  announced: { reason: string; operator: string },
): Promise<AnnouncedRestore[]> {
  const done: AnnouncedRestore[] = [];
  const { reason, operator } = announced;
  const actor = { id: 'local-operator', username: operator, role: 'system' as const };
  await forEachTenant(db, new AbortController().signal, async (tenantId) => {
    const restore = await db.inTenant({ tenantId, actor }, async (tx) => {
      const found = { tenantId, restored: await readHead(tx), lost: await findLost(tx) };
      tx.audit.append({
        action: CONTROL_PLANE_RESTORED,
        target: `tenant/${tenantId}`,
        details: {
          reason,
          restored: found.restored,
          lost: found.lost && { position: found.lost.position, signed_at: found.lost.signedAt },
        },
      });
      return found;
    });
    done.push(restore);
  });
  return done;
}

async function readHead({ db, scope: { tenantId } }: TenantTransaction) {
  const head = await db.tenantHead.findUniqueOrThrow({ where: { tenantId } });
  const { adminStream: stream, adminEpoch: epoch, adminSeq, adminHead: hash } = head;
  return { stream, epoch, seq: Number(adminSeq), hash };
}

async function findLost({ db, scope: { tenantId } }: TenantTransaction) {
  const found = await db.chainBreak.findFirst({
    where: { tenantId, kind: 'admin_head_went_back', acknowledgedAt: null },
    orderBy: [{ epoch: 'desc' }, { seq: 'desc' }],
  });
  if (!found) return null;
  return { position: found.expected ?? '', signedAt: found.signedAt?.toISOString() ?? null };
}
