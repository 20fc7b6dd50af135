import { type LedgerRow, type RawLedgerRow, toLedgerRow } from '../../chain/ledger-row.ts';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { Prisma } from '../../platform/generated/client.ts';
import { EXPORTED_TYPES } from './event-metadata.ts';

export interface ExportRange {
  /** Half-open, by the writer's clock: from <= timestamp < to. */
  from: Date | null;
  to: Date | null;
}

/** Positions: after < position <= until. */
export interface Stretch {
  after: number;
  until: number;
}

/** The tenant's exported events in their order of receipt, which is the order of positions. */
export function exportStore({ db, scope: { tenantId } }: TenantTransaction) {
  const where = ({ from, to }: ExportRange, { after, until }: Stretch) => {
    const conditions = [
      Prisma.sql`tenant_id = ${tenantId}::uuid AND position > ${after} AND position <= ${until}`,
      Prisma.sql`type IN (${Prisma.join([...EXPORTED_TYPES])})`,
    ];
    if (from) conditions.push(Prisma.sql`event_time >= ${from}`);
    if (to) conditions.push(Prisma.sql`event_time < ${to}`);
    return Prisma.join(conditions, ' AND ');
  };
  return {
    newestPosition: async (): Promise<number> => {
      const row = await db.tenantPosition.findUnique({ where: { tenantId } });
      return Number(row?.position ?? 0);
    },

    count: async (range: ExportRange, stretch: Stretch): Promise<number> => {
      const [row] = await db.$queryRaw<{ count: bigint }[]>`
        SELECT count(*) AS count FROM ledger_records WHERE ${where(range, stretch)}`;
      return Number(row?.count ?? 0);
    },

    positions: async (range: ExportRange, stretch: Stretch, limit: number): Promise<number[]> => {
      const rows = await db.$queryRaw<{ position: bigint }[]>`
        SELECT position FROM ledger_records WHERE ${where(range, stretch)}
        ORDER BY position LIMIT ${limit}`;
      return rows.map(({ position }) => Number(position));
    },

    /** The next records: at most `limit` records and about `bytes` bytes, but at least one. */
    read: async (
      range: ExportRange,
      stretch: Stretch,
      { limit, bytes }: { limit: number; bytes: number },
    ): Promise<LedgerRow[]> => {
      const rows = await db.$queryRaw<RawLedgerRow[]>`
        SELECT position, type, id, agent_id, policy_result, event_time, received_at, stream, epoch,
          seq, hash, prev_hash, bytes
        FROM (
          SELECT *, sum(octet_length(bytes)) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING)
            - octet_length(bytes) AS before
          FROM ledger_records WHERE ${where(range, stretch)} ORDER BY position LIMIT ${limit}
        ) step
        WHERE before < ${bytes} ORDER BY position`;
      return rows.map(toLedgerRow);
    },
  };
}
