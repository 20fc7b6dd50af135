import { type LedgerRow, type RawLedgerRow, toLedgerRow } from '../chain/ledger-row.ts';
import type { Page } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import type { SessionRow, SessionStatus } from './session-view.ts';

/** Sessions that one transaction of the task closes. */
export const CLOSED_AT_ONCE = 500;
/** Byte limit of one page of events: a record has up to 256 KiB. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

export interface SessionFilter {
  status?: SessionStatus | undefined;
  agentId?: string | undefined;
}

/**
 * This feature's rows, of the transaction's tenant. Only ingest makes sessions and their events.
 */
export function agentSessionStore({ db, scope: { tenantId } }: TenantTransaction) {
  const where = ({ status, agentId }: SessionFilter, now: Date) => {
    const conditions = [Prisma.sql`s.tenant_id = ${tenantId}::uuid AND s.merged_into IS NULL`];
    if (agentId) conditions.push(Prisma.sql`s.agent_id = ${agentId}::uuid`);
    // A closed session has ended, so an index finds the few open ones.
    if (status === 'active') {
      conditions.push(Prisma.sql`s.closed_at IS NULL AND s.expires_at > ${now}`);
    }
    if (status === 'expired') conditions.push(Prisma.sql`s.expires_at <= ${now}`);
    return Prisma.join(conditions, ' AND ');
  };

  return {
    /** Newest first. */
    list: async (filter: SessionFilter, { limit, offset }: Page, now: Date) => {
      const sessions = await db.$queryRaw<SessionRow[]>`
        SELECT s.id, s.agent_id, a.name AS agent_name, s.requester_id, s.started_at,
          s.last_event_at, s.expires_at, s.tool_call_count, s.dlp_hit_count, s.risk_score_at_close
        FROM (
          SELECT * FROM agent_sessions s WHERE ${where(filter, now)}
          ORDER BY s.started_at DESC, s.id DESC LIMIT ${limit} OFFSET ${offset}
        ) s
        JOIN agents a ON a.tenant_id = s.tenant_id AND a.id = s.agent_id
        ORDER BY s.started_at DESC, s.id DESC`;
      const [counted] = await db.$queryRaw<{ total: bigint }[]>`
        SELECT count(*) AS total FROM agent_sessions s WHERE ${where(filter, now)}`;
      return { sessions, total: Number(counted?.total ?? 0) };
    },

    /**
     * @returns the session and how many events it has; for a merged session, the one it was merged
     * into
     */
    find: async (id: string): Promise<{ id: string; events: number } | undefined> => {
      const [row] = await db.$queryRaw<{ id: string; event_count: bigint }[]>`
        SELECT s.id, s.event_count FROM agent_sessions named
        JOIN agent_sessions s
          ON s.tenant_id = named.tenant_id AND s.id = coalesce(named.merged_into, named.id)
        WHERE named.tenant_id = ${tenantId}::uuid AND named.id = ${id}::uuid`;
      return row && { id: row.id, events: Number(row.event_count) };
    },

    /**
     * The records of a session's decisions, the earliest first. Records no longer in the ledger are
     * left out.
     *
     * @returns how many fit when the page is too large for memory
     */
    events: async (id: string, { limit, offset }: Page): Promise<LedgerRow[] | number> => {
      const parts = await db.$queryRaw<{ id: string }[]>`
        SELECT id FROM agent_sessions
        WHERE tenant_id = ${tenantId}::uuid AND merged_into = ${id}::uuid`;
      const ids = [id, ...parts.map((part) => part.id)];
      const rows = await db.$queryRaw<RawEvent[]>`
        SELECT r.position, r.type, r.id, r.agent_id, r.policy_result, r.event_time, r.received_at,
          r.stream, r.epoch, r.seq, r.hash, r.prev_hash,
          CASE WHEN r.bytes_so_far <= ${MAX_PAGE_BYTES} THEN r.bytes END AS bytes
        FROM (
          SELECT l.*, e.event_time AS listed_time, sum(octet_length(l.bytes)) OVER (
            ORDER BY e.event_time, l.position) AS bytes_so_far
          FROM (
            SELECT * FROM session_events
            WHERE tenant_id = ${tenantId}::uuid AND session_id = ANY(${ids}::uuid[])
            ORDER BY event_time, stream, epoch, seq LIMIT ${limit} OFFSET ${offset}
          ) e
          JOIN ledger_records l ON l.tenant_id = e.tenant_id AND l.stream = e.stream
            AND l.epoch = e.epoch AND l.seq = e.seq
          WHERE l.type = 'decision'
        ) r
        ORDER BY r.listed_time, r.stream, r.epoch, r.seq`;
      const tooLarge = rows.findIndex(({ bytes }) => bytes === null);
      if (tooLarge >= 0) return tooLarge;
      return rows.map((row) => toLedgerRow({ ...row, bytes: row.bytes ?? new Uint8Array() }));
    },

    /** Closes sessions whose time is over, each with its agent's present risk. @returns how many */
    closeSome: async (now: Date): Promise<number> => db.$executeRaw`
      UPDATE agent_sessions s SET closed_at = ${now}, risk_score_at_close = a.risk_score
      FROM agents a
      WHERE s.tenant_id = ${tenantId}::uuid AND a.tenant_id = s.tenant_id AND a.id = s.agent_id
        AND s.closed_at IS NULL AND s.merged_into IS NULL AND s.expires_at <= ${now}
        AND s.id IN (
          SELECT id FROM agent_sessions
          WHERE tenant_id = ${tenantId}::uuid AND merged_into IS NULL AND closed_at IS NULL
            AND expires_at <= ${now}
          LIMIT ${CLOSED_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
  };
}

/** What other features ask about a session. Times are Unix milliseconds. */
export interface FoundSession {
  id: string;
  startedAt: number;
}

/**
 * The sessions that events belong to.
 *
 * @param events each with the key of its session (`sessionKeyOf`) and its time (`timeOf`)
 * @returns a function that finds the session of one of the events; undefined when it has none
 */
export async function readSessions(
  { db, scope: { tenantId } }: TenantTransaction,
  events: readonly { key: string; at: number }[],
): Promise<(key: string, at: number) => FoundSession | undefined> {
  const placeOf = (key: string, at: number) => `${key} ${at}`;
  const wanted = [
    ...new Map(events.map((event) => [placeOf(event.key, event.at), event])).values(),
  ];
  // Sessions of one key never overlap: only the one that began last before the event can contain
  // it.
  const rows = await db.$queryRaw<{ nr: bigint; id: string; started_at: Date }[]>`
    SELECT w.nr, s.id, s.started_at
    FROM unnest(${wanted.map(({ key }) => key)}::uuid[],
      ${wanted.map(({ at }) => new Date(at).toISOString())}::timestamptz[])
      WITH ORDINALITY AS w (key, at, nr)
    CROSS JOIN LATERAL (
      SELECT t.id, t.started_at, t.expires_at FROM agent_sessions t
      WHERE t.tenant_id = ${tenantId}::uuid AND t.session_key = w.key AND t.merged_into IS NULL
        AND t.started_at <= w.at
      ORDER BY t.started_at DESC LIMIT 1
    ) s
    WHERE s.expires_at >= w.at`;
  const found = new Map<string, FoundSession>();
  for (const { nr, id, started_at } of rows) {
    const event = wanted[Number(nr) - 1];
    if (event) found.set(placeOf(event.key, event.at), { id, startedAt: started_at.getTime() });
  }
  return (key, at) => found.get(placeOf(key, at));
}

/** Sessions read for each wanted range; more than the largest `cycling_sessions`. */
const MAX_OPENINGS = 4_000;

/**
 * When sessions of requesters began.
 *
 * @param wanted the key of a requester (`requesterKeyOf`) and a range, with both ends included
 * @returns the sessions of each wanted range, in the order of `wanted`; each list ordered by time
 */
export async function readOpenings(
  { db, scope: { tenantId } }: TenantTransaction,
  wanted: readonly { requesterKey: string; from: Date; to: Date }[],
): Promise<{ agentId: string; startedAt: number }[][]> {
  const rows = await db.$queryRaw<{ nr: bigint; agent_id: string; started_at: Date }[]>`
    SELECT w.nr, s.agent_id, s.started_at
    FROM unnest(${wanted.map((one) => one.requesterKey)}::uuid[],
      ${wanted.map((one) => one.from.toISOString())}::timestamptz[],
      ${wanted.map((one) => one.to.toISOString())}::timestamptz[])
      WITH ORDINALITY AS w (requester_key, first, last, nr)
    CROSS JOIN LATERAL (
      SELECT t.agent_id, t.started_at FROM agent_sessions t
      WHERE t.tenant_id = ${tenantId}::uuid AND t.requester_key = w.requester_key
        AND t.merged_into IS NULL AND t.requester_id IS NOT NULL
        AND t.started_at BETWEEN w.first AND w.last
      ORDER BY t.started_at LIMIT ${MAX_OPENINGS}
    ) s
    ORDER BY w.nr, s.started_at`;
  const openings: { agentId: string; startedAt: number }[][] = wanted.map(() => []);
  for (const { nr, agent_id: agentId, started_at } of rows) {
    openings[Number(nr) - 1]?.push({ agentId, startedAt: started_at.getTime() });
  }
  return openings;
}

interface RawEvent extends Omit<RawLedgerRow, 'bytes'> {
  bytes: Uint8Array | null;
}
