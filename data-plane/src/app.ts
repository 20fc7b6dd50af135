/**
 * Composes the enforcing half of a data plane: gateway, enforcement and upstreams over a ledger, a
 * replica and rules that are given. The caller mounts `routes` on a listener, and stops in this
 * order: the listener, `stop`, the ledger.
 */
import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { gatewayAudience } from '@governance/shared/agent-token';
import type { ServerReport } from '@governance/shared/channels';
import type { TokenKeysFact } from '@governance/shared/facts';
import { addressFor } from '@governance/shared/own-addresses';
import type { FastifyPluginAsync } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { GatewayConfig } from './config.ts';
import type { FindDenial, Ledger, Replica, RulesProvider } from './contracts.ts';
import { createAgentTokenVerifier } from './enforcement/agent-token.ts';
import { createPolicyFaultAlert } from './enforcement/alerts.ts';
import type { CallObserver } from './enforcement/call-observer.ts';
import type { RawCall } from './enforcement/calls.ts';
import { createEnforcer } from './enforcement/enforcer.ts';
import { createPendingWrites } from './enforcement/pending-writes.ts';
import { type Identity, identify } from './enforcement/steps/authenticate.ts';
import { findAgentNow, findBar } from './enforcement/steps/kill-switch.ts';
import { createToolCatalogue } from './enforcement/tool-catalogue.ts';
import { NO_DEFINITIONS, openToolDefinitions } from './enforcement/tool-definitions.ts';
import { createUnenforced } from './enforcement/unenforced.ts';
import { createAnnouncer } from './gateway/capabilities.ts';
import { createFailures } from './gateway/failures.ts';
import type { Guard } from './gateway/guard.ts';
import { ClientPeer } from './gateway/legacy/client-peer.ts';
import { createLegacyHandler, type LegacyDeps } from './gateway/legacy/handler.ts';
import { createRequestHandler } from './gateway/legacy/requests.ts';
import { createSessionReads } from './gateway/legacy/session-reads.ts';
import { createLegacySessions } from './gateway/legacy/sessions.ts';
import { createListCursors } from './gateway/list-cursors.ts';
import { createListNotes } from './gateway/list-notes.ts';
import { createListService } from './gateway/list-service.ts';
import { createModernGateway } from './gateway/modern/modern-gateway.ts';
import { createOriginPolicy } from './gateway/origin.ts';
import { createPost } from './gateway/post.ts';
import { challengeHeader } from './gateway/protected-resource.ts';
import { createReadService } from './gateway/read-service.ts';
import { createRecordedLists } from './gateway/recorded-lists.ts';
import { createRefusalLog } from './gateway/refusal-log.ts';
import { gatewayRoutes } from './gateway/routes.ts';
import { findServer } from './gateway/servers.ts';
import { createToolService } from './gateway/tool-service.ts';
import { createUnreadAnswers } from './gateway/unread-answers.ts';
import { createGatewayMetrics } from './metrics.ts';
import { createOpaServers } from './opa-server/opa-servers.ts';
import { createAlerts } from './sync/raise-alert.ts';
import { createAddressPolicy } from './upstream/address-policy.ts';
import { listAllTools } from './upstream/list-tools.ts';
import { createUpstreamPool } from './upstream/pool.ts';
import { createRefusedServers } from './upstream/refused-servers.ts';
import { createStdioAccess } from './upstream/stdio-access.ts';
import {
  type Era,
  UpstreamFailure,
  type UpstreamPeer,
  type UpstreamSession,
} from './upstream/upstream.ts';
import type { WorkerSessions } from './workers/worker-sessions.ts';

export interface EnforcementPlaneDeps {
  config: GatewayConfig;
  /** Where clients reach the service: issuer of nothing here, but base of audience and metadata. */
  publicUrl: string;
  version: string;
  /** The region of this data plane, as a tenant's list shows it. */
  findRegion(tenantId: string): string | null;
  ledger: Ledger;
  replica: Replica;
  rules: RulesProvider;
  /** How many tenants it serves; one unless given. */
  countTenants?(): number;
  /** This data plane's id at a tenant. */
  findDeploymentId(tenantId: string): string | undefined;
  /** Whether it is for more than one tenant. */
  servesSeveral(): boolean;
  /** What this data plane signs agents' tokens with, where it issues any. */
  ownTokenKeys?: TokenKeysFact;
  /** Why this plane lets nobody of a tenant act now, if so. */
  findDenial: FindDenial;
  /** Decrypts a credential that was sealed to this data plane. */
  openSealed(jwe: string): Promise<string>;
  /** A private key of this data plane's own, which all its workers have. */
  taskSecret: KeyObject;
  /** Where several processes share the listener: whose a session is, and the way there. */
  workers?: WorkerSessions;
  /** Told when `serverReport` of the tenant says something else. */
  onServerReport?(tenantId: string): void;
  /** Where all workers keep what they have to know together; nothing is kept without it. */
  sharedDir?: string;
  registry: Registry;
  log: Logger;
  /** Unix milliseconds. */
  now?: () => number;
  /** Between the signs of life of a client's stream, at which it is also checked. */
  keepAliveMs?: number;
  /** For the bench alone, which measures the gateway without it. */
  enforcement?: { off: Identity };
  /** For the bench alone. */
  observe?: CallObserver;
}

export interface PolicyEngineHealth {
  engine: 'embedded' | 'opa';
  healthy: boolean;
  /** Whether calls are denied for it. */
  denies: boolean;
  message: string;
}

export interface EnforcementPlane {
  routes: FastifyPluginAsync;
  /** For the heartbeat: a tenant's tool calls judged in the last minute. */
  callsPerMinute(tenantId: string): number;
  /** For the heartbeat: how a tenant's MCP servers are, as this process found them. */
  serverReport(tenantId: string): ServerReport;
  /** The stdio servers of this host that a tenant may register. */
  listStdioNames(tenantId: string): string[];
  /**
   * How the policy engine of these tenants is: `embedded` where it is the built-in one.
   *
   * @returns the first tenant's trouble where one is unhealthy
   */
  policyEngine(tenantIds: readonly string[]): Promise<PolicyEngineHealth>;
  /** Ends sessions with servers and waits for the records that nobody waited for. */
  stop(): Promise<void>;
}

const TOKEN_CACHE = 50_000;
const KEEP_ALIVE_MS = 15_000;
/** How long calls may go on after the service was told to stop. */
const DRAIN_MS = 5_000;
const DEFINITIONS_FILE = 'tool-definitions.db';
const NAME = 'agent-governance-gateway';

/** Builds the plane. Nothing listens and nothing is connected yet. */
export function createEnforcementPlane(deps: EnforcementPlaneDeps): EnforcementPlane {
  const { config, publicUrl, ledger, replica, rules, log } = deps;
  const now = deps.now ?? Date.now;
  const elapsed = () => performance.now();
  const limits = {
    timeoutMs: config.upstreamTimeoutMs,
    messageBytes: config.messageBytes,
    messageNodes: config.messageNodes,
  };
  const gateway = { name: NAME, version: deps.version };
  const writes = createPendingWrites(log);

  const opa = config.opa
    ? createOpaServers({
        config: config.opa,
        countTenants: deps.countTenants ?? (() => 1),
        alert: createAlerts({ ledger, log, now }),
        registry: deps.registry,
        log,
      })
    : null;

  const stdio = createStdioAccess(config.stdioServers, deps.servesSeveral, log);
  // Who registers a server is not who runs this host, where it is for several tenants.
  const addresses = createAddressPolicy(
    config.upstreamAllow,
    () => !(config.isProduction && deps.servesSeveral()),
  );
  const findRefused = createRefusedServers({ rules, stdio, addresses });
  const pool = createUpstreamPool({
    limits,
    client: gateway,
    stdio,
    addresses,
    connections: config.upstreamConnections,
    requestsPerAgent: config.upstreamRequestsPerAgent,
    requestsPerTenant: config.upstreamRequestsPerTenant,
    maxSessions: config.upstreamMaxSessions,
    maxProcesses: config.upstreamMaxProcesses,
    maxOwnProcesses: config.upstreamMaxProcessesPerAgent,
    servesSeveral: deps.servesSeveral,
    hasSession: (tenantId, agentId, serverId) =>
      sessions.isSharing({ tenantId, agentId, serverId }),
    idleMs: config.sessionIdleMs,
    isRegistered: (tenantId, serverId) => {
      const active = rules.findActiveRules(tenantId);
      return active !== null && findServer(active, serverId) !== undefined;
    },
    findSealedCredential: (tenantId, serverId) =>
      replica.findUpstreamCredential(tenantId, serverId),
    findDeploymentId: deps.findDeploymentId,
    openSealed: deps.openSealed,
    onNotification: (tenantId, serverId, { method }) => {
      if (method === 'notifications/tools/list_changed') catalogue.forget(tenantId, serverId);
    },
    onReopened: (place) => {
      void reads.renew(place);
      void modern.listen.renew(place);
    },
    onHealthChanged: deps.onServerReport,
    log,
  });

  function findSession(
    tenantId: string,
    serverId: string,
    agentId: string,
    peer?: UpstreamPeer,
    era?: Era,
    hops?: number,
  ): UpstreamSession {
    const active = rules.findActiveRules(tenantId);
    const server = active === null ? undefined : findServer(active, serverId);
    if (server === undefined) throw new UpstreamFailure('refused', 'no such MCP server');
    return pool.find(tenantId, server, agentId, peer, era, hops);
  }

  const sessionOf = ({ tenantId, serverId, agent, peer, era, hops }: RawCall & Identity) =>
    findSession(tenantId, serverId, agent.id, peer, era, hops);

  const notes = createListNotes({ pool, log });
  const cursors = createListCursors(deps.taskSecret);
  const alertChanged = createAlerts({ ledger, log, now });
  const definitions =
    deps.sharedDir === undefined
      ? NO_DEFINITIONS
      : openToolDefinitions(
          join(deps.sharedDir, DEFINITIONS_FILE),
          ({ tenantId, serverId, toolName }) => {
            alertChanged(tenantId, {
              alert_type: 'TOOL_DEFINITION_CHANGED',
              severity: 'high',
              title:
                'A tool has changed since its action was set; what was set can only raise it now',
              details: { mcp_server: serverId, tool_name: toolName },
              dedupe_key: `tool-definition-changed:${serverId}/${toolName}`,
            });
            deps.onServerReport?.(tenantId);
          },
          log,
        );
  const catalogue = createToolCatalogue({
    definitions,
    findActions: (tenantId, serverId) => {
      const active = rules.findActiveRules(tenantId);
      return active === null ? undefined : findServer(active, serverId)?.tool_actions;
    },
    async listTools({ tenantId, serverId, agent, peer, era, hops }) {
      const session = findSession(tenantId, serverId, agent.id, peer, era, hops);
      const { tools, leftOut } = await listAllTools(session);
      notes.put(tenantId, serverId, 'tools/list', leftOut);
      return tools;
    },
    elapsed,
  });

  const sessions = createLegacySessions(
    {
      max: config.maxSessions,
      maxPerAgent: config.maxSessionsPerAgent,
      idleMs: config.sessionIdleMs,
    },
    elapsed,
    deps.workers?.nameSession,
  );
  const unread = createUnreadAnswers({
    maxBytes: config.unreadBytesPerAgent,
    stallMs: config.stallMs,
    elapsed,
  });
  const gauges = {
    unreadBytes: unread.bytes,
    sessions: sessions.count,
    upstreams: pool.counts,
    upstreamHealth: pool.healthCounts,
  };
  const metrics = createGatewayMetrics(deps.registry, gauges, elapsed);
  const guard = deps.enforcement ? unguarded(deps.enforcement.off) : enforced();

  function enforced(): Guard {
    const steps = {
      opa,
      replica,
      rules,
      catalogue,
      tokens: createAgentTokenVerifier({
        findTokenKeys: (tenantId) => replica.findTokenKeys(tenantId),
        ownKeys: deps.ownTokenKeys,
        now,
        cacheSize: TOKEN_CACHE,
      }),
      audience: gatewayAudience(publicUrl),
      findDeploymentId: deps.findDeploymentId,
      findDenial: deps.findDenial,
      argumentLimits: config.argumentLimits,
      findRegion: deps.findRegion,
      now,
      onUnauthenticated: createRefusalLog(log, metrics.unauthenticated, elapsed),
      onPolicyFault: createPolicyFaultAlert({ ledger, writes, now }),
    };
    const enforcer = createEnforcer({
      steps,
      audit: { ledger, findRegion: deps.findRegion, now, elapsed, observe: deps.observe },
      forward: {
        ledger,
        writes,
        findSession: sessionOf,
        findBar: (call) => {
          const found = findAgentNow(call, steps);
          return 'kind' in found ? found.message : undefined;
        },
        now,
        elapsed,
        onOutcome: metrics.outcome,
        observe: deps.observe,
      },
      ledger,
      log,
      onVerdict: metrics.verdict,
      limits,
      observe: deps.observe,
    });
    return {
      identify: (credential, serverId) => identify(credential, serverId, steps),
      findBar: (tenantId, agent) => findBar(tenantId, agent, steps),
      findAgent: (tenantId, agentId) => replica.findAgent(tenantId, agentId),
      call: enforcer.call,
    };
  }

  function unguarded(identity: Identity): Guard {
    return createUnenforced({
      identity,
      findSession: sessionOf,
    });
  }

  const tools = createToolService({ guard, rules, pool, catalogue, cursors, notes, log, now });
  const lists = createListService({ guard, rules, pool, cursors, notes, log });
  const announce = createAnnouncer({ rules, pool, log });
  const reads = createSessionReads({
    reads: createReadService({ guard, rules, now }),
    sessions,
    rules,
    guard,
    findCapabilities: async ({ tenantId, agent, peer, era, hops }, serverId) =>
      (await findSession(tenantId, serverId, agent.id, peer, era, hops).open()).capabilities,
  });
  const failed = createFailures({ limits, log });
  const { timeoutMs } = limits;
  const keepAliveMs = deps.keepAliveMs ?? KEEP_ALIVE_MS;
  const challenge: LegacyDeps['challenge'] = (reply, { serverId }, scheme) => {
    const address = addressFor(publicUrl, reply.request.headers.host);
    const header = challengeHeader(address, serverId, scheme, 'invalid_token');
    reply.header('www-authenticate', header);
  };
  const peerDeps = { guard, now, elapsed, timeoutMs, onClose: pool.endPeer };
  const requests = createRequestHandler({
    tools,
    reads,
    lists: createRecordedLists({ guard, tools, lists, rules, now }),
    announce,
    createPeer: (capabilities, caller) => new ClientPeer(capabilities, caller, peerDeps),
    guard,
    sessions,
    failed,
    gateway,
  });
  const legacy = createLegacyHandler({
    rules,
    requests,
    sessions,
    tools,
    guard,
    pool,
    unread,
    messageBytes: config.messageBytes,
    messageNodes: config.messageNodes,
    keepAliveMs,
    challenge,
  });
  const modern = createModernGateway({
    guard,
    rules,
    pool,
    catalogue,
    lists,
    cursors,
    notes,
    announce,
    limits,
    failed,
    gateway,
    taskSecret: deps.taskSecret,
    unread,
    maxStreams: config.maxSessions,
    maxStreamsPerAgent: config.maxSessionsPerAgent,
    keepAliveMs,
    challenge,
    now,
    elapsed,
    log,
  });

  return {
    routes: gatewayRoutes({
      guard,
      post: createPost(legacy, modern.handler, config.messageNodes),
      legacy,
      origins: createOriginPolicy(publicUrl, config.corsOrigins),
      publicUrl,
      bodyBytes: config.messageBytes,
      ...(deps.workers && { passOn: deps.workers.passOn }),
      onProtocolError: metrics.protocolError,
      onClose: () => {
        sessions.close();
        modern.listen.close();
        deps.workers?.endStreams();
        // Calls under way may end; what takes longer is answered with an error and recorded so.
        setTimeout(() => void pool.close(), DRAIN_MS).unref();
      },
    }),
    callsPerMinute: metrics.callsPerMinute,
    serverReport: (tenantId) =>
      pool.serverReport(tenantId, [
        ...findRefused(tenantId),
        ...definitions.findLapsed(tenantId, rules.findActiveRules(tenantId)),
      ]),
    listStdioNames: stdio.listNames,
    async policyEngine(tenantIds) {
      if (opa === null) return { engine: 'embedded', healthy: true, denies: false, message: 'ok' };
      const states = await opa.status(tenantIds);
      const ill = states.find(({ state }) => state !== 'ok');
      const denies = ill !== undefined && (opa.failClosed || ill.state !== 'unreachable');
      const message = ill ? `OPA is ${ill.state}: ${ill.message}` : 'ok';
      return { engine: 'opa', healthy: ill === undefined, denies, message };
    },
    async stop() {
      sessions.close();
      unread.stop();
      await pool.close();
      await opa?.stop();
      await writes.flush();
      definitions.close();
    },
  };
}
