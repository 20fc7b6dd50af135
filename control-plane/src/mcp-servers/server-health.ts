/**
 * How MCP servers are, as the data planes that are online told it with their last heartbeats: the
 * control plane asks no server itself. Proven by server-health.pg.test.ts.
 */
import type { ReportedHealth } from '@governance/shared/channels';
import { SILENT_AFTER_MS } from '../data-planes/data-plane.ts';
import type { TenantDatabase, TenantScope } from '../platform/tenant-scope.ts';

/** Data planes that are named for each server; a tenant may have 2,000. */
const MAX_NAMED = 20;

export interface ServerFindings {
  /** Data planes that have found out how the server is. */
  total: number;
  /** Those that find it in the worst state first. */
  planes: { deploymentId: string; label: string; health: ReportedHealth }[];
}

export interface ServerHealth {
  /**
   * What was found of each server, by its id; nothing of one that nobody asked.
   *
   * @param serverId one server, all where it is not given
   */
  find(scope: TenantScope, serverId?: string): Promise<Map<string, ServerFindings>>;
}

interface Row {
  serverId: string;
  health: ReportedHealth;
  deploymentId: string;
  label: string;
  total: number;
}

export function createServerHealth(deps: {
  db: Pick<TenantDatabase, 'inTenant'>;
  now: () => Date;
}): ServerHealth {
  return {
    find: async (scope, serverId) => {
      const { tenantId } = scope;
      const heardSince = new Date(deps.now().getTime() - SILENT_AFTER_MS);
      // Online as `statusOf` says it. A server that one data plane told of twice counts once, at its
      // worst.
      const rows = await deps.db.inTenant(
        scope,
        ({ db }) => db.$queryRaw<Row[]>`
          WITH online AS (
            SELECT p.deployment_id, p.label, p.last_heartbeat::json -> 'mcp_servers' AS report
            FROM data_planes p
            WHERE p.tenant_id = ${tenantId}::uuid AND p.status = 'active'
              AND p.last_heartbeat_at > ${heardSince}
              AND NOT COALESCE((
                SELECT bool_and(t.revoked_at IS NOT NULL) FROM data_plane_tokens t
                WHERE t.tenant_id = p.tenant_id AND t.deployment_id = p.deployment_id), false)
          ), found AS (
            SELECT DISTINCT ON (o.deployment_id, server_id)
              o.deployment_id, o.label, server_id, state.health, state.urgency
            FROM online o
            CROSS JOIN (VALUES ('resting', 1), ('failing', 2), ('ok', 3)) AS state (health, urgency)
            CROSS JOIN LATERAL json_array_elements_text(o.report -> state.health) AS server_id
            WHERE ${serverId ?? null}::text IS NULL OR server_id = ${serverId ?? null}::text
            ORDER BY o.deployment_id, server_id, state.urgency
          ), placed AS (
            SELECT found.*, count(*) OVER (PARTITION BY server_id)::int AS total,
              row_number() OVER (
                PARTITION BY server_id ORDER BY urgency, label, deployment_id) AS place
            FROM found
          )
          SELECT server_id AS "serverId", health, deployment_id AS "deploymentId", label, total
          FROM placed WHERE place <= ${MAX_NAMED} ORDER BY server_id, place`,
      );
      const byServer = new Map<string, ServerFindings>();
      for (const { serverId: id, total, ...plane } of rows) {
        const findings = byServer.get(id) ?? { total, planes: [] };
        byServer.set(id, findings);
        findings.planes.push(plane);
      }
      return byServer;
    },
  };
}
