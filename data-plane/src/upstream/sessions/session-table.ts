/** The sessions with servers that are open, and the replaced ones until their last answer. */
import type { McpServerSetting } from '@governance/shared/bundle/bundle-format';
import type { UpstreamSession } from '../upstream.ts';
import { addressOf, type SessionOrder } from './session-opener.ts';
import type { RoomEntry } from './session-room.ts';

/** Where a server is: the registry may change it. */
export interface ServerAddress extends Pick<McpServerSetting, 'transport'> {
  /** See `addressOf`. */
  address: string | null;
}

/** With the server's address when it was opened. */
export interface OpenSession
  extends RoomEntry,
    ServerAddress,
    Pick<SessionOrder, 'sealed' | 'hops' | 'era' | 'peer'> {
  /** Its server may ask the client, and only this session's stream can carry that. */
  needsStream: boolean;
  session: UpstreamSession;
}

/** How often a replaced session is checked for its end. */
const RETIRED_MS = 200;

export function createSessionTable() {
  const open = new Map<string, OpenSession>();
  const retired = new Map<OpenSession, NodeJS.Timeout>();

  /** Replaces a session: requests in progress still get their answers. */
  function retire(key: string, entry: OpenSession): void {
    const { session } = entry;
    open.delete(key);
    session.listen(null);
    const timer = setInterval(() => {
      if (session.pending > 0) return;
      clearInterval(timer);
      retired.delete(entry);
      void session.close();
    }, RETIRED_MS);
    retired.set(entry, timer.unref());
  }

  return {
    open: open as ReadonlyMap<string, OpenSession>,
    retired: retired as ReadonlyMap<OpenSession, unknown>,

    add(key: string, order: SessionOrder, session: UpstreamSession): OpenSession {
      const { tenantId, agentId, server, sealed, peer, era, hops } = order;
      const added: OpenSession = {
        tenantId,
        agentId,
        serverId: server.server_id,
        peer,
        peerId: peer?.id,
        isShared: peer?.isShared,
        transport: server.transport,
        address: addressOf(server),
        sealed,
        needsStream: peer?.needsStream === true,
        hops,
        isKept: peer?.hasSession === true,
        isAway: () => peer?.isAway?.() ?? false,
        era,
        session,
        usedAt: performance.now(),
      };
      open.set(key, added);
      return added;
    },

    drop(key: string, { session }: OpenSession): void {
      open.delete(key);
      void session.close();
    },

    retire,

    /** Ends the sessions of a client that is gone, each after its last call in progress. */
    endPeer(peerId: string): void {
      for (const [key, entry] of open) if (entry.peerId === peerId) retire(key, entry);
    },

    /** Sends a notification to all servers with which a client has sessions of its own. */
    notifyPeer(peerId: string, method: string): void {
      for (const { peerId: owner, session } of open.values()) {
        if (owner === peerId) session.notify(method);
      }
    },

    counts() {
      let stdio = 0;
      for (const { transport } of open.values()) if (transport === 'stdio') stdio++;
      return { http: open.size - stdio, stdio };
    },

    async close(): Promise<void> {
      for (const timer of retired.values()) clearInterval(timer);
      const ending = [...open.values(), ...retired.keys()];
      open.clear();
      retired.clear();
      await Promise.all(ending.map(({ session }) => session.close()));
    },
  };
}
