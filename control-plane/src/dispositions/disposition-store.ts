import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { SessionTallies, Tally } from './behavior-reversal.ts';
import { type Action, DISPOSITIONS, type Disposition } from './disposition.ts';

/** The most recent sessions of one requester and action that are read. */
const MAX_SESSIONS = 200;

/** Decisions about one action for one requester. */
export interface StoredDispositions {
  requesterKey: string;
  action: Action;
  /** By session id. */
  sessions: Map<string, SessionTallies>;
  /** Sessions whose rows have to be written. */
  changed: Set<string>;
  /** Sessions that were merged into another; their rows have to be deleted. */
  merged: Set<string>;
}

export interface KnownDispositions {
  /** @throws Error for a pair that was not loaded */
  of(requesterKey: string, action: Action): StoredDispositions;
  all(): Iterable<StoredDispositions>;
}

interface Wanted {
  requesterKey: string;
  action: Action;
}

type Times = { [D in Disposition as `${D}_first_at` | `${D}_last_at`]: Date | null };
type Counts = { [D in Disposition]: bigint };

interface Row extends Times, Counts {
  requester_key: string;
  action_key: string;
  stored_id: string;
  session_id: string;
  session_started_at: Date;
  agent_id: string;
}

/** This feature's rows, of the transaction's tenant. The run's lock serialises writes. */
export function dispositionStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    load: async (wanted: readonly Wanted[]): Promise<KnownDispositions> => {
      const known = new Map<string, StoredDispositions>();
      for (const { requesterKey, action } of wanted) {
        known.set(`${requesterKey} ${action.key}`, {
          requesterKey,
          action,
          sessions: new Map(),
          changed: new Set(),
          merged: new Set(),
        });
      }
      const groups = [...known.values()];
      const rows = await db.$queryRaw<Row[]>`
        SELECT d.*, d.session_id AS stored_id, coalesce(s.merged_into, d.session_id) AS session_id
        FROM unnest(${groups.map((group) => group.requesterKey)}::uuid[],
          ${groups.map((group) => group.action.key)}::uuid[]) AS w (requester_key, action_key)
        CROSS JOIN LATERAL (
          SELECT * FROM dispositions d WHERE d.tenant_id = ${tenantId}::uuid
            AND d.requester_key = w.requester_key AND d.action_key = w.action_key
          ORDER BY d.updated_at DESC LIMIT ${MAX_SESSIONS}
        ) d
        LEFT JOIN agent_sessions s ON s.tenant_id = d.tenant_id AND s.id = d.session_id`;
      for (const row of rows) {
        const group = known.get(`${row.requester_key} ${row.action_key}`);
        if (group) take(group, row);
      }
      return {
        of: (requesterKey, action) => {
          const group = known.get(`${requesterKey} ${action.key}`);
          if (!group) throw new Error('dispositions that were not loaded');
          return group;
        },
        all: () => known.values(),
      };
    },

    save: async (known: KnownDispositions, now: Date): Promise<void> => {
      const groups = [...known.all()];
      const merged = groups.flatMap((group) => [...group.merged].map((id) => ({ group, id })));
      if (merged.length > 0) {
        await db.$executeRaw`
          DELETE FROM dispositions WHERE tenant_id = ${tenantId}::uuid
            AND (requester_key, action_key, session_id) IN (
              SELECT * FROM unnest(${merged.map(({ group }) => group.requesterKey)}::uuid[],
                ${merged.map(({ group }) => group.action.key)}::uuid[],
                ${merged.map(({ id }) => id)}::uuid[]))`;
      }
      const rows = groups.flatMap((group) =>
        [...group.changed].flatMap((id) => {
          const session = group.sessions.get(id);
          return session ? [toJson(group, session)] : [];
        }),
      );
      await db.$executeRaw`
        INSERT INTO dispositions (tenant_id, requester_key, action_key, session_id, agent_id,
          mcp_server, tool_name, target_shape, session_started_at, allowed, allowed_first_at,
          allowed_last_at, blocked, blocked_first_at, blocked_last_at, escalated,
          escalated_first_at, escalated_last_at, updated_at)
        SELECT ${tenantId}::uuid, r.*, ${now}::timestamptz
        FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (requester_key uuid,
          action_key uuid, session_id uuid, agent_id uuid, mcp_server text, tool_name text,
          target_shape text, session_started_at timestamptz, allowed bigint,
          allowed_first_at timestamptz, allowed_last_at timestamptz, blocked bigint,
          blocked_first_at timestamptz, blocked_last_at timestamptz, escalated bigint,
          escalated_first_at timestamptz, escalated_last_at timestamptz)
        ON CONFLICT (tenant_id, requester_key, action_key, session_id) DO UPDATE
        SET session_started_at = excluded.session_started_at,
          allowed = excluded.allowed, allowed_first_at = excluded.allowed_first_at,
          allowed_last_at = excluded.allowed_last_at,
          blocked = excluded.blocked, blocked_first_at = excluded.blocked_first_at,
          blocked_last_at = excluded.blocked_last_at,
          escalated = excluded.escalated, escalated_first_at = excluded.escalated_first_at,
          escalated_last_at = excluded.escalated_last_at, updated_at = excluded.updated_at`;
    },
  };
}

/** Adds a row to its group; rows of merged sessions are added up. */
function take(group: StoredDispositions, row: Row): void {
  const known = group.sessions.get(row.session_id);
  const tallies = {
    allowed: tally('allowed'),
    blocked: tally('blocked'),
    escalated: tally('escalated'),
  };
  function tally(name: Disposition): Tally | null {
    const [first, last] = [row[`${name}_first_at`], row[`${name}_last_at`]];
    if (first === null || last === null) return null;
    return { count: Number(row[name]), firstAt: first.getTime(), lastAt: last.getTime() };
  }
  if (row.stored_id !== row.session_id) {
    group.merged.add(row.stored_id);
    group.changed.add(row.session_id);
  }
  const startedAt = row.session_started_at.getTime();
  if (known === undefined) {
    group.sessions.set(row.session_id, {
      sessionId: row.session_id,
      sessionStartedAt: startedAt,
      agentId: row.agent_id,
      tallies,
    });
    return;
  }
  known.sessionStartedAt = Math.min(known.sessionStartedAt, startedAt);
  for (const name of DISPOSITIONS) {
    known.tallies[name] = sumOf(known.tallies[name], tallies[name]);
  }
}

function sumOf(a: Tally | null, b: Tally | null): Tally | null {
  if (a === null || b === null) return a ?? b;
  return {
    count: a.count + b.count,
    firstAt: Math.min(a.firstAt, b.firstAt),
    lastAt: Math.max(a.lastAt, b.lastAt),
  };
}

function toJson({ requesterKey, action }: StoredDispositions, session: SessionTallies) {
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  const of = (name: Disposition) => {
    const tally = session.tallies[name];
    return {
      [name]: tally?.count ?? 0,
      [`${name}_first_at`]: time(tally?.firstAt),
      [`${name}_last_at`]: time(tally?.lastAt),
    };
  };
  return {
    requester_key: requesterKey,
    action_key: action.key,
    session_id: session.sessionId,
    agent_id: session.agentId,
    mcp_server: action.mcpServer,
    tool_name: action.toolName,
    target_shape: action.targetShape,
    session_started_at: time(session.sessionStartedAt),
    ...of('allowed'),
    ...of('blocked'),
    ...of('escalated'),
  };
}
