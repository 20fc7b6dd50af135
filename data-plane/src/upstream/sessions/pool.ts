/**
 * The sessions with MCP servers: one for each (tenant, server, agent, era of the client), opened
 * with the first request, shared by all of the agent's own MCP sessions, closed when idle. A client
 * that servers may ask something has its own, so that what they ask reaches nobody else. Their
 * numbers are bounded (session-room.ts).
 */
import type { McpServerSetting } from '@governance/shared/bundle-format';
import { createUpstreamHealth } from '../health/health.ts';
import { isTooFar, LOOP_MESSAGE } from '../hops.ts';
import type { StdioAccess } from '../stdio/stdio-access.ts';
import {
  type Era,
  UpstreamFailure,
  type UpstreamNotification,
  type UpstreamPeer,
  type UpstreamSession,
} from '../upstream.ts';
import {
  type ServerNotificationListener,
  type SessionListener,
  SessionListeners,
  type SessionPlace,
} from './session-listeners.ts';
import {
  addressOf,
  createSessionOpener,
  type SessionOpenerOptions,
  type SessionOrder,
} from './session-opener.ts';
import { createSessionRoom, type RoomEntry } from './session-room.ts';

export interface UpstreamPoolOptions extends SessionOpenerOptions {
  /** Who may use which process of this host. */
  stdio: Pick<StdioAccess, 'get' | 'findRefusal'>;
  maxProcesses: number;
  /** Processes that the clients of one agent may have for themselves. */
  maxOwnProcesses: number;
  /** Whether this data plane serves more than one tenant. */
  servesSeveral(): boolean;
  /** Whether an agent has an MCP session that shares the agent's session with this server. */
  hasSession(tenantId: string, agentId: string, serverId: string): boolean;
  idleMs: number;
  findSealedCredential(tenantId: string, serverId: string): string | undefined;
  /** Whether the tenant's registry has the server; sessions with a removed one are ended. */
  isRegistered(tenantId: string, serverId: string): boolean;
  /** Every notification of a server, with or without listeners. */
  onNotification(tenantId: string, serverId: string, notification: UpstreamNotification): void;
  /** A server's health has changed: see `serverReport`. */
  onHealthChanged?(tenantId: string): void;
}

export type UpstreamPool = ReturnType<typeof createUpstreamPool>;

interface Entry extends SessionPlace, RoomEntry {
  /** The server's address when it was opened: the registry may change it. */
  address: string | null;
  sealed: string | undefined;
  /** Its server may ask the client, and only this session's stream can carry that. */
  needsStream: boolean;
  hops: number;
  era: Era;
  session: UpstreamSession;
}

const SWEEP_MS = 30_000;
/** How often a replaced session is checked for its end. */
const RETIRED_MS = 1_000;

/** Builds the pool. Its connections and its processes end with `close`. */
export function createUpstreamPool(options: UpstreamPoolOptions) {
  const { isRegistered } = options;
  const entries = new Map<string, Entry>();
  const retired = new Map<Entry, NodeJS.Timeout>();
  const listeners = new SessionListeners();
  const health = createUpstreamHealth({
    elapsed: () => performance.now(),
    onChanged: options.onHealthChanged,
    log: options.log,
  });
  const opener = createSessionOpener(options, health);
  const makeRoom = createSessionRoom<Entry>({
    limits: options,
    entries,
    retired,
    // For legacy clients a session listens, even when its client has left.
    isListenedTo: (entry) => entry.era !== 'legacy' && isHeard(entry),
    // Modern clients have no session.
    hasSession: ({ tenantId, agentId, serverId, era }) =>
      era === 'legacy' && options.hasSession(tenantId, agentId, serverId),
    servesSeveral: options.servesSeveral,
    drop,
    now: () => performance.now(),
  });
  const sweep = setInterval(closeIdle, SWEEP_MS);
  sweep.unref();

  let closing: Promise<void> | null = null;

  /**
   * The agent's session with a server, or that of one client of the agent's.
   *
   * @param era the era in which a dual-era server is addressed
   * @param passed gateways that the request passed before this one
   * @throws UpstreamFailure where there can be none
   */
  function find(
    tenantId: string,
    server: McpServerSetting,
    agentId: string,
    peer?: UpstreamPeer,
    era: Era = 'legacy',
    passed = 0,
  ): UpstreamSession {
    if (closing !== null) throw new UpstreamFailure('unreachable', 'the service is stopping');
    if (isTooFar(passed, false)) throw new UpstreamFailure('loop', LOOP_MESSAGE);
    // A process is no gateway.
    const hops = server.transport === 'stdio' ? 0 : passed;
    const shared = `${tenantId} ${agentId} ${server.server_id} ${era} ${hops}`;
    const key = peer === undefined ? shared : `${shared} ${peer.id}`;
    const sealed = getCredential(tenantId, server);
    const known = entries.get(key);
    if (known !== undefined) {
      const refusal = findRefusal(known);
      const isSame =
        known.address === addressOf(server) &&
        known.transport === server.transport &&
        known.sealed === sealed;
      if (refusal === undefined && isSame) {
        known.usedAt = performance.now();
        return known.session;
      }
      retire(key, known);
      if (refusal !== undefined) throw new UpstreamFailure('refused', refusal);
    }
    makeRoom({ tenantId, agentId, transport: server.transport, peerId: peer?.id });
    const entry = toEntry({ tenantId, agentId, server, sealed, peer, era, hops });
    entries.set(key, entry);
    attach(entry);
    return entry.session;
  }

  /** @throws UpstreamFailure where the server's credential has not arrived yet */
  function getCredential(tenantId: string, server: McpServerSetting): string | undefined {
    const { server_id: serverId } = server;
    const sealed = options.findSealedCredential(tenantId, serverId);
    if (server.has_credential && sealed === undefined) {
      const reason = `the credential of ${serverId} has not reached this data plane yet`;
      health.note(tenantId, serverId, 'credential', { health: 'failing', reason });
      throw new UpstreamFailure('unreachable', reason);
    }
    health.note(tenantId, serverId, 'credential', null);
    return sealed;
  }

  function toEntry(order: SessionOrder): Entry {
    const { tenantId, agentId, server, sealed, peer, era, hops } = order;
    return {
      tenantId,
      agentId,
      serverId: server.server_id,
      peerId: peer?.id,
      transport: server.transport,
      address: addressOf(server),
      sealed,
      needsStream: peer?.needsStream === true,
      hops,
      isHeld: peer?.hasSession === true,
      isAway: () => peer?.isAway?.() ?? false,
      era,
      session: opener.open(order),
      usedAt: performance.now(),
    };
  }

  /** Why a process must no longer be used: a data plane may get a second tenant. */
  function findRefusal({ transport, tenantId, address }: Entry): string | undefined {
    if (transport !== 'stdio') return undefined;
    return options.stdio.findRefusal(tenantId, address ?? '');
  }

  function drop(key: string, entry: Entry): void {
    entries.delete(key);
    void entry.session.close();
  }

  /** Replaces a session: requests in progress still get their answers. */
  function retire(key: string, entry: Entry): void {
    entries.delete(key);
    entry.session.listen(null);
    const timer = setInterval(() => {
      if (entry.session.pending > 0) return;
      clearInterval(timer);
      retired.delete(entry);
      void entry.session.close();
    }, RETIRED_MS);
    retired.set(entry, timer.unref());
  }

  async function closeAll(): Promise<void> {
    clearInterval(sweep);
    for (const timer of retired.values()) clearInterval(timer);
    const open = [...entries.values(), ...retired.keys()];
    entries.clear();
    retired.clear();
    listeners.clear();
    await Promise.all(open.map((entry) => entry.session.close()));
    await opener.close();
  }

  function closeIdle(): void {
    health.forget(isRegistered, options.idleMs);
    opener.check();
    const before = performance.now() - options.idleMs;
    for (const [key, entry] of entries) {
      if (findRefusal(entry) !== undefined) {
        retire(key, entry);
        continue;
      }
      if (entry.session.pending > 0) continue;
      const isIdle = !isHeard(entry) && entry.usedAt < before;
      if (isIdle || !isRegistered(entry.tenantId, entry.serverId)) drop(key, entry);
    }
  }

  function heard(entry: Entry, notification: UpstreamNotification): void {
    // Messages of a deleted server are dropped, even for those who still have a stream open.
    if (!isRegistered(entry.tenantId, entry.serverId)) return;
    if (findRefusal(entry) !== undefined) return;
    options.onNotification(entry.tenantId, entry.serverId, notification);
    listeners.tell(entry, hopsHeard(entry), notification);
  }

  function isHeard(entry: Entry): boolean {
    return listeners.of(entry, hopsHeard(entry)).length > 0;
  }

  // Over stdio notifications come anyway; over HTTP they cost a connection, so only for a listener.
  function attach(entry: Entry): void {
    const wanted = entry.transport === 'stdio' || entry.needsStream || isHeard(entry);
    entry.session.listen(wanted ? (notification) => heard(entry, notification) : null);
  }

  function reattach({ tenantId, agentId }: SessionListener): void {
    for (const entry of entries.values()) {
      if (entry.tenantId === tenantId && entry.agentId === agentId) attach(entry);
    }
  }

  /**
   * Listens for notifications of an agent's servers (see SessionListener).
   *
   * @returns the unsubscribe
   */
  function listen(
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
  }

  return {
    find,
    listen,
    /** Notifies the listeners of a session with a server on behalf of the gateway. */
    tell(place: SessionPlace, notification: UpstreamNotification): void {
      if (isRegistered(place.tenantId, place.serverId)) listeners.tell(place, null, notification);
    },
    /** Sends a notification to all servers with which a client has sessions of its own. */
    notifyPeer(peerId: string, method: string): void {
      for (const entry of entries.values()) {
        if (entry.peerId === peerId) entry.session.notify(method);
      }
    },
    /** Ends the sessions of a client that is gone, each after its last call in progress. */
    endPeer(peerId: string): void {
      for (const [key, entry] of entries) if (entry.peerId === peerId) retire(key, entry);
    },
    counts() {
      let stdio = 0;
      for (const entry of entries.values()) if (entry.transport === 'stdio') stdio++;
      return { http: entries.size - stdio, stdio };
    },
    /** The health of a tenant's servers that were asked. */
    serverReport: health.report,
    /**
     * Adds a note on a server to `serverReport`: why it cannot be used, or what of it is left out.
     * Null removes it.
     */
    note: health.note,
    /** The number of servers (for stdio: processes) in each state. */
    healthCounts: health.counts,
    close(): Promise<void> {
      closing ??= closeAll();
      return closing;
    },
  };
}

function hopsHeard({ transport, hops }: Entry): number | null {
  return transport === 'stdio' ? null : hops;
}
