/**
 * MCP sessions of clients. A session id is 256 random bits and authenticates nobody: it is bound to
 * the agent and the server it was made for, and does not exist for anyone else. The number is
 * bounded for each agent (the oldest is evicted) and in total (then no new one is created).
 */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import type { Caller } from '../../enforcement/call/calls.ts';
import { LEGACY_REVISIONS } from '../../upstream/era.ts';
import type { SessionPlace } from '../../upstream/sessions/session-opener.ts';
import type { Cancellation, UpstreamPeer } from '../../upstream/upstream.ts';
import { GatewayError, type RpcId } from '../json-rpc.ts';
import type { OpenPlaces } from '../open-places.ts';
import { ReplayRoom } from '../replay-room.ts';
import { type LoggedStream, StreamLog } from '../stream-log.ts';
import type { ClientPeer } from './client-peer.ts';

export type LegacyRevision = (typeof LEGACY_REVISIONS)[number];

/**
 * The revision of a request without MCP-Protocol-Version: the header did not exist before
 * 2025-06-18.
 */
export const ASSUMED_REVISION: LegacyRevision = '2025-03-26';

/** Whether a text names a legacy revision. */
export function isLegacyRevision(text: unknown): text is LegacyRevision {
  return LEGACY_REVISIONS.some((revision) => revision === text);
}

/** The revision for a session: the client's if supported, else the newest here (MCP, lifecycle). */
export function negotiateRevision(requested: string): LegacyRevision {
  return isLegacyRevision(requested) ? requested : LEGACY_REVISIONS[0];
}

export interface LegacySession {
  /** The secret of the client: the value of Mcp-Session-Id. */
  readonly token: string;
  /** The session's name in records. */
  readonly id: string;
  readonly owner: SessionOwner;
  readonly revision: LegacyRevision;
  /** Requests in progress, by their JSON-RPC id. */
  readonly calls: Map<RpcId, Cancellation>;
  /** The resources it is subscribed to, each with its server. */
  readonly subscriptions: Set<string>;
  /** The least severe log level that it wants, as an index into LOG_LEVELS; null for all. */
  logRank: number | null;
  /** Set where servers may ask the client something. */
  readonly peer: ClientPeer | null;
  /** Set where they may not, and are told of its extensions; it stands for all such clients. */
  readonly shared: UpstreamPeer | null;
  /** The streams of the session that can be resumed. */
  readonly log: StreamLog;
  /** What servers send unprompted, and who listens; it outlasts a connection. */
  stream: {
    readonly events: LoggedStream;
    caller: Caller;
    /** Checks again whether its agent may still listen. */
    review(): void;
  } | null;
  /** Ends the connection that a GET opened for it, if there is one. */
  endStream: (() => void) | null;
  /** Its client has had such a connection: having none now means that it left. */
  hadStream: boolean;
  usedAt: number;
}

export interface SessionOwner {
  tenantId: string;
  agentId: string;
  /** Null for the unified gateway. */
  serverId: string | null;
}

interface SessionLimits {
  places: OpenPlaces;
  maxPerAgent: number;
  idleMs: number;
  /** Whether this process has more than one tenant. */
  servesSeveral(): boolean;
}

export type LegacySessions = ReturnType<typeof createLegacySessions>;

/** Whose sessions with servers its are; null for those of any client of the agent. */
export function peerOf({
  peer,
  shared,
}: Pick<LegacySession, 'peer' | 'shared'>): UpstreamPeer | null {
  return peer ?? shared;
}

/** Most clients end without a DELETE: the end of their stream shows that they left. */
function hasLeft({ hadStream, endStream, calls }: LegacySession): boolean {
  return hadStream && endStream === null && calls.size === 0;
}

const SWEEP_MS = 30_000;

/**
 * Builds the store.
 *
 * @param elapsed monotonic milliseconds
 * @param name builds a session id from its random part
 */
export function createLegacySessions(
  limits: SessionLimits,
  elapsed: () => number,
  name: (random: string) => string = (random) => random,
) {
  const sessions = new Map<string, LegacySession>();
  const room = new ReplayRoom({ servesSeveral: limits.servesSeveral });
  /** The sessions of each agent, the oldest first. */
  const agents = new Map<string, Set<LegacySession>>();
  const sweep = setInterval(() => {
    for (const session of sessions.values()) if (isIdle(session)) end(session);
  }, SWEEP_MS);
  sweep.unref();

  const agentKey = ({ tenantId, agentId }: SessionOwner) => `${tenantId} ${agentId}`;
  const sessionsOf = (owner: SessionOwner) =>
    agents.get(agentKey(owner)) ?? new Set<LegacySession>();

  function isIdle(session: LegacySession): boolean {
    const isUsed = session.calls.size > 0 || session.endStream !== null;
    return !isUsed && session.usedAt + limits.idleMs < elapsed();
  }

  function end(session: LegacySession): void {
    if (!sessions.delete(session.token)) return;
    limits.places.leave(session.owner.tenantId);
    const own = sessionsOf(session.owner);
    own.delete(session);
    if (own.size === 0) agents.delete(agentKey(session.owner));
    session.endStream?.();
    session.log.close();
    session.peer?.close();
  }

  return {
    /** Creates a session. Throws GatewayError 503 when there are too many. */
    create(
      owner: SessionOwner,
      revision: LegacyRevision,
      { peer = null, shared = null }: Partial<Pick<LegacySession, 'peer' | 'shared'>> = {},
    ): LegacySession {
      const before = sessionsOf(owner);
      const [oldest] = before;
      if (oldest !== undefined && before.size >= limits.maxPerAgent) end(oldest);
      if (!limits.places.hasRoom(owner.tenantId)) {
        throw new GatewayError(503, 'Too many MCP sessions are open: try again later.');
      }
      const key = agentKey(owner);
      const session: LegacySession = {
        token: name(randomBytes(32).toString('base64url')),
        id: uuidv7(),
        owner,
        revision,
        calls: new Map(),
        subscriptions: new Set(),
        logRank: null,
        peer,
        shared,
        log: new StreamLog({ owner: { tenantId: owner.tenantId, key }, room }),
        stream: null,
        endStream: null,
        hadStream: false,
        usedAt: elapsed(),
      };
      if (peer !== null) peer.isAway = () => hasLeft(session);
      limits.places.take(owner.tenantId);
      sessions.set(session.token, session);
      agents.set(key, sessionsOf(owner).add(session));
      return session;
    },

    /** The session of a token, if it belongs to this owner. */
    find(token: string, owner: SessionOwner): LegacySession | undefined {
      const session = sessions.get(token);
      if (session === undefined || isIdle(session)) return undefined;
      const { tenantId, agentId, serverId } = session.owner;
      const isOwn =
        tenantId === owner.tenantId && agentId === owner.agentId && serverId === owner.serverId;
      if (!isOwn) return undefined;
      session.usedAt = elapsed();
      return session;
    },

    /** All sessions of an agent, on every path. */
    ofOwner(owner: SessionOwner): LegacySession[] {
      return [...sessionsOf(owner)];
    },

    /** The agent's sessions that share this one's sessions with servers; itself too until it ends. */
    together(session: LegacySession): LegacySession[] {
      const peerId = peerOf(session)?.id;
      return [...sessionsOf(session.owner)].filter((other) => peerOf(other)?.id === peerId);
    },

    /**
     * Whether a session of the agent with a connected client shares this session with the server
     * instead of having its own.
     */
    isSharing(place: SessionPlace): boolean {
      return [...sessionsOf(place)].some((session) => {
        const { peer, shared, owner } = session;
        const isMeant = owner.serverId === null || owner.serverId === place.serverId;
        const isHere = peer === null && shared?.id === place.peerId;
        return isHere && isMeant && !hasLeft(session);
      });
    },

    end,

    count: () => sessions.size,

    /** Ends all sessions. */
    close(): void {
      clearInterval(sweep);
      for (const session of [...sessions.values()]) end(session);
    },
  };
}
