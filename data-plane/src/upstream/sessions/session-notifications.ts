/** What servers send unprompted, from the agent's sessions with them to its listeners. */
import type { UpstreamNotification } from '../upstream.ts';
import type { SessionPlace } from './session-opener.ts';
import type { OpenSession, ServerAddress } from './session-table.ts';

export interface SessionListener {
  tenantId: string;
  agentId: string;
  /** One server, null for all. */
  serverId: string | null;
  /** The client whose own sessions are meant, not those that the agent shares. */
  peerId?: string | undefined;
  /**
   * Hops of the listener's own request, 0 if absent: it receives from sessions with the same
   * distance, since news in a loop of gateways would never end.
   */
  hops?: number;
  /** Called with each notification, and the server that sent it. */
  onNotification(serverId: string, notification: UpstreamNotification): void;
}

export function createSessionNotifications(deps: {
  sessions: ReadonlyMap<string, OpenSession>;
  /** Whether the tenant's registry has the server, and there if a place is given. */
  isRegistered(tenantId: string, serverId: string, at?: ServerAddress): boolean;
  /** Why a session must no longer be used. */
  findRefusal(session: OpenSession): string | undefined;
  /** Every notification of a server, with or without listeners. */
  onNotification(tenantId: string, serverId: string, notification: UpstreamNotification): void;
}) {
  const { sessions, isRegistered } = deps;
  /** By tenant and agent. */
  const listeners = new Map<string, Set<SessionListener>>();

  /** @param hops of the session; null for any, as with a process, which is no gateway */
  function listenersOf(place: SessionPlace, hops: number | null): SessionListener[] {
    return [...(listeners.get(keyOf(place)) ?? [])].filter(
      (listener) =>
        listener.peerId === place.peerId &&
        (hops === null || (listener.hops ?? 0) === hops) &&
        (listener.serverId === null || listener.serverId === place.serverId),
    );
  }

  function notify(
    place: SessionPlace,
    hops: number | null,
    notification: UpstreamNotification,
  ): void {
    for (const { onNotification } of listenersOf(place, hops))
      onNotification(place.serverId, notification);
  }

  function passOn(session: OpenSession, notification: UpstreamNotification): void {
    // Messages of a deleted or moved server are dropped, even for those who still have a stream
    // open.
    if (!isRegistered(session.tenantId, session.serverId, session)) return;
    if (deps.findRefusal(session) !== undefined) return;
    deps.onNotification(session.tenantId, session.serverId, notification);
    notify(session, listenerHops(session), notification);
  }

  function isListenedTo(session: OpenSession): boolean {
    return listenersOf(session, listenerHops(session)).length > 0;
  }

  /** Over stdio notifications come anyway; over HTTP they cost a connection, so only if needed. */
  function attach(entry: OpenSession): void {
    const wanted = entry.transport === 'stdio' || entry.needsStream || isListenedTo(entry);
    entry.session.listen(wanted ? (notification) => passOn(entry, notification) : null);
  }

  function reattach({ tenantId, agentId }: SessionListener): void {
    for (const entry of sessions.values()) {
      if (entry.tenantId === tenantId && entry.agentId === agentId) attach(entry);
    }
  }

  return {
    /** Whether anybody listens to the session. */
    isListenedTo,

    /** Receives from the session's server for as long as somebody needs it. */
    attach,

    /**
     * Listens for notifications of an agent's servers.
     *
     * @returns the unsubscribe
     */
    listen(listener: SessionListener): () => void {
      const key = keyOf(listener);
      listeners.set(key, (listeners.get(key) ?? new Set()).add(listener));
      reattach(listener);
      return () => {
        const ofAgent = listeners.get(key);
        if (!ofAgent?.delete(listener)) return;
        if (ofAgent.size === 0) listeners.delete(key);
        reattach(listener);
      };
    },

    /** Notifies the listeners of a session with a server on behalf of the gateway. */
    notify(place: SessionPlace, notification: UpstreamNotification): void {
      if (isRegistered(place.tenantId, place.serverId)) notify(place, null, notification);
    },

    clear: (): void => listeners.clear(),
  };
}

function keyOf({ tenantId, agentId }: Pick<SessionPlace, 'tenantId' | 'agentId'>): string {
  return `${tenantId} ${agentId}`;
}

function listenerHops({ transport, hops }: OpenSession): number | null {
  return transport === 'stdio' ? null : hops;
}
