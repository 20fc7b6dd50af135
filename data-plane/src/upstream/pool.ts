/**
 * The sessions with MCP servers: one for each (tenant, server, agent, era of the client), opened
 * with the first request, shared by all of the agent's own MCP sessions, closed when idle. A client that servers
 * may ask something has its own, so that what they ask reaches nobody else. Their numbers are
 * bounded (session-room.ts).
 */
import type { McpServerSetting } from '@governance/shared/bundle-format';
import type { ServerReport } from '@governance/shared/channels';
import type { Logger } from 'pino';
import type { AddressPolicy } from './address-policy.ts';
import { createCheckedConnections } from './checked-connections.ts';
import { openCredentialHeader } from './credential.ts';
import { EraMemory } from './era.ts';
import { FairShares, type ShareAccount, shareAccount } from './fair-shares.ts';
import { createUpstreamHealth, type ServerHealth } from './health.ts';
import { isTooFar, LOOP_MESSAGE } from './hops.ts';
import type { Shares } from './http-channel.ts';
import type { ClientInfo } from './initialize.ts';
import type { NoteTopic, ServerNote } from './server-notes.ts';
import type { ServerFinding } from './server-report.ts';
import { createHttpServerSession, createStdioServerSession } from './server-session.ts';
import { createSessionRoom, type RoomEntry } from './session-room.ts';
import { SharingSession } from './sharing-session.ts';
import type { StdioAccess } from './stdio-access.ts';
import {
  type Era,
  UpstreamFailure,
  type UpstreamLimits,
  type UpstreamNotification,
  type UpstreamPeer,
  type UpstreamSession,
} from './upstream.ts';

export interface UpstreamPoolOptions {
  limits: UpstreamLimits;
  client: ClientInfo;
  /** Who may use which process of this host. */
  stdio: Pick<StdioAccess, 'get' | 'findRefusal'>;
  addresses: AddressPolicy;
  /** Connections to one origin, at most, for all tenants. */
  connections: number;
  /** Requests under way with servers: of one agent, and of all agents of a tenant. */
  requestsPerAgent: number;
  requestsPerTenant: number;
  maxSessions: number;
  maxProcesses: number;
  /** Processes that the clients of one agent may have of their own. */
  maxOwnProcesses: number;
  /** Whether this data plane is for more than one tenant. */
  servesSeveral(): boolean;
  /** Whether an agent has an MCP session that shares the agent's session with this server. */
  hasSession(tenantId: string, agentId: string, serverId: string): boolean;
  idleMs: number;
  findSealedCredential(tenantId: string, serverId: string): string | undefined;
  /** Whether the tenant's registry has the server; sessions with one that it lost are ended. */
  isRegistered(tenantId: string, serverId: string): boolean;
  /** This data plane's id at a tenant, to which credentials are sealed. */
  findDeploymentId(tenantId: string): string | undefined;
  /** Decrypts what `findSealedCredential` gave. */
  openSealed(jwe: string): Promise<string>;
  /** Everything a server sends of its own accord, whoever listens. */
  onNotification(tenantId: string, serverId: string, notification: UpstreamNotification): void;
  /** A server has lost a session, which was opened anew. */
  onReopened?(place: SessionPlace): void;
  /** A server of the tenant was found to be another way than before: see `serverReport`. */
  onHealthChanged?(tenantId: string): void;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** Whose session with which server it is. */
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

export interface UpstreamPool {
  /**
   * The agent's session with a server, or that of one client of the agent's.
   *
   * @param era in which a server that speaks both is spoken to; legacy where it is not given
   * @param hops gateways that the request passed before this one
   * @throws UpstreamFailure where there can be none
   */
  find(
    tenantId: string,
    server: McpServerSetting,
    agentId: string,
    peer?: UpstreamPeer,
    era?: Era,
    hops?: number,
  ): UpstreamSession;
  /**
   * Listens for what an agent's servers send of their own accord.
   *
   * @param serverId one server, null for all
   * @param peerId the client whose own sessions are meant, not those that the agent shares
   * @param hops of the listener's own request: it hears the sessions that began as far away, since
   *   news that went round in a circle of gateways would never end
   * @returns ends it
   */
  listen(
    tenantId: string,
    agentId: string,
    serverId: string | null,
    listener: ServerNotificationListener,
    peerId?: string,
    hops?: number,
  ): () => void;
  /** Tells the listeners of a session with a server what the gateway has to say of that server. */
  tell(place: SessionPlace, notification: UpstreamNotification): void;
  /** Sends a notification to all servers with which a client has sessions of its own. */
  notifyPeer(peerId: string, method: string): void;
  /** Ends the sessions of a client that is gone, each with the last call under way. */
  endPeer(peerId: string): void;
  counts(): { http: number; stdio: number };
  /**
   * How a tenant's servers are, those that were asked.
   *
   * @param known what is known of servers without asking them
   */
  serverReport(tenantId: string, known?: Iterable<ServerFinding>): ServerReport;
  /**
   * Has `serverReport` say something of a server beside how it answers: why it cannot be used, or
   * what of it is left out. Null takes it back.
   */
  note(tenantId: string, serverId: string, topic: NoteTopic, note: ServerNote | null): void;
  /** How many servers (of stdio: processes) are in which state. */
  healthCounts(): Record<ServerHealth, number>;
  close(): Promise<void>;
}

interface Entry extends SessionPlace, RoomEntry {
  /** Where it leads: the registry may give a server another address. */
  address: string | null;
  sealed: string | undefined;
  /** Its server may have to ask for something by a stream that nobody else holds open. */
  needsStream: boolean;
  hops: number;
  era: Era;
  session: UpstreamSession;
}

interface Listener {
  serverId: string | null;
  peerId: string | undefined;
  hops: number;
  fn: ServerNotificationListener;
}

/** How long a request waits for room in its agent's share. */
const WAIT_MS = 2_000;
/** Streams that the sessions of one agent may hold open. */
const MAX_STREAMS = 1024;
const SWEEP_MS = 30_000;
/** Servers of which it is kept what MCP they do not speak. */
const MAX_ERAS = 4096;
/** How often a session that was replaced is looked at, and how soon it can end. */
const RETIRED_MS = 1_000;

/** Builds the pool. Its dispatcher and its processes end with `close`. */
export function createUpstreamPool(options: UpstreamPoolOptions): UpstreamPool {
  const entries = new Map<string, Entry>();
  const retired = new Map<Entry, NodeJS.Timeout>();
  const listeners = new Map<string, Set<Listener>>();
  const { addresses, connections, maxSessions, limits } = options;
  const dispatchers = {
    calls: createCheckedConnections(addresses, limits.timeoutMs),
    quiet: createCheckedConnections(addresses, limits.timeoutMs),
    streams: createCheckedConnections(addresses, limits.timeoutMs),
  };
  const perAgentAndTenant = {
    agent: options.requestsPerAgent,
    tenant: options.requestsPerTenant,
    way: connections,
    waitMs: WAIT_MS,
  };
  const shares: Shares = {
    calls: new FairShares(perAgentAndTenant),
    quiet: new FairShares(perAgentAndTenant),
    // A stream is of a session, so it is as many as there may be sessions.
    streams: new FairShares({
      agent: MAX_STREAMS,
      tenant: maxSessions,
      way: maxSessions,
      waitMs: WAIT_MS,
    }),
  };
  const health = createUpstreamHealth({
    elapsed: () => performance.now(),
    onChanged: options.onHealthChanged,
    log: options.log,
  });
  const eras = new EraMemory(MAX_ERAS);
  const makeRoom = createSessionRoom<Entry>({
    limits: options,
    entries,
    retired,
    // Of legacy clients a session listens, also when its client has left.
    isListenedTo: (entry) => entry.era !== 'legacy' && listenersOf(entry).length > 0,
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
    const address = server.transport === 'stdio' ? server.local_name : server.url;
    const sealed = options.findSealedCredential(tenantId, server.server_id);
    if (server.has_credential && sealed === undefined) {
      const reason = `the credential of ${server.server_id} has not reached this data plane yet`;
      health.note(tenantId, server.server_id, 'credential', { health: 'failing', reason });
      throw new UpstreamFailure('unreachable', reason);
    }
    health.note(tenantId, server.server_id, 'credential', null);
    const known = entries.get(key);
    if (known !== undefined) {
      const refusal = refusalOf(known);
      if (refusal !== undefined) {
        retire(key, known);
        throw new UpstreamFailure('refused', refusal);
      }
      if (
        known.address === address &&
        known.transport === server.transport &&
        known.sealed === sealed
      ) {
        known.usedAt = performance.now();
        return known.session;
      }
      retire(key, known);
    }
    makeRoom({ tenantId, agentId, transport: server.transport, peerId: peer?.id });
    const entry: Entry = {
      tenantId,
      agentId,
      serverId: server.server_id,
      peerId: peer?.id,
      transport: server.transport,
      address,
      sealed,
      needsStream: peer?.needsStream === true,
      hops,
      isHeld: peer?.hasSession === true,
      isAway: () => peer?.isAway?.() ?? false,
      era,
      session: open(tenantId, server, sealed, agentId, peer, era, hops),
      usedAt: performance.now(),
    };
    entries.set(key, entry);
    attach(entry);
    return entry.session;
  }

  /** Why a process must not be used any more: a data plane may get a second tenant. */
  function refusalOf({ transport, tenantId, address }: Entry): string | undefined {
    if (transport !== 'stdio') return undefined;
    return options.stdio.findRefusal(tenantId, address ?? '');
  }

  /** A session that keeps to its agent's share, and asks only while that is worth it. */
  function open(
    tenantId: string,
    server: McpServerSetting,
    sealed: string | undefined,
    agentId: string,
    peer: UpstreamPeer | undefined,
    era: Era,
    hops: number,
  ): UpstreamSession {
    const isHttp = server.transport !== 'stdio';
    const address = isHttp ? server.url : server.local_name;
    const place = {
      tenantId,
      serverId: server.server_id,
      agentId: isHttp ? null : agentId,
      address,
    };
    const account = shareAccount(tenantId, agentId, isHttp ? originOf(server) : null);
    const session = createSession(tenantId, server, sealed, agentId, peer, era, account, hops);
    return new SharingSession(health.watch(place, session), shares.calls, account);
  }

  function createSession(
    tenantId: string,
    server: McpServerSetting,
    sealed: string | undefined,
    agentId: string,
    clientPeer: UpstreamPeer | undefined,
    preferred: Era,
    account: ShareAccount,
    hops: number,
  ): UpstreamSession {
    const { client, log } = options;
    const { server_id: serverId } = server;
    const place = `${tenantId} ${serverId} ${server.transport} ${server.url ?? server.local_name}`;
    const common = {
      serverId,
      limits,
      client,
      log,
      preferred,
      peer: clientPeer?.bind(serverId),
      onReopened: () =>
        options.onReopened?.({ tenantId, agentId, serverId, peerId: clientPeer?.id }),
      findLack: () => eras.findLack(place),
      keepLack: (era: Era | undefined) => eras.keepLack(place, era),
    };
    if (server.transport === 'stdio') {
      const name = server.local_name ?? '';
      const command = options.stdio.get(tenantId, name);
      return createStdioServerSession({ ...common, name, server: command });
    }
    const url = server.url ?? '';
    if (!URL.canParse(url) || !/^https?:\/\/[^@]*$/.test(url)) {
      throw new UpstreamFailure('refused', `the server ${server.server_id} has no usable address`);
    }
    return createHttpServerSession({
      ...common,
      url,
      dispatchers,
      shares,
      account,
      hops,
      isHostAllowed: addresses.isHostAllowed,
      findCredential: async () => {
        if (sealed === undefined) return null;
        const deploymentId = options.findDeploymentId(tenantId);
        const place = { tenantId, deploymentId, serverId, origin: new URL(url).origin };
        return openCredentialHeader(sealed, place, options.openSealed);
      },
    });
  }

  function drop(key: string, entry: Entry): void {
    entries.delete(key);
    void entry.session.close();
  }

  /** What was sent to a server before its registration changed gets its answer. */
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
    await Promise.all(Object.values(dispatchers).map((one) => one.destroy()));
  }

  function closeIdle(): void {
    health.forget(options.isRegistered, options.idleMs);
    for (const one of Object.values(dispatchers)) one.check();
    const before = performance.now() - options.idleMs;
    for (const [key, entry] of entries) {
      if (refusalOf(entry) !== undefined) {
        retire(key, entry);
        continue;
      }
      if (entry.session.pending > 0) continue;
      const isIdle = listenersOf(entry).length === 0 && entry.usedAt < before;
      if (isIdle || !options.isRegistered(entry.tenantId, entry.serverId)) drop(key, entry);
    }
  }

  function heard(entry: Entry, notification: UpstreamNotification): void {
    // A server that was deleted has nothing more to say, to whoever still has a stream open.
    if (!options.isRegistered(entry.tenantId, entry.serverId)) return;
    if (refusalOf(entry) !== undefined) return;
    options.onNotification(entry.tenantId, entry.serverId, notification);
    for (const listener of listenersOf(entry)) listener.fn(entry.serverId, notification);
  }

  function listenersOf(entry: Entry): Listener[] {
    const ofAgent = listeners.get(`${entry.tenantId} ${entry.agentId}`) ?? [];
    return [...ofAgent].filter(
      ({ serverId, peerId, hops }) =>
        peerId === entry.peerId &&
        (hops === entry.hops || entry.transport === 'stdio') &&
        (serverId === null || serverId === entry.serverId),
    );
  }

  // Over stdio notifications come anyway; over HTTP they cost a connection, so only for a listener.
  function attach(entry: Entry): void {
    const { transport, needsStream } = entry;
    const wanted = transport === 'stdio' || needsStream || listenersOf(entry).length > 0;
    entry.session.listen(wanted ? (notification) => heard(entry, notification) : null);
  }

  function reattach(tenantId: string, agentId: string): void {
    for (const entry of entries.values()) {
      if (entry.tenantId === tenantId && entry.agentId === agentId) attach(entry);
    }
  }

  return {
    find,
    listen(tenantId, agentId, serverId, fn, peerId, hops = 0) {
      const key = `${tenantId} ${agentId}`;
      const own = { serverId, peerId, hops, fn };
      const set = listeners.get(key) ?? new Set();
      listeners.set(key, set.add(own));
      reattach(tenantId, agentId);
      return () => {
        if (!set.delete(own)) return;
        if (set.size === 0) listeners.delete(key);
        reattach(tenantId, agentId);
      };
    },
    tell({ tenantId, agentId, serverId, peerId }, notification) {
      if (!options.isRegistered(tenantId, serverId)) return;
      for (const listener of listeners.get(`${tenantId} ${agentId}`) ?? []) {
        const isMeant = listener.serverId === null || listener.serverId === serverId;
        if (isMeant && listener.peerId === peerId) listener.fn(serverId, notification);
      }
    },
    notifyPeer(peerId, method) {
      for (const entry of entries.values()) {
        if (entry.peerId === peerId) entry.session.notify(method);
      }
    },
    endPeer(peerId) {
      for (const [key, entry] of entries) if (entry.peerId === peerId) retire(key, entry);
    },
    counts() {
      let stdio = 0;
      for (const entry of entries.values()) if (entry.transport === 'stdio') stdio++;
      return { http: entries.size - stdio, stdio };
    },
    serverReport: health.report,
    note: health.note,
    healthCounts: health.counts,
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

/** What has no usable address is refused by its name. */
function originOf({ url }: McpServerSetting): string {
  return url !== null && URL.canParse(url) ? new URL(url).origin : '';
}
