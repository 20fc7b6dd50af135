/**
 * How many sessions with MCP servers there may be, and which one is evicted for a new one. Among
 * HTTP sessions it is the one idle the longest. A process has state that its client relies on: one
 * in use is never evicted, and a latecomer is refused. Proven by session-room.test.ts.
 */
import { UpstreamFailure } from '../upstream.ts';
import type { FindSessionLimits, SessionLimit, SessionOwner } from './session-limits.ts';
import type { SessionPlace } from './session-opener.ts';

/** A session as eviction sees it. */
export interface RoomEntry extends SessionPlace, SessionOwner {
  /** That client has an MCP session, with which the entry ends. */
  isKept: boolean;
  /** That client has left without ending its session, as most do; it may come back. */
  isAway(): boolean;
  session: { readonly pending: number };
  usedAt: number;
}

export interface SessionRoomDeps<E extends RoomEntry> {
  limitsOf: FindSessionLimits;
  /** Sessions that can be found. */
  entries: ReadonlyMap<string, E>;
  /** Sessions that end when their requests in progress have their answers. */
  retired: Pick<ReadonlyMap<E, unknown>, 'keys'>;
  /** Whether anybody listens to what the server sends unprompted. */
  isListenedTo(entry: E): boolean;
  /** Whether an MCP session of the agent still relies on the process that its sessions share. */
  hasSession(entry: E): boolean;
  drop(key: string, entry: E): void;
  now(): number;
}

/**
 * A process without any session (a modern client's) counts as in use for this long after a request.
 */
const RECENT_MS = 60_000;

/**
 * Builds the eviction.
 *
 * @returns throws UpstreamFailure `busy` where there is none
 */
export function createSessionRoom<E extends RoomEntry>(deps: SessionRoomDeps<E>) {
  const { entries, retired } = deps;

  function isInUse(entry: E): boolean {
    if (entry.session.pending > 0) return true;
    if (entry.transport !== 'stdio' || entry.isAway()) return false;
    if (entry.isKept || deps.isListenedTo(entry)) return true;
    if (entry.usedAt + RECENT_MS > deps.now()) return true;
    return (entry.peerId === undefined || entry.isShared === true) && deps.hasSession(entry);
  }

  /** Evicts until at most `max` are left, including the new one. */
  function keepTo({ max, isMeant, full }: SessionLimit): void {
    const meant = [...entries].filter(([, entry]) => isMeant(entry));
    // Only replaced ones that are in use: the others end by themselves, and a new process waits for
    // that (process-places.ts).
    const ending = [...retired.keys()].filter(
      (entry) => isMeant(entry) && entry.session.pending > 0,
    );
    if (meant.length + ending.length < max) return;
    const [oldest] = meant
      .filter(([, entry]) => !isInUse(entry))
      .sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest === undefined) throw new UpstreamFailure('busy', full);
    deps.drop(...oldest);
  }

  return (newcomer: SessionOwner): void => deps.limitsOf(newcomer).forEach(keepTo);
}
