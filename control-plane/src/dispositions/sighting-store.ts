import { listedTime } from '../platform/database/record-time.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { arrange, MAX_SIGHTINGS, placeOf, type Sighting } from './dlp-sightings.ts';

/** What is remembered of one agent. */
export interface AgentSightings {
  agentId: string;
  /** In the order of time. */
  arranged: Sighting[];
  /** With the row of each. */
  stored: Map<Sighting, Sighting>;
}

interface Row {
  agent_id: string;
  seen_at: Date;
  event_id: string;
  pattern: string;
  session_key: string;
  session_started_at: Date | null;
  updated_at: Date;
}

/** Sightings of the transaction's tenant. */
export function sightingStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    /**
     * @param agentIds in lower case
     * @param now by the machine's clock: the rows' own may stay ahead with what they are dated by
     */
    load: async (
      agentIds: readonly string[],
      now: Date,
    ): Promise<(agentId: string) => AgentSightings> => {
      const known = new Map<string, AgentSightings>(
        agentIds.map((agentId) => [agentId, { agentId, arranged: [], stored: new Map() }]),
      );
      const rows = await db.$queryRaw<Row[]>`
        SELECT agent_id, seen_at, event_id, pattern, session_key, session_started_at, updated_at
        FROM dlp_sightings
        WHERE tenant_id = ${tenantId}::uuid AND agent_id = ANY(${[...known.keys()]}::uuid[])`;
      const places = new Set<string>();
      for (const row of rows) {
        const stored = toSighting(row);
        const sighting = notAhead(stored, Math.min(row.updated_at.getTime(), now.getTime()));
        const of = known.get(row.agent_id);
        of?.stored.set(sighting, stored);
        // Two of one decision may have become the same.
        const isNew = !places.has(placeOf(sighting));
        places.add(placeOf(sighting));
        if (isNew) of?.arranged.push(sighting);
      }
      for (const of of known.values()) of.arranged = arrange(of.arranged);
      return (agentId) => {
        const of = known.get(agentId);
        if (!of) throw new Error('sightings that were not loaded');
        return of;
      };
    },

    /** Writes what is new or changed, and deletes what is not among the newest. */
    save: async (all: readonly AgentSightings[], now: Date): Promise<void> => {
      const forgotten: object[] = [];
      const written: object[] = [];
      for (const { agentId, arranged, stored } of all) {
        const kept = new Set(arranged.slice(-MAX_SIGHTINGS));
        for (const [sighting, row] of stored) {
          const isKept = kept.has(sighting) && row.at === sighting.at;
          if (!isKept) forgotten.push(toJson(agentId, row));
        }
        for (const sighting of kept) {
          const row = stored.get(sighting);
          const isSame =
            row?.at === sighting.at && row.sessionStartedAt === sighting.sessionStartedAt;
          if (!isSame) written.push(toJson(agentId, sighting));
        }
      }
      if (forgotten.length > 0) {
        await db.$executeRaw`
          DELETE FROM dlp_sightings WHERE tenant_id = ${tenantId}::uuid
            AND (agent_id, seen_at, event_id, pattern) IN (
              SELECT agent_id, seen_at, event_id, pattern
              FROM jsonb_to_recordset(${JSON.stringify(forgotten)}::jsonb) AS r (agent_id uuid,
                seen_at timestamptz, event_id uuid, pattern text))`;
      }
      if (written.length === 0) return;
      await db.$executeRaw`
        INSERT INTO dlp_sightings (tenant_id, agent_id, seen_at, event_id, pattern, session_key,
          session_started_at, updated_at)
        SELECT ${tenantId}::uuid, r.*, ${now}::timestamptz
        FROM jsonb_to_recordset(${JSON.stringify(written)}::jsonb) AS r (agent_id uuid,
          seen_at timestamptz, event_id uuid, pattern text, session_key uuid,
          session_started_at timestamptz)
        ON CONFLICT (tenant_id, agent_id, seen_at, event_id, pattern) DO UPDATE
        SET session_started_at = excluded.session_started_at`;
    },
  };
}

function toSighting(row: Row): Sighting {
  return {
    at: row.seen_at.getTime(),
    eventId: row.event_id,
    pattern: row.pattern,
    sessionKey: row.session_key,
    sessionStartedAt: row.session_started_at?.getTime() ?? null,
  };
}

/**
 * A sighting of while the clock was ahead, as of the present: it would be the newest, and push out
 * new ones, until the time that the clock showed.
 */
function notAhead(stored: Sighting, present: number): Sighting {
  const at = listedTime(stored.at, present);
  const startedAt = stored.sessionStartedAt;
  return { ...stored, at, sessionStartedAt: startedAt === null ? null : Math.min(startedAt, at) };
}

function toJson(agentId: string, sighting: Sighting): object {
  const { at, eventId, pattern, sessionKey, sessionStartedAt } = sighting;
  return {
    agent_id: agentId,
    seen_at: new Date(at).toISOString(),
    event_id: eventId,
    pattern,
    session_key: sessionKey,
    session_started_at: sessionStartedAt === null ? null : new Date(sessionStartedAt).toISOString(),
  };
}
