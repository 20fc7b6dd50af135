/**
 * MCP sessions of clients. A session id is 256 random bits and authenticates nobody: it is bound
 * to the agent and the server it was made for, and to anyone else it does not exist. Numbers are
 * bounded for each agent (its oldest makes room) and over all (then no new one is made).
 */
import { randomBytes } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import type { Caller } from '../../enforcement/calls.ts';
import type { Cancellation } from '../../upstream/upstream.ts';
import { GatewayError, type RpcId } from '../json-rpc.ts';
import type { LegacyRevision } from '../revisions.ts';
import { type LoggedStream, type ReplayBudget, StreamLog } from '../stream-log.ts';
import type { ClientPeer } from './client-peer.ts';

export interface LegacySession {
  /** The secret of the client: the value of Mcp-Session-Id. */
  readonly token: string;
  /** The name of the session in records. */
  readonly id: string;
  readonly owner: SessionOwner;
  readonly revision: LegacyRevision;
  /** Requests under way, by their JSON-RPC id. */
  readonly calls: Map<RpcId, Cancellation>;
  /** The resources whose updates it wants to hear of, each with its server. */
  readonly subscriptions: Set<string>;
  /** The least severe log message that it wants, by its place in LOG_LEVELS; null for all. */
  logRank: number | null;
  /** Set where servers may ask the client something. */
  readonly peer: ClientPeer | null;
  /** The streams of the session that can be resumed. */
  readonly log: StreamLog;
  /** What servers send of their own accord, and who listens; it outlasts a connection. */
  stream: {
    readonly events: LoggedStream;
    caller: Caller;
    /** Looks again at whether its agent may hear anything. */
    review(): void;
  } | null;
  /** Ends the connection that a GET opened for it, if there is one. */
  endStream: (() => void) | null;
  /** Its client has had such a connection: that it has none now says that it left. */
  hadStream: boolean;
  usedAt: number;
}

export interface SessionOwner {
  tenantId: string;
  agentId: string;
  /** Null for the unified gateway. */
  serverId: string | null;
}

export interface SessionLimits {
  max: number;
  maxPerAgent: number;
  idleMs: number;
}

export type LegacySessions = ReturnType<typeof createLegacySessions>;

/** Most clients end without a DELETE: what shows it is that their stream has ended. */
function hasLeft({ hadStream, endStream, calls }: LegacySession): boolean {
  return hadStream && endStream === null && calls.size === 0;
}

const SWEEP_MS = 30_000;
/** What all sessions keep of their streams together. */
const MAX_REPLAY_BYTES = 64 * 1024 * 1024;
/** Of that, what the sessions of one agent keep. */
const MAX_REPLAY_BYTES_OF_AGENT = 8 * 1024 * 1024;

/**
 * Builds the store.
 *
 * @param elapsed monotonic milliseconds
 * @param name makes a session id of its random part
 */
export function createLegacySessions(
  limits: SessionLimits,
  elapsed: () => number,
  name: (random: string) => string = (random) => random,
) {
  const sessions = new Map<string, LegacySession>();
  const replays = { used: 0, max: MAX_REPLAY_BYTES };
  const replaysOf = new WeakMap<Set<LegacySession>, ReplayBudget>();
  // Oldest first, since a Map keeps the order of insertion.
  const ofAgent = new Map<string, Set<LegacySession>>();
  const sweep = setInterval(() => {
    for (const session of sessions.values()) if (isIdle(session)) end(session);
  }, SWEEP_MS);
  sweep.unref();

  const agentKey = ({ tenantId, agentId }: SessionOwner) => `${tenantId} ${agentId}`;

  function isIdle(session: LegacySession): boolean {
    const isUsed = session.calls.size > 0 || session.endStream !== null;
    return !isUsed && session.usedAt + limits.idleMs < elapsed();
  }

  function end(session: LegacySession): void {
    if (!sessions.delete(session.token)) return;
    const own = ofAgent.get(agentKey(session.owner));
    own?.delete(session);
    if (own?.size === 0) ofAgent.delete(agentKey(session.owner));
    session.endStream?.();
    session.log.close();
    session.peer?.close();
  }

  return {
    /** Makes a session. Throws GatewayError 503 when there are too many. */
    create(
      owner: SessionOwner,
      revision: LegacyRevision,
      peer: ClientPeer | null = null,
    ): LegacySession {
      const own = ofAgent.get(agentKey(owner)) ?? new Set();
      const [oldest] = own;
      if (oldest !== undefined && own.size >= limits.maxPerAgent) end(oldest);
      if (sessions.size >= limits.max) {
        throw new GatewayError(503, 'Too many MCP sessions are open: try again later.');
      }
      const all = ofAgent.get(agentKey(owner)) ?? new Set();
      const kept = replaysOf.get(all) ?? {
        used: 0,
        max: MAX_REPLAY_BYTES_OF_AGENT,
        whole: replays,
      };
      replaysOf.set(all, kept);
      const session: LegacySession = {
        token: name(randomBytes(32).toString('base64url')),
        id: uuidv7(),
        owner,
        revision,
        calls: new Map(),
        subscriptions: new Set(),
        logRank: null,
        peer,
        log: new StreamLog(kept),
        stream: null,
        endStream: null,
        hadStream: false,
        usedAt: elapsed(),
      };
      if (peer !== null) peer.isAway = () => hasLeft(session);
      sessions.set(session.token, session);
      ofAgent.set(agentKey(owner), all.add(session));
      return session;
    },

    /** The session of a token, if it is this owner's. */
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

    /** All sessions of an agent, at whichever path. */
    ofOwner(owner: SessionOwner): LegacySession[] {
      return [...(ofAgent.get(agentKey(owner)) ?? [])];
    },

    /**
     * Whether a session of the agent, whose client is there, uses the agent's session with this
     * server, and none of its own.
     */
    isSharing({ tenantId, agentId, serverId }: SessionOwner): boolean {
      const own = ofAgent.get(agentKey({ tenantId, agentId, serverId })) ?? [];
      for (const session of own) {
        const { peer, owner } = session;
        const isMeant = owner.serverId === null || owner.serverId === serverId;
        if (peer === null && isMeant && !hasLeft(session)) return true;
      }
      return false;
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
