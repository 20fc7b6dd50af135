/**
 * How many sessions with MCP servers there may be, and which one is evicted for a new one. Among
 * HTTP sessions it is the one idle the longest. A process has state that its client relies on: one
 * in use is never evicted, and a latecomer is refused. Since a client may hold a process for as
 * long as it likes, no agent and, where there are several, no tenant can have them all. Proven by
 * session-room.test.ts.
 */
import type { McpServerSetting } from '@governance/shared/bundle-format';
import { UpstreamFailure } from '../upstream.ts';
import type { SessionPlace } from './session-opener.ts';

type Transport = McpServerSetting['transport'];

/** A session as eviction sees it. */
export interface RoomEntry extends SessionPlace {
  transport: Transport;
  /** That client has an MCP session, with which the entry ends. */
  isKept: boolean;
  /** That client has left without ending its session, as most do; it may come back. */
  isAway(): boolean;
  session: { readonly pending: number };
  usedAt: number;
}

export interface SessionRoomDeps<E extends RoomEntry> {
  limits: {
    maxSessions: number;
    maxProcesses: number;
    /** Processes that the clients of one agent may have of their own. */
    maxOwnProcesses: number;
  };
  /** Sessions that can be found. */
  entries: ReadonlyMap<string, E>;
  /** Sessions that end when their requests in progress have their answers. */
  retired: Pick<ReadonlyMap<E, unknown>, 'keys'>;
  /** Whether anybody listens to what the server sends unprompted. */
  isListenedTo(entry: E): boolean;
  /** Whether an MCP session of the agent still relies on the process that its sessions share. */
  hasSession(entry: E): boolean;
  servesSeveral(): boolean;
  drop(key: string, entry: E): void;
  now(): number;
}

/** Sessions over HTTP that the clients of one agent may have of their own. */
const MAX_OWN_SESSIONS = 64;
/**
 * A process without any session (a modern client's) counts as in use for this long after a request.
 */
const RECENT_MS = 60_000;

/** The session that room is needed for. */
export type Newcomer = Pick<RoomEntry, 'tenantId' | 'agentId' | 'transport' | 'peerId'>;

/**
 * Builds the eviction.
 *
 * @returns throws UpstreamFailure `busy` where there is none
 */
export function createSessionRoom<E extends RoomEntry>(deps: SessionRoomDeps<E>) {
  const { limits, entries, retired } = deps;

  function isInUse(entry: E): boolean {
    if (entry.session.pending > 0) return true;
    if (entry.transport !== 'stdio' || entry.isAway()) return false;
    if (entry.isKept || deps.isListenedTo(entry)) return true;
    if (entry.usedAt + RECENT_MS > deps.now()) return true;
    return entry.peerId === undefined && deps.hasSession(entry);
  }

  /** Evicts until at most `max` are left, including the new one. */
  function keepTo(max: number, isMeant: (entry: E) => boolean, full: () => string): void {
    const meant = [...entries].filter(([, entry]) => isMeant(entry));
    // Of the replaced ones only those in use; the others are gone within a second.
    const ending = [...retired.keys()].filter(
      (entry) => isMeant(entry) && entry.session.pending > 0,
    );
    if (meant.length + ending.length < max) return;
    const [oldest] = meant
      .filter(([, entry]) => !isInUse(entry))
      .sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (oldest === undefined) throw new UpstreamFailure('busy', full());
    deps.drop(...oldest);
  }

  return ({ tenantId, agentId, transport, peerId }: Newcomer): void => {
    const isSame = (entry: E) => entry.transport === transport;
    const isTenants = (entry: E) => isSame(entry) && entry.tenantId === tenantId;
    const isAgentsOwn = (entry: E) =>
      isTenants(entry) && entry.agentId === agentId && entry.peerId !== undefined;
    if (transport === 'streamable-http') {
      const full = () => 'Busy: too many sessions with MCP servers are in use. Try again later.';
      if (peerId !== undefined) keepTo(MAX_OWN_SESSIONS, isAgentsOwn, full);
      keepTo(limits.maxSessions, isSame, full);
      return;
    }
    const { maxProcesses, maxOwnProcesses } = limits;
    if (peerId !== undefined) {
      keepTo(maxOwnProcesses, isAgentsOwn, () => {
        const many = `the ${maxOwnProcesses} processes that an agent's clients may have of their own`;
        return `Busy: ${many} (SERVICE_UPSTREAM_MAX_PROCESSES_PER_AGENT) are in use. End an MCP session that is not needed any more (DELETE), or try again later.`;
      });
    }
    if (deps.servesSeveral()) {
      const full = 'Busy: half of the processes of stdio MCP servers are in use by this tenant.';
      keepTo(Math.ceil(maxProcesses / 2), isTenants, () => `${full} Try again later.`);
    }
    const full = 'Busy: all processes of stdio MCP servers (SERVICE_UPSTREAM_MAX_PROCESSES)';
    keepTo(maxProcesses, isSame, () => `${full} are in use. Try again later.`);
  };
}
