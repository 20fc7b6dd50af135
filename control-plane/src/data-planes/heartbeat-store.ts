/** The heartbeats of data planes: the newest of each is kept, on its row. */
import type { Heartbeat } from '@governance/shared/channel/channels';
import { Id } from '@governance/shared/text';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { DataPlaneStanding, ShownHeartbeat } from './data-plane.ts';

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

export function heartbeatStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    /**
     * @param isStopped the new state of its stream; null keeps the old one
     * @returns undefined when the tenant has no such data plane
     */
    record: async (
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

    /** Those of the given data planes that sent one. */
    readLast: async (deploymentIds: string[]): Promise<Map<string, ShownHeartbeat>> => {
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
    },
  };
}
