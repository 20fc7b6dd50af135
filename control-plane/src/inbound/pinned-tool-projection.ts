/**
 * Alerts report changed tools sooner than heartbeats do; this stores their pins and the definitions
 * seen last, unless something newer is known. Proven by pinned-tool-routes.pg.test.ts.
 */

import { SeenAt, ToolDifference } from '@governance/shared/mcp/tool-pins';
import { MAX_KEPT_PINS } from '@governance/shared/settings/inbound-settings';
import { Sha256Hex, Text } from '@governance/shared/text';
import { z } from 'zod';
import type { ProjectedRecord, Projection } from '../platform/feature.ts';
import { SET_DIFFERENCE } from './pinned-tool-store.ts';

/**
 * The content of such an alert. An alert about `tool_actions` has the same type, without hashes.
 */
const ChangeDetails = z.object({
  mcp_server: Text.max(100),
  tool_name: Text.min(1).max(256),
  pinned_hash: Sha256Hex,
  seen_hash: Sha256Hex,
  first_seen_at: SeenAt,
  changed: z.array(Text.max(40)).max(10),
  /** Earlier versions send none of these. */
  seen_at: SeenAt.optional(),
  difference: ToolDifference.default([]),
  varies: z.boolean().default(false),
});

export const pinnedToolProjection = (now: () => Date): Projection => ({
  types: ['alert'],
  store: async (client, tenantId, records) => {
    const time = now().toISOString();
    // One at a time, in order: a later one may concern the same tool.
    for (const { details, at } of records.flatMap((record) => toChange(record, time))) {
      await client.query(
        `INSERT INTO pinned_tools AS pin (tenant_id, server_id, tool_name, pinned_hash, seen_hash,
           changed, first_seen_at, seen_at, changed_at, difference, varies)
         SELECT $1, $2, $3, $4, $5, $6, LEAST($7::timestamptz, $12), $8, $8, $10::jsonb, $11
         WHERE EXISTS (SELECT 1 FROM mcp_servers WHERE tenant_id = $1 AND server_id = $2)
           AND (EXISTS (SELECT 1 FROM pinned_tools
                  WHERE tenant_id = $1 AND server_id = $2 AND tool_name = $3)
             OR (SELECT count(*) FROM pinned_tools WHERE tenant_id = $1) < $9)
         ON CONFLICT (tenant_id, server_id, tool_name) DO UPDATE
         SET seen_hash = excluded.seen_hash, seen_at = excluded.seen_at,
           changed_at = excluded.changed_at, varies = excluded.varies, ${SET_DIFFERENCE}
         WHERE excluded.seen_at >= pin.seen_at OR pin.seen_at > $12::timestamptz`,
        [
          tenantId,
          details.mcp_server,
          details.tool_name,
          details.pinned_hash,
          details.seen_hash,
          details.changed,
          details.first_seen_at,
          at,
          MAX_KEPT_PINS,
          JSON.stringify(details.difference),
          details.varies,
          time,
        ],
      );
    }
    return [];
  },
});

function toChange({ record }: ProjectedRecord, now: string) {
  if (record.type !== 'alert' || record.alert_type !== 'TOOL_DEFINITION_CHANGED') return [];
  const details = ChangeDetails.safeParse(record.details);
  if (!details.success) return [];
  const { seen_at: seenAt = record.timestamp } = details.data;
  // Never later than the record and the present, so that it does not hide newer reports.
  const at = [seenAt, record.timestamp, now].sort()[0] ?? now;
  return [{ details: details.data, at }];
}
