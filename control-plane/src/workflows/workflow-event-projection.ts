/**
 * Records which decisions belong to which workflow session, for its trace. Proven by
 * workflow-trace.pg.test.ts.
 */

import { listedTime } from '../platform/database/record-time.ts';
import type { ProjectedRecord, Projection } from '../platform/feature.ts';

/** @param now the clock; a time too far ahead of it is replaced by it */
export function workflowEventProjection(now: () => Date): Projection {
  return {
    types: ['decision'],
    store: async (client, tenantId, records) => {
      const at = now().getTime();
      const rows = records.flatMap((one) => toRow(one, at));
      if (rows.length === 0) return [];
      // An unknown session, or another tenant's, gets no events.
      await client.query(
        `INSERT INTO workflow_events (tenant_id, session_id, event_id, event_time, agent_id, action,
           tool_name, mcp_server, policy_result, parent_event_id)
         SELECT $1::uuid, e.session_id, e.event_id, e.event_time, e.agent_id, e.action, e.tool_name,
           e.mcp_server, e.policy_result, e.parent_event_id
         FROM jsonb_to_recordset($2::jsonb) AS e (session_id uuid, event_id uuid,
           event_time timestamptz, agent_id uuid, action text, tool_name text, mcp_server text,
           policy_result text, parent_event_id uuid)
         WHERE EXISTS (SELECT 1 FROM workflow_sessions s
           WHERE s.tenant_id = $1::uuid AND s.id = e.session_id)
         ON CONFLICT DO NOTHING`,
        [tenantId, JSON.stringify(rows)],
      );
      return [];
    },
  };
}

/** A trace names no agent that the tenant never had. */
function toRow({ record, agentId }: ProjectedRecord, now: number) {
  if (record.type !== 'decision' || agentId === null) return [];
  if (record.workflow_session_id === null) return [];
  return [
    {
      session_id: record.workflow_session_id,
      event_id: record.id,
      event_time: new Date(listedTime(Date.parse(record.timestamp), now)),
      agent_id: agentId,
      action: record.action,
      tool_name: record.tool_name,
      mcp_server: record.mcp_server,
      policy_result: record.policy_result,
      parent_event_id: record.parent_event_id,
    },
  ];
}
