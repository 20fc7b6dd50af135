import type { Heartbeat } from '@governance/shared/channels';
import { Id } from '@governance/shared/text';
import { type Page, rowsOf } from '../platform/page.ts';
import { lockInTenant } from '../platform/tenant-lock.ts';
import type { TenantTransaction } from '../platform/tenant-scope.ts';
import type {
  DataPlane,
  DataPlaneStanding,
  ListedDataPlane,
  ShownHeartbeat,
} from './data-plane.ts';
import { withoutToken } from './data-plane-token-store.ts';

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

/** The data plane whose heartbeat was stored. */
export interface RecordedHeartbeat {
  standing: DataPlaneStanding;
  label: string;
  /** Whether its stream was already marked as stopped. */
  wasStopped: boolean;
  /** The tenant's newest revision of rules. */
  newestRevision: number;
  /** The record of its stream that is to be stored next; undefined where its head is no head. */
  next: { epoch: number; seq: number } | undefined;
}

export function dataPlaneStore({ db, scope: { tenantId } }: TenantTransaction) {
  const at = (deploymentId: string) => ({ tenantId_deploymentId: { tenantId, deploymentId } });

  /** Those of the given data planes that sent one. */
  async function lastHeartbeats(deploymentIds: string[]): Promise<Map<string, ShownHeartbeat>> {
    const rows = await db.$queryRaw<{ id: string; beat: ShownHeartbeat }[]>`
      SELECT p.deployment_id AS id, json_build_object(
        'active_agent_count', b.active_agent_count, 'proxy_rpm_1m', b.proxy_rpm_1m,
        'escalations_pending', b.escalations_pending, 'uptime_seconds', b.uptime_seconds,
        -- Earlier versions stored longer ones.
        'opa_bundle_version', left(b.opa_bundle_version, 200), 'stream', b.stream) AS beat
      FROM data_planes p CROSS JOIN LATERAL json_to_record(p.last_heartbeat::json) AS b(
        active_agent_count json, proxy_rpm_1m json, escalations_pending json, uptime_seconds json,
        opa_bundle_version text, stream json)
      WHERE p.tenant_id = ${tenantId}::uuid AND p.deployment_id = ANY(${deploymentIds}::uuid[])
        AND p.last_heartbeat IS NOT NULL`;
    return new Map(rows.map(({ id, beat }) => [id, beat]));
  }

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

    create: async (deploymentId: string, description: DataPlaneDescription, now: Date) => {
      const times = { createdAt: now, updatedAt: now };
      await db.dataPlane.create({ data: { tenantId, deploymentId, ...description, ...times } });
    },

    update: async (deploymentId: string, description: DataPlaneDescription, now: Date) => {
      await db.dataPlane.update({
        where: at(deploymentId),
        data: { ...description, updatedAt: now },
      });
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

    /**
     * @param isStopped the new state of its stream; null keeps the old one
     * @returns undefined when the tenant has no such data plane
     */
    recordHeartbeat: async (
      { heartbeat, isStopped }: { heartbeat: Heartbeat; isStopped: boolean | null },
      now: Date,
    ): Promise<RecordedHeartbeat | undefined> => {
      if (!Id.safeParse(heartbeat.deployment_id).success) return undefined;
      const [row] = await db.$queryRaw<
        {
          standing: DataPlaneStanding;
          label: string;
          was_stopped: boolean;
          newest: bigint;
          epoch: number | null;
          seq: bigint | null;
        }[]
      >`
        WITH before AS (
          SELECT deployment_id, stream_stopped_at FROM data_planes
          WHERE tenant_id = ${tenantId}::uuid AND deployment_id = ${heartbeat.deployment_id}::uuid
          FOR UPDATE)
        UPDATE data_planes p SET last_heartbeat_at = ${now},
          last_heartbeat = ${JSON.stringify(heartbeat)},
          stream_stopped_at = CASE ${isStopped}::boolean
            WHEN true THEN COALESCE(p.stream_stopped_at, ${now})
            WHEN false THEN NULL
            ELSE p.stream_stopped_at END
        FROM before b LEFT JOIN stream_heads s
          ON s.tenant_id = ${tenantId}::uuid AND s.stream = b.deployment_id
        WHERE p.tenant_id = ${tenantId}::uuid AND p.deployment_id = b.deployment_id
        RETURNING p.status AS standing, p.label, b.stream_stopped_at IS NOT NULL AS was_stopped,
          s.epoch, s.next_seq AS seq,
          (SELECT bundle_revision FROM tenant_heads h WHERE h.tenant_id = p.tenant_id) AS newest`;
      if (!row) return undefined;
      const { standing, label, was_stopped: wasStopped, newest } = row;
      // Before a stream's first record its epoch is 0.
      const [epoch, seq] = [row.epoch || 1, Number(row.seq ?? 1)];
      const next = epoch > 0 && seq > 0 && Number.isSafeInteger(seq) ? { epoch, seq } : undefined;
      return { standing, label, wasStopped, newestRevision: Number(newest), next };
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
      const beats = await lastHeartbeats(rows.map(({ deploymentId }) => deploymentId));
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
    lastHeartbeatAt: row.lastHeartbeatAt,
    standing: row.status as DataPlaneStanding,
    feedCursor: row.feedCursor === null ? null : Number(row.feedCursor),
    feedReadAt: row.feedReadAt,
    backlogRecords: row.backlogRecords === null ? null : Number(row.backlogRecords),
    createdAt: row.createdAt,
  };
}
