import { ToolDifference, type ToolPinReport } from '@governance/shared/mcp/tool-pins';
import { MAX_KEPT_PINS, MAX_PINS } from '@governance/shared/settings/inbound-settings';
import { type Page, rowsOf } from '../platform/database/page.ts';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';

/** A tool that some data plane has seen. */
export interface PinnedTool {
  serverId: string;
  toolName: string;
  pinnedHash: string;
  seenHash: string;
  changed: string[];
  difference: ToolDifference;
  firstSeenAt: Date;
  /** Since when the definition seen last has been unchanged. */
  seenAt: Date;
  /** Null for a tool that never changed. */
  changedAt: Date | null;
  varies: boolean;
  mayVary: boolean;
  approvedBy: string | null;
  approvedAt: Date | null;
}

/** What a bundle has of a tool. */
type BundledTool = Pick<
  PinnedTool,
  'serverId' | 'toolName' | 'pinnedHash' | 'mayVary' | 'approvedAt'
>;

/** What an administrator approves: the definition seen last, or all definitions. */
export interface Approval {
  approvedBy: string;
  approvedAt: Date;
  mayVary: boolean;
}

/**
 * How a tool differs from its pin, after a report, as a SET of `pin`. A report shows it only against
 * the same pin. One of a data plane that saw another definition first, or does not know what the tool
 * was, leaves what is known of the same change: nobody can approve two hashes.
 */
export const SET_DIFFERENCE = (
  [
    ['changed', "'{}'::text[]"],
    ['difference', "'[]'::jsonb"],
  ] as const
)
  .map(
    ([column, none]) => `${column} = CASE
      WHEN excluded.seen_hash = pin.pinned_hash THEN ${none}
      WHEN excluded.pinned_hash = pin.pinned_hash AND excluded.changed <> '{}'
        THEN excluded.${column}
      WHEN excluded.seen_hash = pin.seen_hash THEN pin.${column}
      ELSE ${none} END`,
  )
  .join(', ');

/** This feature's rows, of the transaction's tenant. */
export function pinnedToolStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    /** By name. */
    listOf: async (serverId: string, page: Page) => {
      const where = { tenantId, serverId };
      const rows = await db.pinnedTool.findMany({
        where,
        orderBy: { toolName: 'asc' },
        ...rowsOf(page),
      });
      return { tools: rows.map(toTool), total: await db.pinnedTool.count({ where }) };
    },

    /**
     * Tools that were approved, then those that ever changed: of each server in turn the longest
     * known, so that no server fills the bundle alone.
     */
    listPins: (): Promise<BundledTool[]> =>
      db.$queryRaw<BundledTool[]>`
        SELECT server_id AS "serverId", tool_name AS "toolName", pinned_hash AS "pinnedHash",
          may_vary AS "mayVary", approved_at AS "approvedAt"
        FROM pinned_tools
        WHERE tenant_id = ${tenantId}::uuid AND (approved_at IS NOT NULL OR changed_at IS NOT NULL)
        ORDER BY approved_at, row_number() OVER (
          PARTITION BY server_id, approved_at IS NULL ORDER BY first_seen_at, tool_name),
          server_id, tool_name
        LIMIT ${MAX_PINS}`,

    /**
     * Whether the bundle has room for one more approved tool. Serialises approvals until the
     * transaction ends.
     */
    hasRoomFor: async ({ serverId, toolName }: PinnedTool): Promise<boolean> => {
      await lockInTenant(db, 'pinned-tools', tenantId);
      const others = await db.pinnedTool.count({
        where: { tenantId, approvedAt: { not: null }, NOT: { serverId, toolName } },
      });
      return others < MAX_PINS;
    },

    /** Locked until the transaction ends. */
    findForUpdate: async (serverId: string, toolName: string): Promise<PinnedTool | undefined> => {
      await db.$queryRaw`
        SELECT 1 FROM pinned_tools WHERE tenant_id = ${tenantId}::uuid
          AND server_id = ${serverId} AND tool_name = ${toolName} FOR UPDATE`;
      const where = { tenantId_serverId_toolName: { tenantId, serverId, toolName } };
      const row = await db.pinnedTool.findUnique({ where });
      return row === null ? undefined : toTool(row);
    },

    approve: async (tool: PinnedTool, approval: Approval): Promise<PinnedTool> => {
      const { serverId, toolName, seenHash: pinnedHash } = tool;
      const row = await db.pinnedTool.update({
        where: { tenantId_serverId_toolName: { tenantId, serverId, toolName } },
        data: { pinnedHash, varies: false, changed: [], difference: [], ...approval },
      });
      return toTool(row);
    },

    /**
     * Stores a data plane's report, where it is newer than what is known, for registered servers
     * and within the limits.
     *
     * @returns whether one of the tools ever differed from its pin, whatever told of it: an alert
     *   may have come before the report
     */
    keepReports: async (reports: readonly ToolPinReport[], now: Date): Promise<boolean> => {
      const hasRoom = (await db.pinnedTool.count({ where: { tenantId } })) < MAX_KEPT_PINS;
      await db.$executeRaw`
        WITH reported AS (
          SELECT DISTINCT ON (server_id, tool_name) server_id, tool_name, pinned_hash,
            COALESCE(seen_hash, pinned_hash) AS seen_hash,
            LEAST(first_seen_at, ${now}) AS first_seen_at, LEAST(seen_at, ${now}) AS seen_at,
            COALESCE(varies, false) AS varies, COALESCE(difference, '[]') AS difference,
            ARRAY(SELECT jsonb_array_elements_text(COALESCE(changed, '[]'))) AS changed
          FROM jsonb_to_recordset(${JSON.stringify(reports)}::jsonb) AS one (
            server_id text, tool_name text, pinned_hash text, seen_hash text,
            first_seen_at timestamptz(3), seen_at timestamptz(3), varies boolean, changed jsonb,
            difference jsonb)
          ORDER BY server_id, tool_name, seen_at DESC)
        INSERT INTO pinned_tools AS pin (tenant_id, server_id, tool_name, pinned_hash, seen_hash,
          changed, difference, first_seen_at, seen_at, changed_at, varies)
        SELECT ${tenantId}::uuid, t.server_id, t.tool_name, t.pinned_hash, t.seen_hash, t.changed,
          t.difference, t.first_seen_at, t.seen_at,
          CASE WHEN t.seen_hash <> t.pinned_hash THEN t.seen_at END, t.varies
        FROM reported t
        WHERE EXISTS (SELECT 1 FROM mcp_servers s
            WHERE s.tenant_id = ${tenantId}::uuid AND s.server_id = t.server_id)
          AND (${hasRoom} OR EXISTS (SELECT 1 FROM pinned_tools p
            WHERE p.tenant_id = ${tenantId}::uuid AND p.server_id = t.server_id
              AND p.tool_name = t.tool_name))
        ON CONFLICT (tenant_id, server_id, tool_name) DO UPDATE
        SET seen_hash = excluded.seen_hash, seen_at = excluded.seen_at, varies = excluded.varies,
          ${Prisma.raw(SET_DIFFERENCE)},
          first_seen_at = LEAST(pin.first_seen_at, excluded.first_seen_at),
          changed_at = CASE WHEN pin.seen_hash <> excluded.seen_hash
            THEN excluded.seen_at ELSE pin.changed_at END
        WHERE excluded.seen_at > pin.seen_at OR pin.seen_at > ${now}
          OR (excluded.seen_at = pin.seen_at
          AND (excluded.seen_hash, excluded.varies) IS DISTINCT FROM (pin.seen_hash, pin.varies))`;
      const places = reports.map((one) => ({ serverId: one.server_id, toolName: one.tool_name }));
      const where = { tenantId, changedAt: { not: null }, OR: places };
      return (await db.pinnedTool.findFirst({ where, select: { tenantId: true } })) !== null;
    },
  };
}

type Row = Omit<PinnedTool, 'difference'> & { difference: unknown };

function toTool(row: Row): PinnedTool {
  const difference = ToolDifference.safeParse(row.difference);
  return { ...row, difference: difference.success ? difference.data : [] };
}
