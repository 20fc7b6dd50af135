/**
 * Creates sessions with MCP servers, and holds what they share: connections, shares, and the known
 * eras of servers.
 */

import type { McpServerSetting } from '@governance/shared/bundle/bundle-format';
import type { AddressPolicy } from '@governance/shared/outbound/address-policy';
import type { Logger } from 'pino';
import { createCheckedConnections } from '../addresses/checked-connections.ts';
import { createEraMemory } from '../era.ts';
import type { UpstreamHealth } from '../health/health.ts';
import type { Shares } from '../http/http-channel.ts';
import type { ClientInfo } from '../initialize.ts';
import { AnswerBytes } from '../shares/answer-room.ts';
import type { FairBytes } from '../shares/fair-bytes.ts';
import { FairShares, type ShareAccount, shareAccount } from '../shares/fair-shares.ts';
import type { StdioAccess } from '../stdio/stdio-access.ts';
import {
  type Era,
  UpstreamFailure,
  type UpstreamLimits,
  type UpstreamPeer,
  type UpstreamSession,
} from '../upstream.ts';
import { openCredentialHeader } from './credential.ts';
import { GuardedSession } from './guarded-session.ts';
import type { ProcessPlaces } from './process-places.ts';
import { createHttpServerSession, createStdioServerSession } from './server-session.ts';

export interface SessionOpenerOptions {
  limits: UpstreamLimits;
  client: ClientInfo;
  /** Who may use which process of this host. */
  stdio: Pick<StdioAccess, 'get'>;
  addresses: AddressPolicy;
  /** Connections to one origin, at most, for all tenants. */
  connections: number;
  /** Requests under way with servers: of one agent, and of all agents of a tenant. */
  requestsPerAgent: number;
  requestsPerTenant: number;
  maxSessions: number;
  /** For what arrives that no call of an agent counts. */
  room: FairBytes;
  /** This data plane's id at a tenant, to which credentials are sealed. */
  findDeploymentId(tenantId: string): string | undefined;
  /** Why an agent may not act; undefined where it may. Nothing is opened for one that may not. */
  findIneligibility(tenantId: string, agentId: string): string | undefined;
  /** Decrypts a sealed credential. */
  openSealed(jwe: string): Promise<string>;
  /** A server lost a session, which was reopened; or the session moved with its server. */
  onReopened?(place: SessionPlace): void;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** Identifies a session: its owner and its server. */
export interface SessionPlace {
  tenantId: string;
  agentId: string;
  serverId: string;
  /** The client that owns it. */
  peerId: string | undefined;
}

/** The wanted session. */
export interface SessionOrder {
  tenantId: string;
  agentId: string;
  server: McpServerSetting;
  /** The server's credential, sealed to this data plane. */
  sealed: string | undefined;
  /** The client that owns it, or the clients; absent: any of the agent's. */
  peer: UpstreamPeer | undefined;
  /** The era in which a dual-era server is addressed. */
  era: Era;
  /** Gateways that the request passed before this one. */
  hops: number;
  /** It takes the place of one with the server at another address, or with another credential. */
  isReplacement: boolean;
}

/** How long a request waits for room in its agent's share. */
const WAIT_MS = 2_000;
/** Streams that the sessions of one agent may hold open. */
const MAX_STREAMS = 1024;
/** http or https, and no user before the host: an `@` behind it is part of the path. */
const USABLE = /^https?:\/\/[^/?#\\@]+(?:[/?][^\\]*)?$/i;
/** Servers whose missing eras are remembered. */
const MAX_ERAS = 4096;

export function createSessionOpener(
  options: SessionOpenerOptions,
  health: UpstreamHealth,
  places: Pick<ProcessPlaces, 'take'>,
) {
  const { addresses, limits, maxSessions } = options;
  const connect = () => createCheckedConnections(addresses, limits.timeoutMs);
  const dispatchers = { calls: connect(), quiet: connect(), streams: connect() };
  const requests = {
    agent: options.requestsPerAgent,
    tenant: options.requestsPerTenant,
    way: options.connections,
    waitMs: WAIT_MS,
  };
  // A stream belongs to a session, so as many as there may be sessions.
  const streams = { agent: MAX_STREAMS, tenant: maxSessions, way: maxSessions, waitMs: WAIT_MS };
  const shares: Shares = {
    calls: new FairShares(requests),
    quiet: new FairShares(requests),
    streams: new FairShares(streams),
  };
  const eras = createEraMemory(MAX_ERAS);

  /** @throws UpstreamFailure where the server cannot be used */
  function open(order: SessionOrder): UpstreamSession {
    const { tenantId, agentId, server } = order;
    const isHttp = server.transport !== 'stdio';
    const breaker = health.breakerOf({
      tenantId,
      serverId: server.server_id,
      agentId: isHttp ? null : agentId,
      address: addressOf(server),
    });
    const account = shareAccount(tenantId, agentId, isHttp ? originOf(server) : null);
    const session = isHttp ? overHttp(order, account) : overStdio(order);
    return new GuardedSession(session, { breaker, shares: shares.calls, account });
  }

  function common(order: SessionOrder) {
    const { tenantId, agentId, server, peer, era: preferred, isReplacement } = order;
    const { client, log } = options;
    const { server_id: serverId } = server;
    const place = `${tenantId} ${serverId} ${server.transport} ${addressOf(server)}`;
    return {
      serverId,
      limits,
      client,
      log,
      preferred,
      isReplacement,
      peer: peer?.bind(serverId),
      findIneligibility: () => options.findIneligibility(tenantId, agentId),
      openRoom: () => new AnswerBytes(options.room, { tenantId, key: `${tenantId} ${agentId}` }),
      onReopened: () => options.onReopened?.({ tenantId, agentId, serverId, peerId: peer?.id }),
      findLack: () => eras.findLack(place),
      keepLack: (era: Era | undefined) => eras.keepLack(place, era),
    };
  }

  function overStdio(order: SessionOrder): UpstreamSession {
    const { tenantId, agentId, peer } = order;
    const name = order.server.local_name ?? '';
    const server = options.stdio.get(tenantId, name);
    const whose = { peerId: peer?.id, isShared: peer?.isShared };
    const owner = { tenantId, agentId, transport: 'stdio', ...whose } as const;
    const takePlace = () => places.take(owner);
    return createStdioServerSession({ ...common(order), name, server, takePlace });
  }

  function overHttp(order: SessionOrder, account: ShareAccount): UpstreamSession {
    const { tenantId, server, sealed, hops } = order;
    const { server_id: serverId } = server;
    const url = server.url ?? '';
    if (!URL.canParse(url) || !USABLE.test(url)) {
      throw new UpstreamFailure('refused', `the server ${serverId} has no usable address`);
    }
    return createHttpServerSession({
      ...common(order),
      url,
      dispatchers,
      shares,
      account,
      hops,
      isHostAllowed: addresses.isHostAllowed,
      onRepeated: () =>
        options.log.warn(
          { server: serverId },
          'an MCP server repeats the credential that it was sent: it is covered',
        ),
      findCredential: async () => {
        if (sealed === undefined) return null;
        const deploymentId = options.findDeploymentId(tenantId);
        const place = { tenantId, deploymentId, serverId, origin: new URL(url).origin };
        return openCredentialHeader(sealed, place, options.openSealed);
      },
    });
  }

  return {
    open,
    /** Ends connections made under another address policy. */
    check: () => {
      for (const dispatcher of Object.values(dispatchers)) dispatcher.check();
    },
    close: async () => {
      await Promise.all(Object.values(dispatchers).map((one) => one.destroy()));
    },
  };
}

/** Where a server is: its URL, or its name in the operator's file. */
export function addressOf({ transport, url, local_name }: McpServerSetting): string | null {
  return transport === 'stdio' ? local_name : url;
}

/** Whether a session was opened for the server as the registry has it now. */
export function isOpenedFor(
  opened: Pick<McpServerSetting, 'transport'> &
    Pick<SessionOrder, 'sealed'> & { address: string | null },
  server: McpServerSetting,
  sealed: string | undefined,
): boolean {
  return (
    opened.address === addressOf(server) &&
    opened.transport === server.transport &&
    opened.sealed === sealed
  );
}

/** A server without a usable address is refused by its name. */
function originOf({ url }: McpServerSetting): string {
  return url !== null && URL.canParse(url) ? new URL(url).origin : '';
}
