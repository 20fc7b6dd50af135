/**
 * Stores the sessions of agents, and which decisions belong to each, in the transaction that stores
 * the records. Reads only the sessions that the new events touch, by an index, however many there
 * are. Proven by session-projection.pg.test.ts: the counts match the records, whatever the order in
 * which the batches of several data planes arrive.
 */

import { uuidv7 } from '@governance/shared/ids';
import { MINUTE_MS } from '@governance/shared/time/durations';
import type { PoolClient } from 'pg';
import type { ProjectedRecord, Projection } from '../platform/feature.ts';
import { SessionSettings } from '../tenants/session-settings.ts';
import { requesterKeyOf, sessionKeyOf, shownRequester, timeOf } from './session-key.ts';
import { type Joined, joinSpans, runsOf, type Span } from './session-spans.ts';

interface SessionEvent {
  at: number;
  key: string;
  agentId: string;
  requesterKey: string;
  requesterId: string | null;
  isToolCall: boolean;
  hasDlpHit: boolean;
  stream: string;
  epoch: number;
  seq: number;
}

interface KnownSession extends Span {
  id: string;
  counts: Counts;
}

interface Counts {
  events: number;
  toolCalls: number;
  dlpHits: number;
}

interface Change {
  id: string;
  joined: Joined<KnownSession, SessionEvent>;
}

/** @param now the clock; a time too far ahead of it is replaced by it */
export function sessionProjection(now: () => Date): Projection {
  return {
    types: ['decision'],
    store: async (client, tenantId, records) => {
      const at = now().getTime();
      const byKey = groupByKey(records, at);
      if (byKey.size === 0) return [];
      const idleMs = await lockSessions(client, tenantId);
      const known = await readTouched(client, tenantId, byKey, idleMs);
      const changes = [...byKey].flatMap(([key, events]) =>
        joinSpans(known.get(key) ?? [], events, idleMs).map((joined): Change => {
          const id = joined.sessions[0]?.id ?? uuidv7(joined.span.startedAt);
          return { id, joined };
        }),
      );
      await writeSessions(client, tenantId, changes, at);
      await writeMerged(client, tenantId, changes);
      await writeEvents(client, tenantId, changes);
      return [];
    },
  };
}

/** An agent that the tenant never had has no session. */
function groupByKey(records: readonly ProjectedRecord[], now: number) {
  const byKey = new Map<string, SessionEvent[]>();
  for (const { record, agentId } of records) {
    if (record.type !== 'decision' || agentId === null) continue;
    const key = sessionKeyOf(record);
    const event: SessionEvent = {
      at: timeOf(record, now),
      key,
      agentId,
      requesterKey: requesterKeyOf(record),
      requesterId: shownRequester(record),
      isToolCall: record.method === 'tools/call',
      hasDlpHit: record.dlp_findings_count > 0,
      stream: record.stream,
      epoch: record.epoch,
      seq: record.seq,
    };
    const events = byKey.get(key);
    if (events) events.push(event);
    else byKey.set(key, [event]);
  }
  return byKey;
}

/**
 * Serialises a tenant's transactions across replicas: two could begin the same session. They wait
 * for each other soon after anyway, for the order of receipt.
 *
 * @returns how long a session may be idle
 */
async function lockSessions(client: PoolClient, tenantId: string): Promise<number> {
  const { rows } = await client.query<{ settings: unknown }>({
    name: 'lock_sessions',
    text: `SELECT pg_advisory_xact_lock(hashtextextended('governance.sessions/' || $1::text, 0)),
       (SELECT settings -> 'sessions' FROM tenant_settings WHERE tenant_id = $1::uuid) AS settings`,
    values: [tenantId],
  });
  const { idle_minutes } = SessionSettings.parse(rows[0]?.settings ?? undefined);
  return idle_minutes * MINUTE_MS;
}

interface KnownRow {
  session_key: string;
  id: string;
  started_at: Date;
  last_event_at: Date;
  expires_at: Date;
  event_count: string;
  tool_call_count: string;
  dlp_hit_count: string;
}

/**
 * Sessions of one key never overlap: of those that began before a run, only the last can reach into
 * it. Each part reads one range of `agent_sessions_key_idx`.
 */
const TOUCHED = `SELECT DISTINCT s.session_key, s.id, s.started_at, s.last_event_at, s.expires_at,
     s.event_count, s.tool_call_count, s.dlp_hit_count
   FROM unnest($2::uuid[], $3::timestamptz[], $4::timestamptz[]) AS r (key, first, last)
   CROSS JOIN LATERAL (
     (SELECT * FROM agent_sessions t
      WHERE t.tenant_id = $1 AND t.session_key = r.key AND t.merged_into IS NULL
        AND t.started_at <= r.first
      ORDER BY t.started_at DESC LIMIT 1)
     UNION ALL
     (SELECT * FROM agent_sessions t
      WHERE t.tenant_id = $1 AND t.session_key = r.key AND t.merged_into IS NULL
        AND t.started_at > r.first AND t.started_at <= r.last
      ORDER BY t.started_at OFFSET 0)
   ) s
   WHERE s.expires_at >= r.first`;

async function readTouched(
  client: PoolClient,
  tenantId: string,
  byKey: ReadonlyMap<string, readonly SessionEvent[]>,
  idleMs: number,
): Promise<Map<string, KnownSession[]>> {
  const runs = [...byKey].flatMap(([key, events]) =>
    runsOf(events, idleMs).map((run) => ({ key, ...run })),
  );
  // Not a named statement: its cached plan could have been made while the table was small.
  const { rows } = await client.query<KnownRow>(TOUCHED, [
    tenantId,
    runs.map((run) => run.key),
    runs.map((run) => new Date(run.startedAt)),
    runs.map((run) => new Date(run.expiresAt)),
  ]);
  const known = new Map<string, KnownSession[]>();
  for (const row of rows) {
    const session: KnownSession = {
      id: row.id,
      startedAt: row.started_at.getTime(),
      lastEventAt: row.last_event_at.getTime(),
      expiresAt: row.expires_at.getTime(),
      counts: {
        events: Number(row.event_count),
        toolCalls: Number(row.tool_call_count),
        dlpHits: Number(row.dlp_hit_count),
      },
    };
    const sessions = known.get(row.session_key);
    if (sessions) sessions.push(session);
    else known.set(row.session_key, [session]);
  }
  return known;
}

/** What a session gains: its new events, and all events of the sessions merged into it. */
function gainOf({ events, sessions }: Change['joined']): Counts {
  const absorbed = sessions.slice(1).map(({ counts }) => counts);
  const gain = {
    events: events.length,
    toolCalls: events.filter((event) => event.isToolCall).length,
    dlpHits: events.filter((event) => event.hasDlpHit).length,
  };
  for (const counts of absorbed) {
    gain.events += counts.events;
    gain.toolCalls += counts.toolCalls;
    gain.dlpHits += counts.dlpHits;
  }
  return gain;
}

/** A late record that extends a closed session beyond the present reopens it. */
async function writeSessions(
  client: PoolClient,
  tenantId: string,
  changes: readonly Change[],
  now: number,
): Promise<void> {
  const gains = changes.map(({ joined }) => gainOf(joined));
  const firsts = changes.map(({ joined }) => joined.events[0] as SessionEvent);
  await client.query({
    name: 'write_sessions',
    text: `INSERT INTO agent_sessions AS known (tenant_id, id, session_key, agent_id, requester_key,
         requester_id, started_at, last_event_at, expires_at, event_count, tool_call_count,
         dlp_hit_count)
       SELECT $1, * FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[],
         $7::timestamptz[], $8::timestamptz[], $9::timestamptz[], $10::bigint[], $11::bigint[],
         $12::bigint[])
       ON CONFLICT (tenant_id, id) DO UPDATE
       SET started_at = excluded.started_at, last_event_at = excluded.last_event_at,
         expires_at = excluded.expires_at,
         event_count = known.event_count + excluded.event_count,
         tool_call_count = known.tool_call_count + excluded.tool_call_count,
         dlp_hit_count = known.dlp_hit_count + excluded.dlp_hit_count,
         closed_at = CASE WHEN excluded.expires_at <= $13 THEN known.closed_at END,
         risk_score_at_close =
           CASE WHEN excluded.expires_at <= $13 THEN known.risk_score_at_close END`,
    values: [
      tenantId,
      changes.map(({ id }) => id),
      firsts.map(({ key }) => key),
      firsts.map(({ agentId }) => agentId),
      firsts.map(({ requesterKey }) => requesterKey),
      firsts.map(({ requesterId }) => requesterId),
      changes.map(({ joined }) => new Date(joined.span.startedAt)),
      changes.map(({ joined }) => new Date(joined.span.lastEventAt)),
      changes.map(({ joined }) => new Date(joined.span.expiresAt)),
      gains.map(({ events }) => events),
      gains.map(({ toolCalls }) => toolCalls),
      gains.map(({ dlpHits }) => dlpHits),
      new Date(now),
    ],
  });
}

/** Sessions that late records merged into an earlier one: their ids refer to it from now on. */
async function writeMerged(
  client: PoolClient,
  tenantId: string,
  changes: readonly Change[],
): Promise<void> {
  const merged = changes.flatMap(({ id, joined }) =>
    joined.sessions.slice(1).map((session) => ({ from: session.id, into: id })),
  );
  if (merged.length === 0) return;
  await client.query(
    `UPDATE agent_sessions s SET merged_into = m.into_id
     FROM unnest($2::uuid[], $3::uuid[]) AS m (from_id, into_id)
     WHERE s.tenant_id = $1 AND (s.id = m.from_id OR s.merged_into = m.from_id)`,
    [tenantId, merged.map(({ from }) => from), merged.map(({ into }) => into)],
  );
}

async function writeEvents(
  client: PoolClient,
  tenantId: string,
  changes: readonly Change[],
): Promise<void> {
  const rows = changes.flatMap(({ id, joined }) => joined.events.map((event) => ({ id, event })));
  await client.query({
    name: 'write_session_events',
    text: `INSERT INTO session_events (tenant_id, session_id, event_time, stream, epoch, seq)
       SELECT $1, * FROM unnest($2::uuid[], $3::timestamptz[], $4::uuid[], $5::int[], $6::bigint[])`,
    values: [
      tenantId,
      rows.map(({ id }) => id),
      rows.map(({ event }) => new Date(event.at)),
      rows.map(({ event }) => event.stream),
      rows.map(({ event }) => event.epoch),
      rows.map(({ event }) => event.seq),
    ],
  });
}
