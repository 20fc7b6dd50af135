/**
 * How many sessions with MCP servers there may be, and what makes room for one more. A session over
 * HTTP that is idle the longest does. A process has a memory that its client goes on with: one that
 * is in use makes room for nobody, and who comes too late is told so. Since a client may hold a
 * process for as long as it likes, no agent and, where there are several, no tenant has them all.
 * Proven by session-room.test.ts.
 */
import type { McpServerSetting } from '@governance/shared/bundle-format';
import { UpstreamFailure } from '../upstream.ts';

type Transport = McpServerSetting['transport'];

/** A session as far as room goes. */
export interface RoomEntry {
  tenantId: string;
  agentId: string;
  serverId: string;
  transport: Transport;
  /** The client whose own it is. */
  peerId: string | undefined;
  /** That client has an MCP session, with which the entry ends. */
  isHeld: boolean;
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
  /** Those that can be found. */
  entries: ReadonlyMap<string, E>;
  /** Those that end when what is under way has its answer. */
  retired: Pick<ReadonlyMap<E, unknown>, 'keys'>;
  /** Whether anybody listens to what the server sends of its own accord. */
  isListenedTo(entry: E): boolean;
  /** Whether an MCP session of the agent's goes on with the process that its sessions share. */
  hasSession(entry: E): boolean;
  servesSeveral(): boolean;
  drop(key: string, entry: E): void;
  now(): number;
}

/** Sessions over HTTP that the clients of one agent may have of their own. */
const MAX_OWN_SESSIONS = 64;
/** A process that nobody has a session with, a modern client's, is in use for so long after a request. */
const RECENT_MS = 60_000;

/** For whom room is needed. */
export type Newcomer = Pick<RoomEntry, 'tenantId' | 'agentId' | 'transport' | 'peerId'>;

/**
 * Builds what makes room.
 *
 * @returns throws UpstreamFailure `busy` where there is none
 */
export function createSessionRoom<E extends RoomEntry>(deps: SessionRoomDeps<E>) {
  const { limits, entries, retired } = deps;

  function isInUse(entry: E): boolean {
    if (entry.session.pending > 0) return true;
    if (entry.transport !== 'stdio' || entry.isAway()) return false;
    if (entry.isHeld || deps.isListenedTo(entry)) return true;
    if (entry.usedAt + RECENT_MS > deps.now()) return true;
    return entry.peerId === undefined && deps.hasSession(entry);
  }

  /** Has at most `max` of some, with the one that comes. */
  function keepTo(max: number, isMeant: (entry: E) => boolean, full: () => string): void {
    const meant = [...entries].filter(([, entry]) => isMeant(entry));
    // Of the replaced ones those in use; the others are gone within a second.
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
