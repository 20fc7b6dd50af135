/** What servers send unprompted, from the agent's sessions with them to its listeners. */
import type { UpstreamNotification } from '../upstream.ts';
import {
  type ServerNotificationListener,
  SessionListeners,
  type SessionPlace,
} from './session-listeners.ts';
import type { OpenSession } from './session-table.ts';

export function createSessionNotifications(deps: {
  sessions: ReadonlyMap<string, OpenSession>;
  /** Whether the tenant's registry has the server. */
  isRegistered(tenantId: string, serverId: string): boolean;
  /** Why a session must no longer be used. */
  findRefusal(session: OpenSession): string | undefined;
  /** Every notification of a server, with or without listeners. */
  onNotification(tenantId: string, serverId: string, notification: UpstreamNotification): void;
}) {
  const { sessions, isRegistered } = deps;
  const listeners = new SessionListeners();

  function passOn(session: OpenSession, notification: UpstreamNotification): void {
    // Messages of a deleted server are dropped, even for those who still have a stream open.
    if (!isRegistered(session.tenantId, session.serverId)) return;
    if (deps.findRefusal(session) !== undefined) return;
    deps.onNotification(session.tenantId, session.serverId, notification);
    listeners.tell(session, hopsHeard(session), notification);
  }

  function isHeard(session: OpenSession): boolean {
    return listeners.of(session, hopsHeard(session)).length > 0;
  }

  /** Over stdio notifications come anyway; over HTTP they cost a connection, so only if needed. */
  function attach(entry: OpenSession): void {
    const wanted = entry.transport === 'stdio' || entry.needsStream || isHeard(entry);
    entry.session.listen(wanted ? (notification) => passOn(entry, notification) : null);
  }

  function reattach({ tenantId, agentId }: Pick<SessionPlace, 'tenantId' | 'agentId'>): void {
    for (const entry of sessions.values()) {
      if (entry.tenantId === tenantId && entry.agentId === agentId) attach(entry);
    }
  }

  return {
    /** Whether anybody listens to the session. */
    isHeard,

    /** Lets a session hear its server for as long as somebody needs it. */
    attach,

    /**
     * Listens for notifications of an agent's servers (see SessionListener).
     *
     * @returns the unsubscribe
     */
    listen(
      tenantId: string,
      agentId: string,
      serverId: string | null,
      heard: ServerNotificationListener,
      peerId?: string,
      hops = 0,
    ): () => void {
      const listener = { tenantId, agentId, serverId, peerId, hops, heard };
      listeners.add(listener);
      reattach(listener);
      return () => {
        if (listeners.remove(listener)) reattach(listener);
      };
    },

    /** Notifies the listeners of a session with a server on behalf of the gateway. */
    tell(place: SessionPlace, notification: UpstreamNotification): void {
      if (isRegistered(place.tenantId, place.serverId)) listeners.tell(place, null, notification);
    },

    clear: (): void => listeners.clear(),
  };
}

function hopsHeard({ transport, hops }: OpenSession): number | null {
  return transport === 'stdio' ? null : hops;
}
