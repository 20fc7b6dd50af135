/** Witnesses' cosignatures of the log, of the transaction's tenant. */

import type { StoredCheckpoint } from '../../chain/signed-place-rows.ts';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';

export interface WitnessState {
  witness: string;
  /** The log epoch and size that it cosigned last. */
  epoch: number;
  size: number;
  cosignedAt: Date | null;
  askedAt: Date;
  failure: string | null;
  failingSince: Date | null;
}

/** Limit per volume, whose members are bounded. */
const MAX_FIRST = 40;

export function witnessStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    list: async (): Promise<WitnessState[]> => {
      const rows = await db.logWitness.findMany({
        where: { tenantId },
        orderBy: { witness: 'asc' },
      });
      return rows.map(({ tenantId: _, size, ...row }) => ({ ...row, size: Number(size) }));
    },

    keep: async (
      witness: string,
      { epoch, size, root, note }: StoredCheckpoint,
      line: string,
      now: Date,
    ): Promise<void> => {
      const row = { tenantId, epoch, size: BigInt(size), witness, root, note, line, madeAt: now };
      await db.logCosignature.createMany({ data: [row], skipDuplicates: true });
      const cosigned = { epoch, size: BigInt(size), cosignedAt: now, askedAt: now };
      await db.logWitness.upsert({
        where: { tenantId_witness: { tenantId, witness } },
        create: { tenantId, witness, ...cosigned },
        update: { ...cosigned, failure: null, failingSince: null },
      });
    },

    fail: async (witness: string, failure: string, now: Date): Promise<void> => {
      await db.$executeRaw`
        INSERT INTO log_witnesses AS w (tenant_id, witness, asked_at, failure, failing_since)
        VALUES (${tenantId}::uuid, ${witness}, ${now}, ${failure}, ${now})
        ON CONFLICT (tenant_id, witness) DO UPDATE SET asked_at = ${now}, failure = ${failure},
          failing_since = coalesce(w.failing_since, ${now})`;
    },

    /** For each witness, its line for the smallest size in the range that it cosigned. */
    listFirst: async (wanted: {
      epoch: number;
      from: number;
      to: number;
      after: Date;
    }): Promise<{ size: number; note: string; line: string }[]> => {
      const { epoch, from, to, after } = wanted;
      const rows = await db.$queryRaw<{ size: bigint; note: string; line: string }[]>`
        SELECT DISTINCT ON (witness) size, note, line FROM log_cosignatures
        WHERE tenant_id = ${tenantId}::uuid AND epoch = ${epoch} AND made_at > ${after}
          AND size BETWEEN ${from} AND ${to}
        ORDER BY witness, size LIMIT ${MAX_FIRST}`;
      return rows.map(({ size, ...row }) => ({ ...row, size: Number(size) }));
    },

    /** Thins out lines made before a time, and keeps the largest size of each witness and hour. */
    thin: async (before: Date): Promise<void> => {
      await db.$executeRaw`
        DELETE FROM log_cosignatures c WHERE tenant_id = ${tenantId}::uuid AND made_at < ${before}
          AND EXISTS (
            SELECT 1 FROM log_cosignatures later WHERE later.tenant_id = c.tenant_id
              AND later.witness = c.witness AND later.epoch = c.epoch AND later.size > c.size
              AND later.made_at < date_trunc('hour', c.made_at) + interval '1 hour')`;
    },
  };
}
