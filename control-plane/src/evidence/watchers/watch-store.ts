/** The positions in the log that data planes keep, of the transaction's tenant. */
import type { SeenCheckpoint } from '@governance/shared/evidence/log-watch';
import type { TenantTransaction } from '../../platform/tenant-scope.ts';

export interface LogWatch extends SeenCheckpoint {
  deploymentId: string;
  label: string;
  seenAt: Date;
  /** Its last heartbeat, as JSON, with its report of contradictions; null before the first. */
  lastHeartbeat: string | null;
}

export function watchStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    /** One row per data plane: its highest position. */
    remember: async (deploymentId: string, seen: SeenCheckpoint, now: Date): Promise<void> => {
      const { epoch, size, root, note } = seen;
      await db.$executeRaw`
        INSERT INTO log_watches AS w (tenant_id, deployment_id, epoch, size, root, note, seen_at)
        VALUES (${tenantId}::uuid, ${deploymentId}::uuid, ${epoch}, ${size}, ${root}, ${note}, ${now})
        ON CONFLICT (tenant_id, deployment_id) DO UPDATE SET epoch = excluded.epoch,
          size = excluded.size, root = excluded.root, note = excluded.note, seen_at = excluded.seen_at
        WHERE (excluded.epoch, excluded.size) > (w.epoch, w.size)`;
    },

    list: async ({ offset, limit }: { offset: number; limit: number }) => {
      const rows = await db.$queryRaw<
        {
          deployment_id: string;
          label: string | null;
          epoch: number;
          size: bigint;
          root: string;
          note: string;
          seen_at: Date;
          last_heartbeat: string | null;
        }[]
      >`
        SELECT w.deployment_id, p.label, w.epoch, w.size, w.root, w.note, w.seen_at,
          p.last_heartbeat
        FROM log_watches w LEFT JOIN data_planes p
          ON p.tenant_id = w.tenant_id AND p.deployment_id = w.deployment_id
        WHERE w.tenant_id = ${tenantId}::uuid
        ORDER BY w.epoch DESC, w.size DESC, w.deployment_id OFFSET ${offset} LIMIT ${limit}`;
      const total = await db.logWatch.count({ where: { tenantId } });
      const watches = rows.map(
        ({ deployment_id, label, size, seen_at, last_heartbeat, ...row }): LogWatch => ({
          ...row,
          deploymentId: deployment_id,
          label: label ?? '',
          size: Number(size),
          seenAt: seen_at,
          lastHeartbeat: last_heartbeat,
        }),
      );
      return { watches, total };
    },

    /** The number of recorded `log_went_back` breaks. */
    countBreaks: () => db.chainBreak.count({ where: { tenantId, kind: 'log_went_back' } }),
  };
}
