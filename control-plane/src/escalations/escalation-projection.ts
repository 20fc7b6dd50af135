/**
 * Ledger records announce held calls and results. This stores each as an escalation and raises an
 * alert, in the transaction that stores the record. Proven by escalation-routes.pg.test.ts.
 */

import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { toStorable } from '@governance/shared/text';
import type { PoolClient } from 'pg';
import { insertAlerts } from '../alerts/alert-projection.ts';
import { HELD_TYPES, MAX_PENDING_OF_STREAM } from '../ingest/second-holds.ts';
import { CLOCK_AHEAD_MS } from '../platform/database/record-time.ts';
import type { Overflow, ProjectedRecord, Projection } from '../platform/feature.ts';
import { ALERT_SEVERITIES, alertKey } from './escalation.ts';

/** The longest time-out; a longer one is shortened. No tenant's setting exceeds it. */
const LONGEST = '7 days';

const FLOOD = {
  kind: 'escalation_flood',
  alertType: 'DATA_PLANE_ESCALATION_FLOOD',
  severity: 'high',
  title:
    'A data plane has reached its limit of calls waiting for people; further ones are in the audit trail only',
} as const;

type HoldOpened = Extract<LedgerRecord, { type: 'hold_opened' }>;
type ResultHeld = Extract<LedgerRecord, { type: 'result_held' }>;

export const escalationProjection: Projection = {
  types: HELD_TYPES,
  store: async (client, tenantId, records) => {
    const held = new Map<string, number>();
    // One at a time, since they are few: a person reads each.
    for (const { record, agentId } of records) {
      if (record.type !== 'hold_opened' && record.type !== 'result_held') continue;
      const stream = record.stream.toLowerCase();
      if (await isFull(client, tenantId, stream)) held.set(stream, (held.get(stream) ?? 0) + 1);
      else if (await insert(client, tenantId, record)) {
        await alert(client, tenantId, record, agentId);
      }
    }
    return [...held].map(([stream, count]): Overflow => ({ ...FLOOD, stream, records: count }));
  },
};

async function isFull(client: PoolClient, tenantId: string, stream: string): Promise<boolean> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM escalations
     WHERE tenant_id = $1 AND deployment_id = $2 AND status = 'pending'`,
    [tenantId, stream],
  );
  return (rows[0]?.count ?? 0) >= MAX_PENDING_OF_STREAM;
}

/**
 * Times are taken from the data plane's clock, within limits: a clock that is ahead does not extend
 * the hold.
 */
async function insert(
  client: PoolClient,
  tenantId: string,
  record: HoldOpened | ResultHeld,
): Promise<boolean> {
  const ofResult = record.type === 'result_held' ? record : null;
  const { rowCount } = await client.query(
    `INSERT INTO escalations (tenant_id, id, deployment_id, event_id, held, agent_id, requester_id,
       mcp_server, method, tool_name, target, risk_tier, reason, instruction_hash, shape, opened_at,
       timeout_at, severity, findings, findings_count, result_bytes, binding)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $23,
       CASE WHEN $15::timestamptz > clock_timestamp() + $17 * interval '1 millisecond'
         THEN clock_timestamp() ELSE $15::timestamptz END,
       least($16::timestamptz,
         clock_timestamp() + least($16::timestamptz - $15::timestamptz, $18::interval)),
       $19, $20::jsonb, $21, $22, $24
     ON CONFLICT DO NOTHING`,
    [
      tenantId,
      record.escalation_id,
      record.stream,
      record.event_id,
      ofResult ? 'result' : 'call',
      record.agent_id,
      record.requester_id,
      record.mcp_server,
      record.method,
      record.tool_name,
      record.target,
      record.risk_tier,
      record.type === 'hold_opened' ? record.reason : null,
      record.instruction_hash,
      record.timestamp,
      record.timeout_at,
      CLOCK_AHEAD_MS,
      LONGEST,
      ofResult?.severity ?? null,
      // Before this version, data planes wrote NUL in findings, which `jsonb` refuses.
      ofResult && JSON.stringify(toStorable(ofResult.findings)),
      ofResult?.findings_count ?? null,
      ofResult?.result_bytes ?? null,
      record.type === 'hold_opened' && record.shape ? JSON.stringify(record.shape) : null,
      record.binding ?? null,
    ],
  );
  return rowCount === 1;
}

/**
 * Raises the alert. It is posted to the webhook like every alert, and resolved with the escalation.
 */
async function alert(
  client: PoolClient,
  tenantId: string,
  record: HoldOpened | ResultHeld,
  agentId: ProjectedRecord['agentId'],
): Promise<void> {
  const { escalation_id, mcp_server, tool_name, target, timeout_at } = record;
  const about = { mcp_server, tool_name, target, timeout_at };
  const alert =
    record.type === 'hold_opened'
      ? {
          alertType: 'ESCALATION_OPENED',
          severity: ALERT_SEVERITIES[record.risk_tier],
          title: 'A call waits for a person to approve it',
          details: canonicalize({ ...about, escalation_id, reason: record.reason }),
        }
      : {
          alertType: 'INBOUND_RESULT_HELD',
          severity: record.severity,
          title: 'A result that looks like an injection waits for a person to release it',
          details: canonicalize({ ...about, hold_id: escalation_id, classes: classesOf(record) }),
        };
  const dedupeKey = alertKey(escalation_id);
  const row = { ...alert, id: uuidv7(), stream: null, agentId, dedupeKey, createdAt: null };
  await insertAlerts(client, tenantId, [row]);
}

function classesOf({ findings }: ResultHeld): string[] {
  return [...new Set(findings.map((finding) => finding.class))].sort();
}
