/**
 * Senders of heartbeats with a root's token that never registered. They are listed and otherwise
 * ignored. A tenant keeps the 100 heard last, so that live ones stay listed however many ids
 * somebody invents, and drops those silent for a week.
 */

import { Heartbeat } from '@governance/shared/channel/channels';
import { CLOCK_JUMP_MS } from '@governance/shared/time/clock-jumps';
import { DAY_MS } from '@governance/shared/time/durations';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

const MAX_UNREGISTERED = 100;
/** Characters of the bundle version that are shown. */
const MAX_VERSION = 200;
const KEPT_MS = 7 * DAY_MS;

export interface UnregisteredPlane {
  deploymentId: string;
  /** The label of the root whose token was presented. */
  label: string;
  region: string;
  firstHeartbeatAt: Date;
  lastHeartbeatAt: Date;
  lastHeartbeat: Heartbeat;
}

export function unregisteredPlaneStore({ db, scope: { tenantId } }: TenantTransaction) {
  const keptSince = (now: Date) => new Date(now.getTime() - KEPT_MS);
  /** What was heard later than this was heard before the clock was put back, and not since. */
  const notAfter = (now: Date) => new Date(now.getTime() + CLOCK_JUMP_MS);
  return {
    /** Stores only the specification's fields of a heartbeat. */
    recordHeartbeat: async (given: Heartbeat, tokenId: string, now: Date): Promise<void> => {
      const { deployment_id: deploymentId } = given;
      const kept = Heartbeat.pick(SPECIFIED).parse(given);
      const version = kept.opa_bundle_version.slice(0, MAX_VERSION).toWellFormed();
      const lastHeartbeat = JSON.stringify({ ...kept, opa_bundle_version: version });
      const heartbeat = { tokenId, lastHeartbeatAt: now, lastHeartbeat };
      const where = { tenantId, deploymentId };
      const known = await db.unregisteredPlane.updateMany({ where, data: heartbeat });
      if (known.count > 0) return;
      // Serialises insertion, since two concurrent inserts would exceed the limit.
      await lockInTenant(db, 'unregistered', tenantId);
      await db.unregisteredPlane.upsert({
        where: { tenantId_deploymentId: where },
        create: { ...where, ...heartbeat, firstHeartbeatAt: now },
        update: heartbeat,
      });
      await db.$executeRaw`
        DELETE FROM unregistered_planes
        WHERE tenant_id = ${tenantId}::uuid AND (
          last_heartbeat_at < ${keptSince(now)} OR last_heartbeat_at > ${notAfter(now)}
          OR deployment_id IN (
            SELECT deployment_id FROM unregistered_planes
            WHERE tenant_id = ${tenantId}::uuid AND last_heartbeat_at <= ${notAfter(now)}
            -- Of those heard in the same millisecond, keeps the one just stored.
            ORDER BY last_heartbeat_at DESC, (deployment_id = ${deploymentId}) DESC, deployment_id
            OFFSET ${MAX_UNREGISTERED}))`;
    },

    /** Those heard most recently first. */
    list: async (now: Date): Promise<UnregisteredPlane[]> => {
      const rows = await db.$queryRaw<RawPlane[]>`
        SELECT p.deployment_id, p.first_heartbeat_at, p.last_heartbeat_at, p.last_heartbeat,
          COALESCE(t.label, '') AS label, COALESCE(t.region, '') AS region
        FROM unregistered_planes p
        LEFT JOIN data_plane_tokens t ON t.tenant_id = p.tenant_id AND t.id = p.token_id
        WHERE p.tenant_id = ${tenantId}::uuid AND p.last_heartbeat_at BETWEEN ${keptSince(now)} AND ${notAfter(now)}
        ORDER BY p.last_heartbeat_at DESC, p.deployment_id LIMIT ${MAX_UNREGISTERED}`;
      return rows.map((row) => ({
        deploymentId: row.deployment_id,
        label: row.label,
        region: row.region,
        firstHeartbeatAt: row.first_heartbeat_at,
        lastHeartbeatAt: row.last_heartbeat_at,
        lastHeartbeat: Heartbeat.parse(JSON.parse(row.last_heartbeat)),
      }));
    },
  };
}

const SPECIFIED = {
  deployment_id: true,
  active_agent_count: true,
  proxy_rpm_1m: true,
  escalations_pending: true,
  opa_bundle_version: true,
  uptime_seconds: true,
} as const;

interface RawPlane {
  deployment_id: string;
  first_heartbeat_at: Date;
  last_heartbeat_at: Date;
  last_heartbeat: string;
  label: string;
  region: string;
}
