/**
 * Records in every tenant's admin chain that the operator restored the database from a backup, and
 * begins the next epoch of every tenant's log. The record explains why data planes and witnesses
 * remember heads and checkpoints that are missing here. It does not make the chain valid: the break
 * remains, marked as explained. No API route calls this, since an administrator could otherwise
 * explain away removed records. Proven by admin-chain-cut.pg.test.ts and log-epochs.pg.test.ts.
 */
import type { LogEpoch } from '@governance/shared/evidence/evidence-keys';
import { CONTROL_PLANE_RESTORED } from '../chain/admin-facts.ts';
import { beginLogEpoch, type LogEpochSigner } from '../evidence/begin-log-epoch.ts';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import type { TenantDatabase, TenantTransaction } from '../platform/database/tenant-scope.ts';
import { beginClockGeneration } from '../platform/keys/standing-clock.ts';

export interface AnnouncedRestore {
  tenantId: string;
  /**
   * The head of the admin chain at the announcement: the chain of the backup, and the records
   * since.
   */
  restored: { stream: string; epoch: number; seq: number; hash: string };
  /** The highest head that data planes have reported and that the chain lacks. */
  lost: { position: string; signedAt: string | null } | null;
  /** How the log continues. */
  logEpoch: LogEpoch;
}

export interface RestoreToAnnounce {
  reason: string;
  /** The login at the machine. */
  operator: string;
  /** The key for checkpoints. */
  signer: LogEpochSigner;
  now: () => Date;
  /** Called for each tenant, as soon as its transaction is committed. */
  onAnnounced?: (restore: AnnouncedRestore) => void;
  /** Called for each tenant whose transaction failed: the others are announced all the same. */
  onFailed?: (tenantId: string, error: unknown) => void;
}

/**
 * One transaction per tenant: record and epoch commit together, and the first one's with the next
 * generation of the clock, since data planes may have met a later one than the backup has.
 *
 * @throws the first failure, after all tenants were tried
 */
export async function announceRestore(
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>,
  announced: RestoreToAnnounce,
): Promise<void> {
  let isFirst = true;
  await forEachTenant(db, new AbortController().signal, async (tenantId) => {
    try {
      const restore = await announceTo(db, tenantId, announced, isFirst);
      isFirst = false;
      announced.onAnnounced?.(restore);
    } catch (error) {
      announced.onFailed?.(tenantId, error);
      throw error;
    }
  });
}

function announceTo(
  db: Pick<TenantDatabase, 'inTenant'>,
  tenantId: string,
  { reason, operator, signer, now }: RestoreToAnnounce,
  isFirst: boolean,
): Promise<AnnouncedRestore> {
  const actor = { id: 'local-operator', username: operator, role: 'system' as const };
  return db.inTenant({ tenantId, actor }, async (tx) => {
    if (isFirst) await beginClockGeneration(tx, now());
    const logEpoch = await beginLogEpoch(tx, signer, now());
    const found = { tenantId, restored: await readHead(tx), lost: await findLost(tx), logEpoch };
    tx.audit.append({
      action: CONTROL_PLANE_RESTORED,
      target: `tenant/${tenantId}`,
      details: {
        reason,
        restored: found.restored,
        lost: found.lost && { position: found.lost.position, signed_at: found.lost.signedAt },
        log_epoch: {
          epoch: logEpoch.epoch,
          restored: logEpoch.restored,
          highest_lost: logEpoch.highest_lost,
        },
      },
    });
    return found;
  });
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
