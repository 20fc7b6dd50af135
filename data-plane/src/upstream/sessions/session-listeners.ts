/** The listeners for notifications of an agent's servers. */
import type { UpstreamNotification } from '../upstream.ts';

/** Identifies a session: whose, and with which server. */
export interface SessionPlace {
  tenantId: string;
  agentId: string;
  serverId: string;
  /** The client whose own it is. */
  peerId: string | undefined;
}

export type ServerNotificationListener = (
  serverId: string,
  notification: UpstreamNotification,
) => void;

export interface SessionListener {
  tenantId: string;
  agentId: string;
  /** One server, null for all. */
  serverId: string | null;
  /** The client whose own sessions are meant, not those that the agent shares. */
  peerId: string | undefined;
  /**
   * Of the listener's own request: it hears the sessions that began as far away, since news that
   * went round in a circle of gateways would never end.
   */
  hops: number;
  heard: ServerNotificationListener;
}

export class SessionListeners {
  readonly #agents = new Map<string, Set<SessionListener>>();

  add(listener: SessionListener): void {
    const key = keyOf(listener);
    this.#agents.set(key, (this.#agents.get(key) ?? new Set()).add(listener));
  }

  /** @returns false where it had ended before */
  remove(listener: SessionListener): boolean {
    const key = keyOf(listener);
    const listeners = this.#agents.get(key);
    if (!listeners?.delete(listener)) return false;
    if (listeners.size === 0) this.#agents.delete(key);
    return true;
  }

  clear(): void {
    this.#agents.clear();
  }

  /** @param hops of the session; null where any will do, as with a process, which is no gateway */
  of(place: SessionPlace, hops: number | null): SessionListener[] {
    return [...(this.#agents.get(keyOf(place)) ?? [])].filter(
      (listener) =>
        listener.peerId === place.peerId &&
        (hops === null || listener.hops === hops) &&
        (listener.serverId === null || listener.serverId === place.serverId),
    );
  }

  tell(place: SessionPlace, hops: number | null, notification: UpstreamNotification): void {
    for (const { heard } of this.of(place, hops)) heard(place.serverId, notification);
  }
}

function keyOf({ tenantId, agentId }: { tenantId: string; agentId: string }): string {
  return `${tenantId} ${agentId}`;
}
