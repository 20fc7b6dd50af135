/** The positions in the log that data planes keep, of the transaction's tenant. */
import { ContradictionReason, type SeenCheckpoint } from '@governance/shared/evidence/log-watch';
import { Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import type { Page } from '../../platform/database/page.ts';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';

export interface LogWatch extends SeenCheckpoint {
  deploymentId: string;
  label: string;
  seenAt: Date;
  /** What its last heartbeat says of contradictions; null where that says nothing readable. */
  reported: z.infer<typeof Reported> | null;
}

const Reported = z.object({
  contradictions: z.int().nonnegative(),
  /** Why the last one was counted. */
  reason: ContradictionReason.nullable(),
  at: Timestamp.nullable(),
});

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

    list: async (page: Page) => {
      // A page of whole heartbeats may have 64 MiB.
      const rows = await db.$queryRaw<
        {
          deployment_id: string;
          label: string | null;
          epoch: number;
          size: bigint;
          root: string;
          note: string;
          seen_at: Date;
          reported: unknown;
        }[]
      >`
        SELECT w.deployment_id, p.label, w.epoch, w.size, w.root, w.note, w.seen_at,
          json_build_object('contradictions', b.report -> 'contradictions',
            'reason', b.report -> 'contradicted' -> 'reason',
            'at', b.report -> 'contradicted' -> 'at') AS reported
        FROM log_watches w LEFT JOIN data_planes p
          ON p.tenant_id = w.tenant_id AND p.deployment_id = w.deployment_id
        LEFT JOIN LATERAL (SELECT p.last_heartbeat::json -> 'log_watch' AS report) b ON true
        WHERE w.tenant_id = ${tenantId}::uuid
        ORDER BY w.epoch DESC, w.size DESC, w.deployment_id OFFSET ${page.offset} LIMIT ${page.limit}`;
      const total = await db.logWatch.count({ where: { tenantId } });
      const watches = rows.map(
        ({ deployment_id, label, size, seen_at, reported, ...row }): LogWatch => ({
          ...row,
          deploymentId: deployment_id,
          label: label ?? '',
          size: Number(size),
          seenAt: seen_at,
          reported: Reported.safeParse(reported).data ?? null,
        }),
      );
      return { watches, total };
    },

    /** The number of recorded `log_went_back` breaks. */
    countBreaks: () => db.chainBreak.count({ where: { tenantId, kind: 'log_went_back' } }),
  };
}
