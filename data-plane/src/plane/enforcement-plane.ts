/**
 * Composes the enforcing half of a data plane: gateway, enforcement, upstreams and the proxy of
 * local models, over a given ledger, replica and rules. The caller mounts `routes` on a listener,
 * and stops in this order: the listener, `stop`, the ledger.
 */
import { performance } from 'node:perf_hooks';
import type { FastifyPluginAsync } from 'fastify';
import { createRaiseAlert } from '../alerts/raise-alert.ts';
import { createOriginPolicy } from '../gateway/arrival.ts';
import { createUnreadAnswers } from '../gateway/unread-answers.ts';
import { createGatewayMetrics } from '../metrics.ts';
import { modelRoutes } from '../models/model-routes.ts';
import { createModelRuntime } from '../models/model-runtime.ts';
import { createOpaServers } from '../opa-server/opa-servers.ts';
import { createPendingWrites } from '../storage/pending-writes.ts';
import { createAnswerRoom } from '../upstream/shares/answer-room.ts';
import { heapShare } from '../upstream/shares/fair-bytes.ts';
import { FairShares } from '../upstream/shares/fair-shares.ts';
import type { Enforcement, EnforcementParts } from './enforcement.ts';
import { createGateway } from './gateway.ts';
import type { EnforcementPlaneDeps } from './plane-deps.ts';
import { createUpstreams } from './upstreams.ts';

const KEEP_ALIVE_MS = 15_000;
/** How long calls may continue after the service was told to stop. */
const DRAIN_MS = 5_000;
/** How long a request to a local model waits for a slot: as long as one to an MCP server. */
const MODEL_WAIT_MS = 2_000;
/** Answers that clients have not read take one part in this many of the heap, at most. */
const UNREAD_PARTS = 8;
const NAME = 'agent-governance-gateway';

/**
 * Builds the plane. Nothing listens and nothing is connected yet.
 *
 * @param enforce builds what judges and records: named where a data plane is composed, like the
 *   ledger and the rules
 */
export function createEnforcementPlane(
  enforce: (deps: EnforcementPlaneDeps, parts: EnforcementParts) => Enforcement,
  deps: EnforcementPlaneDeps,
) {
  const { config, publicUrl, ledger, rules, log, keepAliveMs = KEEP_ALIVE_MS } = deps;
  const now = deps.now ?? Date.now;
  const elapsed = () => performance.now();
  const limits = { timeoutMs: config.upstreamTimeoutMs, messageBytes: config.messageBytes };
  const self = { name: NAME, version: deps.version };
  const writes = createPendingWrites(log);
  const raiseAlert = createRaiseAlert({ ledger, writes, now });
  const opa = config.opa
    ? createOpaServers({
        config: config.opa,
        countTenants: deps.countTenants ?? (() => 1),
        alert: raiseAlert,
        registry: deps.registry,
        log,
      })
    : null;
  const room = createAnswerRoom(config.messageBytes, deps.servesSeveral);
  const upstreams = createUpstreams(deps, self, raiseAlert, room, {
    hasSession: (place) => gateway.isSharing(place),
    onReopened: (place) => gateway.renew(place),
  });
  const { pool, catalogue, pins } = upstreams;
  const unread = createUnreadAnswers({
    maxBytes: config.unreadBytesPerAgent,
    maxBytesOfAll: Math.max(heapShare(UNREAD_PARTS), config.unreadBytesPerAgent),
    servesSeveral: deps.servesSeveral,
    stallMs: config.stallMs,
    elapsed,
  });
  const gauges = {
    answerBytes: () => room.total,
    unreadBytes: unread.bytes,
    sessions: () => gateway.countSessions(),
    upstreams: pool.counts,
    upstreamHealth: pool.healthCounts,
  };
  const metrics = createGatewayMetrics(deps.registry, gauges, elapsed);
  const parts = { opa, catalogue, pins, room, limits, metrics, writes, raiseAlert, now, elapsed };
  const { enforcer, door, endWaits, stop: stopEnforcement } = enforce(deps, parts);
  const gateway = createGateway({
    enforcer,
    door,
    config,
    publicUrl,
    gateway: self,
    rules,
    ...upstreams,
    unread,
    room,
    limits,
    taskSecret: deps.taskSecret,
    workers: deps.workers,
    heldPlaces: deps.heldPlaces,
    servesSeveral: deps.servesSeveral,
    keepAliveMs,
    onProtocolError: metrics.protocolError,
    // Calls in progress may finish; what takes longer is answered and recorded as an error.
    onClose: () => {
      deps.held.endWaits();
      endWaits();
      setTimeout(() => void pool.close(), DRAIN_MS).unref();
    },
    elapsed,
    log,
  });

  const modelRuntime = createModelRuntime({
    url: config.localModelUrl,
    timeoutMs: config.localModelTimeoutMs,
    checkMs: keepAliveMs,
  });
  const models = modelRoutes({
    enforcer,
    door,
    runtime: modelRuntime,
    shares: new FairShares({
      agent: config.upstreamRequestsPerAgent,
      tenant: config.upstreamRequestsPerTenant,
      way: config.upstreamConnections,
      waitMs: MODEL_WAIT_MS,
    }),
    origins: createOriginPolicy(publicUrl, config.corsOrigins),
    bodyBytes: config.messageBytes,
    bodyNodes: config.messageNodes,
  });
  const routes: FastifyPluginAsync = async (app) => {
    await app.register(gateway.routes);
    await app.register(models);
  };

  return {
    routes,
    /** For the heartbeat: a tenant's tool calls judged in the last minute. */
    callsPerMinute: metrics.callsPerMinute,
    /** For the heartbeat: the health of a tenant's MCP servers, as seen by this process. */
    serverReport: upstreams.report,
    /** For the heartbeat: the pins of a tenant's tools. */
    pinReports: pins.reports,
    /** The stdio servers of this host that a tenant may register. */
    listStdioNames: upstreams.listStdioNames,
    /**
     * The state of these tenants' policy engine: `embedded` where it is the built-in one.
     *
     * @returns the first tenant's trouble where one is unhealthy, and whether calls are denied for it
     */
    async policyEngine(tenantIds: readonly string[]) {
      if (opa === null) return { engine: 'embedded', healthy: true, denies: false, message: 'ok' };
      const states = await opa.status(tenantIds);
      const ill = states.find(({ state }) => state !== 'ok');
      const denies = ill !== undefined && (opa.failClosed || ill.state !== 'unreachable');
      const message = ill ? `OPA is ${ill.state}: ${ill.message}` : 'ok';
      return { engine: 'opa', healthy: ill === undefined, denies, message };
    },
    /** Closes sessions with servers and flushes pending records. */
    async stop(): Promise<void> {
      gateway.close();
      unread.stop();
      await Promise.all([pool.close(), modelRuntime.close()]);
      await opa?.stop();
      await stopEnforcement();
      await writes.flush();
      upstreams.close();
    },
  };
}
