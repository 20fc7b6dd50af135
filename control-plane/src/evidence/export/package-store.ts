/** Rows of evidence packages, of the transaction's tenant. */
import { readStored } from '../../platform/database/damaged-rows.ts';
import { type Page, rowsOf } from '../../platform/database/page.ts';
import { lockInTenant } from '../../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { type EvidenceRequest, ExportPlan, type PackageStatus } from './evidence-request.ts';

export interface StoredVolume {
  number: number;
  id: string;
  events: number;
  /** How many of the events are records that cannot be read. */
  unread: number;
  size: number;
  sha256: string;
  manifestDigest: string;
  madeAt: Date;
}

export interface StoredPackage extends EvidenceRequest {
  status: PackageStatus;
  requestedBy: string;
  requestedAt: Date;
  plan: ExportPlan | null;
  attempts: number;
  startedAt: Date | null;
  finishedAt: Date | null;
  failure: string | null;
  expiresAt: Date;
  volumes: StoredVolume[];
}

type Row = Awaited<ReturnType<TenantTransaction['db']['evidencePackage']['findFirstOrThrow']>>;

export function packageStore({ db, scope: { tenantId } }: TenantTransaction) {
  const readVolumes = async (ids: readonly string[]) =>
    db.evidenceVolume.findMany({
      where: { tenantId, packageId: { in: [...ids] } },
      orderBy: [{ packageId: 'asc' }, { number: 'asc' }],
    });

  const withVolumes = async (rows: readonly Row[]): Promise<StoredPackage[]> => {
    const volumes = await readVolumes(rows.map(({ id }) => id));
    return rows.map((row) => ({
      ...toPackage(row),
      volumes: volumes
        .filter(({ packageId }) => packageId === row.id)
        .map(({ tenantId: _, packageId: __, events, unread, size, ...volume }) => ({
          ...volume,
          events: Number(events),
          unread: Number(unread),
          size: Number(size),
        })),
    }));
  };

  return {
    /** Serialises requests until the transaction ends, since the number of packages is limited. */
    lock: (): Promise<void> => lockInTenant(db, 'evidence', tenantId),

    count: async (): Promise<{ all: number; open: number }> => ({
      all: await db.evidencePackage.count({ where: { tenantId } }),
      open: await db.evidencePackage.count({
        where: { tenantId, status: { in: ['queued', 'running'] } },
      }),
    }),

    insert: async (
      request: EvidenceRequest,
      made: { requestedBy: string; requestedAt: Date; expiresAt: Date },
    ): Promise<void> => {
      const { from, to, anchorSizes, ...rest } = request;
      const times = { fromTime: from, toTime: to };
      await db.evidencePackage.create({
        data: { tenantId, ...rest, ...times, anchorSizes: anchorSizes.map(BigInt), ...made },
      });
    },

    find: async (id: string): Promise<StoredPackage | undefined> => {
      const row = await db.evidencePackage.findUnique({ where: { tenantId_id: { tenantId, id } } });
      return row ? (await withVolumes([row]))[0] : undefined;
    },

    /** Newest first. */
    list: async (page: Page) => {
      const rows = await db.evidencePackage.findMany({
        where: { tenantId },
        orderBy: [{ requestedAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      const total = await db.evidencePackage.count({ where: { tenantId } });
      return { packages: await withVolumes(rows), total };
    },

    /** @returns false when there is no such package */
    remove: async (id: string): Promise<boolean> =>
      (await db.evidencePackage.deleteMany({ where: { tenantId, id } })).count > 0,

    listExpired: async (at: Date): Promise<string[]> => {
      const where = { tenantId, expiresAt: { lte: at } };
      const rows = await db.evidencePackage.findMany({ where, select: { id: true } });
      return rows.map(({ id }) => id);
    },

    /**
     * Claims the next package to make: a waiting one, or one whose run no longer sends heartbeats.
     *
     * @param deadAfterMs a heartbeat further ahead than this came before the clock was put back
     *
     * @returns undefined when there is none
     */
    claim: async (at: Date, deadAfterMs: number): Promise<string | undefined> => {
      const [from, to] = [at.getTime() - deadAfterMs, at.getTime() + deadAfterMs];
      const [row] = await db.$queryRaw<{ id: string }[]>`
        UPDATE evidence_packages SET status = 'running', attempts = attempts + 1,
          started_at = coalesce(started_at, ${at}), alive_at = ${at}
        WHERE tenant_id = ${tenantId}::uuid AND id = (
          SELECT id FROM evidence_packages WHERE tenant_id = ${tenantId}::uuid
            AND (status = 'queued' OR status = 'running'
              AND (alive_at < ${new Date(from)} OR alive_at > ${new Date(to)}))
          ORDER BY requested_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING id`;
      return row?.id;
    },

    /** @returns false when the package was deleted, or belongs to another run */
    setPlan: async (id: string, attempts: number, plan: ExportPlan): Promise<boolean> => {
      const where = { tenantId, id, attempts, status: 'running' };
      return (await db.evidencePackage.updateMany({ where, data: { plan } })).count > 0;
    },

    /** @returns false when the package was deleted, or belongs to another run */
    isRunning: async (id: string, attempts: number): Promise<boolean> =>
      (await db.evidencePackage.count({ where: { tenantId, id, attempts, status: 'running' } })) >
      0,

    /**
     * Renews a run's claim. @returns false when the package was deleted, or belongs to another run
     */
    touch: async (id: string, attempts: number, at: Date): Promise<boolean> => {
      const where = { tenantId, id, attempts, status: 'running' };
      return (await db.evidencePackage.updateMany({ where, data: { aliveAt: at } })).count > 0;
    },

    finish: async (
      id: string,
      attempts: number,
      end: { status: 'ready' | 'failed'; failure: string | null; at: Date; expiresAt: Date },
    ): Promise<boolean> => {
      const { at: finishedAt, ...data } = end;
      const where = { tenantId, id, attempts, status: 'running' };
      const { count } = await db.evidencePackage.updateMany({
        where,
        data: { ...data, finishedAt },
      });
      return count > 0;
    },

    insertVolume: async (packageId: string, volume: StoredVolume): Promise<void> => {
      const { events, unread, size, ...rest } = volume;
      const counts = { events: BigInt(events), unread: BigInt(unread), size: BigInt(size) };
      await db.evidenceVolume.create({ data: { tenantId, packageId, ...rest, ...counts } });
    },

    insertChunk: async (packageId: string, volume: number, n: number, bytes: Buffer) => {
      const data = { tenantId, packageId, volume, n, bytes: new Uint8Array(bytes) };
      await db.evidenceChunk.create({ data });
    },

    /** Deletes what an interrupted run stored of a volume. */
    dropChunks: async (packageId: string, volume: number): Promise<void> => {
      await db.evidenceChunk.deleteMany({ where: { tenantId, packageId, volume } });
    },

    findChunk: async (packageId: string, volume: number, n: number) => {
      const key = { tenantId, packageId, volume, n };
      const row = await db.evidenceChunk.findUnique({
        where: { tenantId_packageId_volume_n: key },
        select: { bytes: true },
      });
      return row?.bytes;
    },
  };
}

function toPackage(row: Row): Omit<StoredPackage, 'volumes'> {
  const { tenantId: _, aliveAt: __, fromTime: from, toTime: to, anchorSizes, plan, ...rest } = row;
  return {
    ...rest,
    ...{ from, to },
    anchorSizes: anchorSizes.map(Number),
    plan: plan === null ? null : readStored(ExportPlan, plan, `evidence_packages ${row.id}`),
    // The table's CHECK constraint guarantees it.
    status: row.status as PackageStatus,
  };
}
