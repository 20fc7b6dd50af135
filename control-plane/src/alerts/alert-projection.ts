/**
 * A data plane's alerts arrive as records of its ledger; this makes them rows of `alerts` in the
 * transaction that stores the records. Proven by ../ingest/violations.pg.test.ts.
 */
import { canonicalize } from '@governance/shared/json/canonical-json';
import { RAISED_FROM_DECISIONS } from '@governance/shared/ledger/data-plane-records';
import type { AlertRecord } from '@governance/shared/ledger/ledger-record';
import type { PoolClient } from 'pg';
import { CLOCK_AHEAD_MS } from '../platform/database/record-time.ts';
import type { Overflow, ProjectedRecord, Projection } from '../platform/feature.ts';

/**
 * Unresolved alerts that one stream may have of one type and severity: a hostile data plane cannot
 * drown the others' alerts, and what an agent or an MCP server brings about hides no other type.
 * The types are those of `DATA_PLANE_ALERTS`.
 */
export const MAX_OPEN_ALERTS = 100;

/**
 * A record may have 256 KiB and a list shows 1,000 alerts, so longer details stay in the audit
 * trail only.
 */
const MAX_DETAILS_BYTES = 16 * 1024;
const MAX_TITLE = 500;

const FLOOD = {
  kind: 'alert_flood',
  alertType: 'DATA_PLANE_ALERT_FLOOD',
  severity: 'high',
  title:
    'A data plane has reached its limit of unresolved alerts; further ones are in the audit trail only',
} as const;

/** A row of `alerts` that ingest stores. */
interface NewAlertRow {
  id: string;
  /** The data plane that raised it; null where the control plane did. */
  stream: string | null;
  alertType: string;
  severity: string;
  agentId: string | null;
  title: string;
  /** Canonical JSON. */
  details: string;
  dedupeKey: string | null;
  /** Null: now. */
  createdAt: string | null;
}

type ReportedAlert = NewAlertRow & { stream: string };

export const alertProjection: Projection = {
  types: ['alert'],
  store: async (client, tenantId, records) => {
    const { alerts, heldBack } = await withinBounds(client, tenantId, records.flatMap(toRow));
    if (alerts.length > 0) await insertAlerts(client, tenantId, alerts);
    return [...heldBack].map(([stream, count]): Overflow => ({ ...FLOOD, stream, records: count }));
  },
};

/**
 * Scopes deduplication keys to the data plane. Otherwise it could open an alert under a key of the
 * control plane's (a fork, a broken chain) or of another data plane's, and so suppress that alert.
 */
function toRow({ record, agentId }: ProjectedRecord): ReportedAlert[] {
  if (record.type !== 'alert' || RAISED_FROM_DECISIONS.has(record.alert_type)) return [];
  const { id, stream, dedupe_key: key } = record;
  return [
    {
      id,
      stream,
      alertType: record.alert_type,
      severity: record.severity,
      agentId,
      title: shortTitle(record.title),
      details: shownDetails(record),
      dedupeKey: key === null ? null : `data-plane:${stream.toLowerCase()}:${key}`,
      createdAt: record.timestamp,
    },
  ];
}

/** Truncation may split a surrogate pair, and PostgreSQL refuses a lone surrogate. */
function shortTitle(title: string): string {
  return title.length <= MAX_TITLE ? title : `${title.slice(0, MAX_TITLE - 1).toWellFormed()}…`;
}

function shownDetails({ stream, epoch, seq, details }: AlertRecord): string {
  const text = canonicalize(details);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_DETAILS_BYTES) return text;
  return canonicalize({
    left_out: 'too large for an alert',
    bytes,
    record: { stream, epoch, seq },
  });
}

/** Leaves out alerts that are already open, and counts those beyond a stream's limit. */
async function withinBounds(
  client: PoolClient,
  tenantId: string,
  given: readonly ReportedAlert[],
): Promise<{ alerts: ReportedAlert[]; heldBack: Map<string, number> }> {
  const streams = [...new Set(given.map(({ stream }) => stream.toLowerCase()))];
  const { rows } = await client.query<{ place: string; open: number }>(
    `SELECT concat_ws('/', stream, alert_type, severity) AS place, count(*)::int AS open FROM alerts
     WHERE tenant_id = $1 AND stream = ANY($2::uuid[]) AND status <> 'resolved' GROUP BY place`,
    [tenantId, streams],
  );
  const open = new Map(rows.map(({ place, open }) => [place, open]));
  const keys = await client.query<{ key: string }>(
    `SELECT dedupe_key AS key FROM alerts
     WHERE tenant_id = $1 AND dedupe_key = ANY($2::text[]) AND status <> 'resolved'`,
    [tenantId, given.flatMap(({ dedupeKey }) => dedupeKey ?? [])],
  );
  const known = new Set(keys.rows.map(({ key }) => key));
  const heldBack = new Map<string, number>();
  const alerts = given.filter(({ stream: written, alertType, severity, dedupeKey }) => {
    if (dedupeKey !== null && known.has(dedupeKey)) return false;
    const stream = written.toLowerCase();
    const place = `${stream}/${alertType}/${severity}`;
    const count = (open.get(place) ?? 0) + 1;
    if (count > MAX_OPEN_ALERTS) {
      heldBack.set(stream, (heldBack.get(stream) ?? 0) + 1);
      return false;
    }
    open.set(place, count);
    if (dedupeKey !== null) known.add(dedupeKey);
    return true;
  });
  return { alerts, heldBack };
}

/** Stores alerts. A timestamp in the future becomes the time of receipt. */
export async function insertAlerts(
  client: PoolClient,
  tenantId: string,
  alerts: readonly NewAlertRow[],
): Promise<void> {
  await client.query(
    `INSERT INTO alerts (tenant_id, id, alert_type, severity, status, agent_id, title, details,
       dedupe_key, created_at, stream)
     SELECT $1, a.id, a.alert_type, a.severity, 'open', a.agent_id, a.title, a.details,
       a.dedupe_key,
       CASE WHEN a.created_at <= clock_timestamp() + $11 * interval '1 millisecond'
         THEN a.created_at ELSE clock_timestamp() END,
       a.stream
     FROM unnest($2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::text[], $7::text[],
       $8::text[], $9::timestamptz[], $10::uuid[])
       AS a (id, alert_type, severity, agent_id, title, details, dedupe_key, created_at, stream)
     ON CONFLICT DO NOTHING`,
    [
      tenantId,
      alerts.map((alert) => alert.id),
      alerts.map((alert) => alert.alertType),
      alerts.map((alert) => alert.severity),
      alerts.map((alert) => alert.agentId),
      alerts.map((alert) => alert.title),
      alerts.map((alert) => alert.details),
      alerts.map((alert) => alert.dedupeKey),
      alerts.map((alert) => alert.createdAt),
      alerts.map((alert) => alert.stream),
      CLOCK_AHEAD_MS,
    ],
  );
}
