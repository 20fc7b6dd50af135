/** Composes the gateway: both eras over one router and one enforcer. */
import { addressFor } from '@governance/shared/outbound/own-addresses';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createServerDestination } from '../enforcement/call/call-kinds.ts';
import type { Caller } from '../enforcement/call/calls.ts';
import { findServer, isServerVisible } from '../enforcement/permission/permits.ts';
import { createOriginPolicy } from '../gateway/arrival.ts';
import { askerFor } from '../gateway/call-routing.ts';
import { createAnnouncer } from '../gateway/capabilities.ts';
import { createFailures } from '../gateway/failures.ts';
import { ClientPeer } from '../gateway/legacy/client-peer.ts';
import { createLegacyHandler } from '../gateway/legacy/handler.ts';
import { createRequestHandler } from '../gateway/legacy/requests.ts';
import { createSessionReads } from '../gateway/legacy/session-reads.ts';
import { createSessionStreams } from '../gateway/legacy/session-streams.ts';
import { createLegacySessions } from '../gateway/legacy/sessions.ts';
import { createListCursors } from '../gateway/list-cursors.ts';
import { createLists } from '../gateway/lists.ts';
import { createModernGateway } from '../gateway/modern/modern-gateway.ts';
import { createOpenPlaces } from '../gateway/open-places.ts';
import { challengeHeader } from '../gateway/protected-resource.ts';
import { createRouter } from '../gateway/router.ts';
import { gatewayRoutes } from '../gateway/routes.ts';
import type { UnreadAnswers } from '../gateway/unread-answers.ts';
import type { HeldPlaces } from '../holds/held-places.ts';
import type { SessionPlace } from '../upstream/sessions/session-opener.ts';
import type { WorkerSessions } from '../workers/worker-sessions.ts';
import type { Enforcement, EnforcementParts } from './enforcement.ts';
import type { EnforcementPlaneDeps } from './plane-deps.ts';
import type { Upstreams } from './upstreams.ts';

/** Passes a request outside any session to the worker that holds calls of its agent. */
function passHeld(workers: WorkerSessions, places: Pick<HeldPlaces, 'findWorker'>) {
  return (request: FastifyRequest, reply: FastifyReply, { tenantId, agent }: Caller) => {
    if (request.method !== 'POST' || request.headers['mcp-session-id'] !== undefined) return;
    const holder = places.findWorker(tenantId, agent.id);
    return holder === undefined ? undefined : workers.passTo(holder, request, reply);
  };
}

interface GatewayDeps
  extends Pick<EnforcementPlaneDeps, 'config' | 'publicUrl' | 'rules' | 'log'>,
    Pick<EnforcementPlaneDeps, 'taskSecret' | 'workers' | 'heldPlaces' | 'servesSeveral'>,
    Pick<Enforcement, 'enforcer' | 'door'>,
    Pick<EnforcementParts, 'room' | 'limits' | 'elapsed'>,
    Pick<Upstreams, 'pool' | 'catalogue' | 'pins' | 'notes' | 'findSession'> {
  /** The name that it announces. */
  gateway: { name: string; version: string };
  unread: UnreadAnswers;
  keepAliveMs: number;
  onProtocolError(status: number, code: number): void;
  /** Called when the service stops, after the streams have ended. */
  onClose(): void;
}

export function createGateway(deps: GatewayDeps) {
  const { enforcer, door, config, publicUrl, rules, pool, findSession, room, elapsed, log } = deps;
  const servers = createServerDestination(({ caller, ask }) => findSession(caller, ask.serverId));
  const cursors = createListCursors(deps.taskSecret);
  const lists = createLists({ ...deps, cursors });
  const router = createRouter({ rules, servers, lists });
  const announce = createAnnouncer({ enforcer, door, rules, pool, room, log });
  const failed = createFailures(deps);
  const { timeoutMs, messageBytes } = deps.limits;
  const sessions = createLegacySessions(
    {
      places: createOpenPlaces(config.maxSessions, deps.servesSeveral),
      maxPerAgent: config.maxSessionsPerAgent,
      idleMs: config.sessionIdleMs,
      servesSeveral: deps.servesSeveral,
    },
    elapsed,
    deps.workers?.nameSession,
  );
  const challenge = (reply: FastifyReply, caller: Caller, scheme: 'basic' | 'bearer') => {
    const address = addressFor(publicUrl, reply.request.headers.host);
    const header = challengeHeader(address, caller.serverId, scheme, 'invalid_token');
    reply.header('www-authenticate', header);
  };
  const shared = {
    ...deps,
    router,
    announce,
    failed,
    sessions,
    timeoutMs,
    messageBytes,
    challenge,
  };

  const reads = createSessionReads({
    ...shared,
    findCapabilities: async (caller, serverId) =>
      (await findSession(caller, serverId).open(askerFor(caller, door))).capabilities,
  });
  const peerDeps = { enforcer, room, elapsed, timeoutMs, onClose: pool.endPeer };
  const legacy = createLegacyHandler({
    ...shared,
    streams: createSessionStreams(shared),
    requests: createRequestHandler({
      ...shared,
      reads,
      createPeer: (capabilities, caller) => new ClientPeer(capabilities, caller, peerDeps),
    }),
    findSession({ agent, serverId, tenantId, ...caller }) {
      const active = rules.findActiveRules(tenantId);
      if (serverId === null || !isServerVisible(agent.permits, serverId, active)) return undefined;
      const server = findServer(active, serverId);
      return server
        ? pool.getSession({
            tenantId,
            server,
            agentId: agent.id,
            peer: caller.peer,
            era: caller.era,
          })
        : undefined;
    },
  });
  const modern = createModernGateway({
    ...shared,
    places: createOpenPlaces(config.maxSessions, deps.servesSeveral),
    maxPerAgent: config.maxSessionsPerAgent,
  });

  return {
    routes: gatewayRoutes({
      door,
      legacy,
      modern: modern.handler,
      origins: createOriginPolicy(publicUrl, config.corsOrigins),
      publicUrl,
      bodyBytes: config.messageBytes,
      bodyNodes: config.messageNodes,
      ...(deps.workers && { passOn: deps.workers.passOn }),
      ...(deps.workers && deps.heldPlaces && { passHeld: passHeld(deps.workers, deps.heldPlaces) }),
      onProtocolError: deps.onProtocolError,
      onClose: () => {
        sessions.close();
        modern.listen.close();
        deps.workers?.endStreams();
        deps.onClose();
      },
    }),
    /** Repeats to a server that lost its session what its clients had told it. */
    renew(place: SessionPlace): void {
      void reads.renew(place);
      void modern.listen.renew(place);
    },
    /** See `LegacySessions.isSharing`. */
    isSharing: (place: SessionPlace): boolean => sessions.isSharing(place),
    countSessions: (): number => sessions.count(),
    /** Ends the sessions of clients. */
    close: (): void => sessions.close(),
  };
}
