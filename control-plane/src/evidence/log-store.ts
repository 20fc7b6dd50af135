/** The log's rows, of the transaction's tenant. */

import { SignedLogEpoch } from '@governance/shared/evidence/evidence-keys';
import { MAX_WATCHED_EPOCHS } from '@governance/shared/evidence/log-watch';
import type { StoredCheckpoint } from '../chain/signed-place-rows.ts';
import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { logTreeStore } from './log-tree-store.ts';

export interface LogHead {
  epoch: number;
  /** Leaves whose nodes are computed. */
  size: number;
  adminEpoch: number;
  adminSeq: number;
}

const NOTHING_YET: LogHead = { epoch: 1, size: 0, adminEpoch: 0, adminSeq: 0 };

export function logStore(tx: TenantTransaction) {
  const {
    db,
    scope: { tenantId },
  } = tx;
  const toCheckpoint = (row: Awaited<ReturnType<typeof db.logCheckpoint.findFirstOrThrow>>) => {
    const { epoch, size, root, note, madeAt } = row;
    return { epoch, size: Number(size), root, note, madeAt } satisfies StoredCheckpoint;
  };

  return {
    ...logTreeStore(tx),

    findHead: async (): Promise<LogHead> => {
      const row = await db.logHead.findUnique({ where: { tenantId } });
      if (!row) return NOTHING_YET;
      const { epoch, size, adminEpoch, adminSeq } = row;
      return { epoch, size: Number(size), adminEpoch, adminSeq: Number(adminSeq) };
    },

    /** Serialises the log's growth after ingest, until the transaction ends. */
    lockHead: async (): Promise<LogHead> => {
      const [row] = await db.$queryRaw<
        { epoch: number; size: bigint; admin_epoch: number; admin_seq: bigint }[]
      >`INSERT INTO log_heads (tenant_id) VALUES (${tenantId}::uuid)
        ON CONFLICT (tenant_id) DO UPDATE SET updated_at = now()
        RETURNING epoch, size, admin_epoch, admin_seq`;
      if (!row) throw new Error('the log has no head');
      return {
        epoch: row.epoch,
        size: Number(row.size),
        adminEpoch: row.admin_epoch,
        adminSeq: Number(row.admin_seq),
      };
    },

    moveAdminEnd: async ({ adminEpoch, adminSeq }: Pick<LogHead, 'adminEpoch' | 'adminSeq'>) => {
      const data = { adminEpoch, adminSeq: BigInt(adminSeq) };
      await db.logHead.update({ where: { tenantId }, data });
    },

    moveEpoch: async (epoch: number): Promise<void> => {
      await db.logHead.update({ where: { tenantId }, data: { epoch } });
    },

    insertCheckpoint: async (checkpoint: StoredCheckpoint): Promise<void> => {
      const { size, ...rest } = checkpoint;
      await db.logCheckpoint.createMany({
        data: [{ tenantId, size: BigInt(size), ...rest }],
        skipDuplicates: true,
      });
    },

    /** The newest checkpoint, of the given epoch and size if given. */
    findCheckpoint: async (wanted: {
      epoch?: number;
      size?: number;
    }): Promise<StoredCheckpoint | undefined> => {
      const { epoch, size } = wanted;
      const row = await db.logCheckpoint.findFirst({
        where: {
          tenantId,
          ...(epoch === undefined ? {} : { epoch }),
          ...(size === undefined ? {} : { size: BigInt(size) }),
        },
        orderBy: [{ epoch: 'desc' }, { size: 'desc' }],
      });
      return row ? toCheckpoint(row) : undefined;
    },

    listCheckpoints: async (size: number | undefined, page: Page) => {
      const where = { tenantId, ...(size === undefined ? {} : { size: BigInt(size) }) };
      const rows = await db.logCheckpoint.findMany({
        where,
        orderBy: [{ epoch: 'desc' }, { size: 'desc' }],
        ...rowsOf(page),
      });
      const total = await db.logCheckpoint.count({ where });
      return { checkpoints: rows.map(toCheckpoint), total };
    },

    /**
     * The signed statements of log epochs from this one on, ascending; at most MAX_WATCHED_EPOCHS.
     */
    listEpochs: async (from: number): Promise<SignedLogEpoch[]> => {
      const rows = await db.logEpoch.findMany({
        where: { tenantId, epoch: { gte: from } },
        orderBy: { epoch: 'asc' },
        take: MAX_WATCHED_EPOCHS,
      });
      return rows.map(({ statement, kid, signature }) =>
        SignedLogEpoch.parse({ statement: JSON.parse(statement), kid, signature }),
      );
    },

    /** Thins out checkpoints made before a time, and keeps the largest of each hour. */
    thinCheckpoints: async (before: Date): Promise<void> => {
      await db.$executeRaw`
        DELETE FROM log_checkpoints c WHERE tenant_id = ${tenantId}::uuid AND made_at < ${before}
          AND EXISTS (
            SELECT 1 FROM log_checkpoints later WHERE later.tenant_id = c.tenant_id
              AND later.epoch = c.epoch AND later.size > c.size
              AND later.made_at >= c.made_at
              AND later.made_at < date_trunc('hour', c.made_at) + interval '1 hour')`;
    },
  };
}
