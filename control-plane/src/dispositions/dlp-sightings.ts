/**
 * DLP_CROSS_SESSION (specification 1, section 6): one pattern in several sessions of an agent within
 * an hour. Records of several data planes arrive late and out of order, so sessions and hours are
 * made of all that is remembered, by the times of the records. Proven by dlp-sightings.test.ts.
 */
import { HOUR_MS, MINUTE_MS } from '@governance/shared/time/durations';

/** Sightings of one agent that are remembered: the newest. */
export const MAX_SIGHTINGS = 200;
export const MIN_SESSIONS = 3;
/**
 * How long a session lasts of a client that has none. From its first sighting, not its last: with
 * gaps between sessions, one requester could not have three within an hour.
 */
const SESSION_MS = 30 * MINUTE_MS;

/** One pattern that was found in what an agent sent. Times are Unix milliseconds. */
export interface Sighting {
  readonly at: number;
  /** The id of the decision. */
  readonly eventId: string;
  readonly pattern: string;
  /** Of the MCP session; of the requester where the client has none. */
  readonly sessionKey: string;
  /** When its session began, if the client has none; null for an MCP session. */
  sessionStartedAt: number | null;
}

/** What a sighting is known by among all of its agent. */
export const placeOf = ({ at, eventId, pattern }: Sighting): string =>
  `${at} ${eventId} ${pattern}`;

/** Sorts an agent's sightings by time, and gives those without an MCP session to theirs. */
export function arrange(sightings: readonly Sighting[]): Sighting[] {
  const sorted = [...sightings].sort(inOrder);
  const begins = new Map<string, number>();
  for (const { sessionKey, sessionStartedAt } of sorted) {
    if (sessionStartedAt === null) continue;
    begins.set(sessionKey, Math.min(begins.get(sessionKey) ?? sessionStartedAt, sessionStartedAt));
  }
  const remembered = new Set(sorted.map(({ sessionKey, at }) => `${sessionKey} ${at}`));
  for (const sighting of sorted) {
    const { sessionKey, at, sessionStartedAt: own } = sighting;
    if (own === null) continue;
    // The earliest may have begun with a sighting that is no longer remembered; so may one behind it,
    // where something still earlier arrives late.
    const begin = begins.get(sessionKey) ?? at;
    const isOwn = own > begin && at - own < SESSION_MS && !remembered.has(`${sessionKey} ${own}`);
    sighting.sessionStartedAt = at - begin < SESSION_MS ? begin : isOwn ? own : at;
    begins.set(sessionKey, sighting.sessionStartedAt);
  }
  return sorted;
}

function inOrder(a: Sighting, b: Sighting): number {
  if (a.at !== b.at) return a.at - b.at;
  const [one, other] = [`${a.eventId} ${a.pattern}`, `${b.eventId} ${b.pattern}`];
  return one < other ? -1 : Number(one > other);
}

/** A sighting with its place among all of its agent. */
export interface Placed {
  place: number;
  sighting: Sighting;
}

/** @param arranged all of an agent */
export function byPattern(arranged: readonly Sighting[]): Map<string, Placed[]> {
  const placed = new Map<string, Placed[]>();
  for (const [place, sighting] of arranged.entries()) {
    const known = placed.get(sighting.pattern);
    if (known) known.push({ place, sighting });
    else placed.set(sighting.pattern, [{ place, sighting }]);
  }
  return placed;
}

export interface Spread {
  sessions: number;
  /** The last new one among them. */
  sighting: Sighting;
}

/**
 * The most sessions in which a pattern was seen within an hour and among MAX_SIGHTINGS sightings,
 * at least one of them new. Linear time.
 *
 * @param placed those of the pattern, in the order of time
 */
export function widestSpread(
  placed: readonly Placed[],
  isNew: (sighting: Sighting) => boolean,
): Spread | undefined {
  const counts = new Map<string, number>();
  let first = 0;
  let newest: Placed | undefined;
  let widest: Spread | undefined;
  for (const entered of placed) {
    const { place, sighting } = entered;
    count(counts, sighting, 1);
    for (let oldest = placed[first]; oldest; oldest = placed[++first]) {
      const isWithin = sighting.at - oldest.sighting.at <= HOUR_MS;
      if (isWithin && place - oldest.place < MAX_SIGHTINGS) break;
      count(counts, oldest.sighting, -1);
    }
    if (isNew(sighting)) newest = entered;
    const hasNew = newest !== undefined && newest.place >= (placed[first]?.place ?? 0);
    if (newest && hasNew && counts.size > (widest?.sessions ?? 0)) {
      widest = { sessions: counts.size, sighting: newest.sighting };
    }
  }
  return widest;
}

function count(counts: Map<string, number>, sighting: Sighting, change: 1 | -1): void {
  const session = `${sighting.sessionKey} ${sighting.sessionStartedAt ?? ''}`;
  const sum = (counts.get(session) ?? 0) + change;
  if (sum === 0) counts.delete(session);
  else counts.set(session, sum);
}
