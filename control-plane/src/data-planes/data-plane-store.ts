import { type Page, rowsOf } from '../platform/database/page.ts';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { Attestation } from '../platform/keys/row-attestations.ts';
import type { DataPlane, DataPlaneStanding, ListedDataPlane } from './data-plane.ts';
import { withoutToken } from './data-plane-token-store.ts';
import { heartbeatStore } from './heartbeat-store.ts';

type Row = Omit<
  Awaited<ReturnType<TenantTransaction['db']['dataPlane']['findFirstOrThrow']>>,
  'lastHeartbeat'
>;

/** A heartbeat is read by those who need it, and only in part. */
const omit = { lastHeartbeat: true } as const;

/** What a data plane reports about itself. */
export type DataPlaneDescription = Pick<
  DataPlane,
  'label' | 'region' | 'version' | 'signingKey' | 'sealingKey' | 'tokenKey'
>;

export function dataPlaneStore(tx: TenantTransaction) {
  const {
    db,
    scope: { tenantId },
  } = tx;
  const at = (deploymentId: string) => ({ tenantId_deploymentId: { tenantId, deploymentId } });

  return {
    /**
     * Serialises registrations, new tokens and revocations of a tenant, so that nothing derives
     * from a token being revoked.
     */
    lockRegistrations: (): Promise<void> => lockInTenant(db, 'data-planes', tenantId),

    /** @param x the public key's coordinate, base64url */
    findBySigningKey: async (x: string): Promise<DataPlane | undefined> => {
      const [found] = await db.$queryRaw<{ id: string }[]>`
        SELECT deployment_id AS id FROM data_planes
        WHERE tenant_id = ${tenantId}::uuid AND signing_key::json ->> 'x' = ${x}`;
      if (!found) return undefined;
      return toDataPlane(await db.dataPlane.findUniqueOrThrow({ where: at(found.id), omit }));
    },

    find: async (deploymentId: string): Promise<DataPlane | undefined> => {
      const row = await db.dataPlane.findUnique({ where: at(deploymentId), omit });
      return row ? toDataPlane(row) : undefined;
    },

    /**
     * Data planes that are neither revoked nor forked, and did not lose all their tokens. That of
     * a standalone process never had one.
     */
    countActive: async (): Promise<number> => {
      const [row] = await db.$queryRaw<{ count: bigint }[]>`
        SELECT count(*) FROM data_planes p
        WHERE p.tenant_id = ${tenantId}::uuid AND p.status = 'active'
          AND p.deployment_id NOT IN (${withoutToken(tenantId)})`;
      return Number(row?.count);
    },

    create: async (
      deploymentId: string,
      described: DataPlaneDescription & Attestation,
      now: Date,
    ) => {
      const times = { createdAt: now, updatedAt: now };
      await db.dataPlane.create({ data: { tenantId, deploymentId, ...described, ...times } });
    },

    update: async (
      deploymentId: string,
      described: DataPlaneDescription & Attestation,
      now: Date,
    ) => {
      const data = { ...described, updatedAt: now };
      await db.dataPlane.update({ where: at(deploymentId), data });
    },

    /** @returns whether the standing changed, which requires that it was one of `from` */
    setStanding: async (
      deploymentId: string,
      standing: DataPlaneStanding,
      { from, now }: { from: DataPlaneStanding[]; now: Date },
    ): Promise<boolean> => {
      const { count } = await db.dataPlane.updateMany({
        where: { tenantId, deploymentId, status: { in: from } },
        data: { status: standing, statusAt: now },
      });
      return count > 0;
    },

    count: (): Promise<number> => db.dataPlane.count({ where: { tenantId } }),

    /** In the order of their registration. */
    list: async (page: Page): Promise<ListedDataPlane[]> => {
      const rows = await db.dataPlane.findMany({
        where: { tenantId },
        omit,
        orderBy: [{ createdAt: 'asc' }, { deploymentId: 'asc' }],
        ...rowsOf(page),
      });
      const beats = await heartbeatStore(tx).readLast(rows.map(({ deploymentId }) => deploymentId));
      return rows.map((row) => ({
        ...toDataPlane(row),
        lastHeartbeat: beats.get(row.deploymentId) ?? null,
      }));
    },

    /** The newest entry of the tenant's feed. */
    feedHead: async (): Promise<number> => {
      const where = { tenantId };
      const head = await db.tenantHead.findUniqueOrThrow({ where, select: { feedSeq: true } });
      return Number(head.feedSeq);
    },

    /** Revisions of the tenant's bundles that are kept, ascending. */
    bundleRevisions: async (): Promise<number[]> =>
      (
        await db.bundle.findMany({
          where: { tenantId },
          select: { revision: true },
          orderBy: { revision: 'asc' },
        })
      ).map(({ revision }) => Number(revision)),
  };
}

function toDataPlane(row: Row): DataPlane {
  return {
    deploymentId: row.deploymentId,
    label: row.label,
    region: row.region,
    version: row.version,
    signingKey: row.signingKey,
    sealingKey: row.sealingKey,
    tokenKey: row.tokenKey,
    recordId: row.recordId,
    attestation: row.attestation,
    lastHeartbeatAt: row.lastHeartbeatAt,
    standing: row.status as DataPlaneStanding,
    feedCursor: row.feedCursor === null ? null : Number(row.feedCursor),
    feedReadAt: row.feedReadAt,
    backlogRecords: row.backlogRecords === null ? null : Number(row.backlogRecords),
    createdAt: row.createdAt,
  };
}
