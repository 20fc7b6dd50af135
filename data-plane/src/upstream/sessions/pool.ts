/**
 * The sessions with MCP servers: one for each (tenant, server, agent, era of the client), opened
 * with the first request, shared by all of the agent's own MCP sessions, closed when idle. A client
 * that servers may ask something has its own, so that what they ask reaches nobody else; those that
 * declare the same extensions, and can be asked nothing, share another. Their numbers are bounded (session-room.ts, process-places.ts).
 */
import type { McpServerSetting } from '@governance/shared/bundle/bundle-format';
import { createUpstreamHealth } from '../health/health.ts';
import { isTooFar, LOOP_MESSAGE } from '../hops.ts';
import type { StdioAccess } from '../stdio/stdio-access.ts';
import {
  Cancellation,
  type Era,
  UpstreamFailure,
  type UpstreamNotification,
  type UpstreamPeer,
  type UpstreamSession,
} from '../upstream.ts';
import { createProcessPlaces } from './process-places.ts';
import { createSessionLimits } from './session-limits.ts';
import { createSessionNotifications } from './session-notifications.ts';
import {
  createSessionOpener,
  isOpenedFor,
  type SessionOpenerOptions,
  type SessionPlace,
} from './session-opener.ts';
import { createSessionRoom } from './session-room.ts';
import { createSessionSweep } from './session-sweep.ts';
import { createSessionTable, type OpenSession, type ServerAddress } from './session-table.ts';

export interface UpstreamPoolOptions extends SessionOpenerOptions {
  /** Who may use which process of this host. */
  stdio: Pick<StdioAccess, 'get' | 'findRefusal'>;
  maxProcesses: number;
  /** Processes that the clients of one agent may have for themselves. */
  maxOwnProcesses: number;
  /** Whether this data plane serves more than one tenant. */
  servesSeveral(): boolean;
  /** Whether an agent has an MCP session that shares the agent's, or this peer's, session here. */
  hasSession(place: SessionPlace): boolean;
  idleMs: number;
  findSealedCredential(tenantId: string, serverId: string): string | undefined;
  /**
   * Whether the tenant's registry has the server, and there if a place is given; sessions with a
   * removed or moved one are ended.
   */
  isRegistered(tenantId: string, serverId: string, at?: ServerAddress): boolean;
  /** The server as the tenant's registry has it. */
  findServer(tenantId: string, serverId: string): McpServerSetting | undefined;
  /** Every notification of a server, with or without listeners. */
  onNotification(tenantId: string, serverId: string, notification: UpstreamNotification): void;
  /** A server's health has changed: see `serverReport`. */
  onHealthChanged?(tenantId: string): void;
}

export type UpstreamPool = ReturnType<typeof createUpstreamPool>;

const SWEEP_MS = 30_000;

/** Whose session with which server. */
export interface WantedSession {
  readonly tenantId: string;
  readonly server: McpServerSetting;
  readonly agentId: string;
  /** The client that servers may ask, or know; absent: the session that other clients share. */
  readonly peer?: UpstreamPeer | undefined;
  /** The era in which a dual-era server is addressed; absent: legacy. */
  readonly era?: Era | undefined;
  /** Gateways that the request passed before this one; absent: none. */
  readonly hops?: number;
}

/** Builds the pool. Its connections and its processes end with `close`. */
export function createUpstreamPool(options: UpstreamPoolOptions) {
  const { isRegistered } = options;
  const sessions = createSessionTable();
  const health = createUpstreamHealth({
    elapsed: () => performance.now(),
    onChanged: options.onHealthChanged,
    log: options.log,
  });
  const limitsOf = createSessionLimits(options, options.servesSeveral);
  const places = createProcessPlaces(limitsOf);
  const opener = createSessionOpener(options, health, places);
  const notifications = createSessionNotifications({
    sessions: sessions.open,
    isRegistered,
    findRefusal,
    onNotification: options.onNotification,
  });
  const makeRoom = createSessionRoom<OpenSession>({
    limitsOf,
    entries: sessions.open,
    retired: sessions.retired,
    // For legacy clients a session listens, even when its client has left.
    isListenedTo: (entry) => entry.era !== 'legacy' && notifications.isListenedTo(entry),
    // Modern clients have no session.
    hasSession: (entry) => entry.era === 'legacy' && options.hasSession(entry),
    drop: sessions.drop,
    now: () => performance.now(),
  });
  const { sweep, takeAwaited } = createSessionSweep({
    ...options,
    sessions,
    notifications,
    findRefusal,
    reopen,
  });
  const sweeping = setInterval(() => {
    health.forget(isRegistered, options.idleMs);
    opener.check();
    sweep();
  }, SWEEP_MS);
  sweeping.unref();

  let closing: Promise<void> | null = null;

  /**
   * The agent's session with a server, or that of one client of the agent's. It is opened where
   * there is none, or where the one there is no longer fits the registry.
   *
   * @throws UpstreamFailure where there can be none
   */
  function getSession(wanted: WantedSession): UpstreamSession {
    const { tenantId, server, agentId, peer, era = 'legacy', hops: passed = 0 } = wanted;
    if (closing !== null) throw new UpstreamFailure('unreachable', 'the service is stopping');
    if (isTooFar({ hops: passed, serverId: server.server_id }))
      throw new UpstreamFailure('loop', LOOP_MESSAGE);
    // A process is no gateway.
    const hops = server.transport === 'stdio' ? 0 : passed;
    const shared = `${tenantId} ${agentId} ${server.server_id} ${era} ${hops}`;
    const key = peer === undefined ? shared : `${shared} ${peer.id}`;
    const sealed = getCredential(tenantId, server);
    const known = sessions.open.get(key);
    if (known !== undefined) {
      const refusal = findRefusal(known);
      if (refusal === undefined && isOpenedFor(known, server, sealed)) {
        known.usedAt = performance.now();
        return known.session;
      }
      sessions.retire(key, known);
      if (refusal !== undefined) throw new UpstreamFailure('refused', refusal);
    }
    const whose = { peerId: peer?.id, isShared: peer?.isShared };
    makeRoom({ tenantId, agentId, transport: server.transport, ...whose });
    const isReplacement = known !== undefined || takeAwaited(key);
    const order = { tenantId, agentId, server, sealed, peer, era, hops, isReplacement };
    const added = sessions.add(key, order, opener.open(order));
    notifications.attach(added);
    return added.session;
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

  /** Why a process must no longer be used: a data plane may get a second tenant. */
  function findRefusal({ transport, tenantId, address }: OpenSession): string | undefined {
    if (transport !== 'stdio') return undefined;
    return options.stdio.findRefusal(tenantId, address ?? '');
  }

  async function closeAll(): Promise<void> {
    clearInterval(sweeping);
    notifications.clear();
    await sessions.close();
    await places.close();
    await opener.close();
  }

  /** Opens a session in the place of one. */
  async function reopen(
    { tenantId, agentId, peer, era, hops }: OpenSession,
    server: McpServerSetting,
  ): Promise<void> {
    await getSession({ tenantId, server, agentId, peer, era, hops }).open({
      cancellation: new Cancellation(),
      findIneligibility: () => options.findIneligibility(tenantId, agentId),
    });
  }

  return {
    getSession,
    listen: notifications.listen,
    notify: notifications.notify,
    notifyPeer: sessions.notifyPeer,
    endPeer: sessions.endPeer,
    counts: sessions.counts,
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
