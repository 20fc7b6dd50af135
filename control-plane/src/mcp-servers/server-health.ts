/**
 * The health of MCP servers, from the last heartbeats of the data planes that are online. The
 * control plane never asks a server itself. Proven by server-health.pg.test.ts.
 */
import type { ReportedHealth } from '@governance/shared/channel/channels';
import { SILENT_AFTER_MS } from '../data-planes/data-plane.ts';
import type { TenantDatabase, TenantScope } from '../platform/database/tenant-scope.ts';

/** Data planes listed for each server; a tenant may have 2,000. */
const MAX_NAMED = 20;

const WORST_FIRST: ReportedHealth[] = ['resting', 'failing', 'ok'];

/** One data plane's finding about a server, with its reason if it gives one. */
export interface PlaneFinding {
  deploymentId: string;
  label: string;
  health: ReportedHealth;
  reason: string | null;
}

export interface ServerFindings {
  /** Data planes with a finding. */
  total: number;
  /** The worst findings first. */
  planes: PlaneFinding[];
}

export interface ServerHealth {
  /**
   * The findings by server id; none for a server that nobody contacted.
   *
   * @param serverId one server; all unless given
   */
  find(scope: TenantScope, serverId?: string): Promise<Map<string, ServerFindings>>;
}

interface Row {
  serverId: string;
  /** The place in WORST_FIRST, from 1. */
  urgency: number;
  deploymentId: string;
  label: string;
  reason: string | null;
  total: number;
}

export function createServerHealth(deps: {
  db: Pick<TenantDatabase, 'inTenant'>;
  now: () => Date;
}): ServerHealth {
  return {
    find: async (scope, serverId) => {
      const { tenantId } = scope;
      const now = deps.now().getTime();
      const [since, until] = [new Date(now - SILENT_AFTER_MS), new Date(now + SILENT_AFTER_MS)];
      // Online as in `statusOf`. A server that one data plane lists twice counts once, at its
      // worst.
      const rows = await deps.db.inTenant(
        scope,
        ({ db }) => db.$queryRaw<Row[]>`
          WITH online AS MATERIALIZED (
            SELECT p.deployment_id, p.label, (p.last_heartbeat::json -> 'mcp_servers')::jsonb AS report
            FROM data_planes p
            WHERE p.tenant_id = ${tenantId}::uuid AND p.status = 'active'
              AND p.last_heartbeat_at > ${since} AND p.last_heartbeat_at < ${until}
              AND NOT COALESCE((
                SELECT bool_and(t.revoked_at IS NOT NULL) FROM data_plane_tokens t
                WHERE t.tenant_id = p.tenant_id AND t.deployment_id = p.deployment_id), false)
          ), found AS (
            SELECT o.deployment_id, o.label, reported.server_id, reported.urgency,
              o.report -> 'reasons' ->> reported.server_id AS reason
            FROM online o
            CROSS JOIN LATERAL (
              SELECT id COLLATE "C" AS server_id, min(state.urgency) AS urgency
              FROM unnest(${WORST_FIRST}::text[]) WITH ORDINALITY AS state (health, urgency)
              CROSS JOIN LATERAL jsonb_array_elements_text(o.report -> state.health) AS id
              WHERE ${serverId ?? null}::text IS NULL OR id = ${serverId ?? null}::text
              GROUP BY id) AS reported
          ), placed AS (
            SELECT found.*, count(*) OVER (PARTITION BY server_id)::int AS total,
              row_number() OVER (
                PARTITION BY server_id
                ORDER BY urgency, label COLLATE "C", deployment_id) AS place
            FROM found
          )
          SELECT server_id AS "serverId", urgency::int, deployment_id AS "deploymentId", label,
            reason, total
          FROM placed WHERE place <= ${MAX_NAMED} ORDER BY server_id, place`,
      );
      const byServer = new Map<string, ServerFindings>();
      for (const { serverId: id, total, urgency, ...plane } of rows) {
        const findings = byServer.get(id) ?? { total, planes: [] };
        byServer.set(id, findings);
        findings.planes.push({ ...plane, health: WORST_FIRST[urgency - 1] ?? 'resting' });
      }
      return byServer;
    },
  };
}
