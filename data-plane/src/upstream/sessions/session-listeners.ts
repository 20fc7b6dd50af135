/** The listeners for notifications of an agent's servers. */
import type { UpstreamNotification } from '../upstream.ts';

/** Identifies a session: its owner and its server. */
export interface SessionPlace {
  tenantId: string;
  agentId: string;
  serverId: string;
  /** The client that owns it. */
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
   * Hops of the listener's own request: it receives from sessions with the same distance, since
   * news in a loop of gateways would never end.
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

  /** @returns false where it had already ended */
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

  /** @param hops of the session; null for any, as with a process, which is no gateway */
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
