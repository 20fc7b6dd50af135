import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { ServerReport } from '@governance/shared/channel/channels';
import { createAddressPolicy } from '@governance/shared/outbound/address-policy';
import type { RaiseAlert } from '../alerts/raise-alert.ts';
import type { AgentCall } from '../enforcement/call/calls.ts';
import { createCoverDifference } from '../enforcement/dlp/cover-difference.ts';
import {
  findCallerIneligibility,
  findIneligibility,
} from '../enforcement/permission/eligibility.ts';
import { findServer } from '../enforcement/permission/permits.ts';
import { changeAlert, lapseAlert } from '../enforcement/pins/definition-change.ts';
import { NO_PINS, openPinnedTools } from '../enforcement/pins/pinned-tools.ts';
import { createToolAlerts } from '../enforcement/pins/tool-alerts.ts';
import { createToolCatalogue } from '../enforcement/tools/tool-catalogue.ts';
import { NO_DEFINITIONS, openToolDefinitions } from '../enforcement/tools/tool-definitions.ts';
import { createListNotes } from '../gateway/list-notes.ts';
import { createRefusedServers } from '../upstream/health/refused-servers.ts';
import { listAllTools } from '../upstream/lists/list-tools.ts';
import { createUpstreamPool } from '../upstream/sessions/pool.ts';
import { addressOf, type SessionPlace } from '../upstream/sessions/session-opener.ts';
import type { FairBytes } from '../upstream/shares/fair-bytes.ts';
import { createStdioAccess } from '../upstream/stdio/stdio-access.ts';
import { Cancellation, UpstreamFailure, type UpstreamSession } from '../upstream/upstream.ts';
import type { EnforcementPlaneDeps } from './plane-deps.ts';

export type Upstreams = ReturnType<typeof createUpstreams>;

const DEFINITIONS_FILE = 'tool-definitions.db';
const PINS_FILE = 'tool-pins.db';

/**
 * Builds the connections to MCP servers and the catalogue of their tools.
 *
 * @param room for what arrives that no call of an agent counts
 * @param hooks what the gateway, which is built later, is asked by the servers' side
 */
export function createUpstreams(
  deps: EnforcementPlaneDeps,
  client: { name: string; version: string },
  raiseAlert: RaiseAlert,
  room: FairBytes,
  hooks: {
    /** See `LegacySessions.isSharing`. */
    hasSession(place: SessionPlace): boolean;
    /** A server has lost its session, and with it what it was told. */
    onReopened(place: SessionPlace): void;
  },
) {
  const { config, replica, rules, log } = deps;
  const stdio = createStdioAccess(config.stdioServers, deps.servesSeveral, log);
  // Where a host serves several tenants, who registers a server is not its operator.
  const addresses = createAddressPolicy(
    config.upstreamAllow,
    () => !(config.isProduction && deps.servesSeveral()),
  );
  const findRegistered = (tenantId: string, serverId: string) => {
    const active = rules.findActiveRules(tenantId);
    return findServer(active, serverId);
  };
  const findRefused = createRefusedServers({ rules, stdio, addresses });
  const pool = createUpstreamPool({
    limits: {
      timeoutMs: config.upstreamTimeoutMs,
      messageBytes: config.messageBytes,
      messageNodes: config.messageNodes,
    },
    client,
    stdio,
    addresses,
    room,
    connections: config.upstreamConnections,
    requestsPerAgent: config.upstreamRequestsPerAgent,
    requestsPerTenant: config.upstreamRequestsPerTenant,
    maxSessions: config.upstreamMaxSessions,
    maxProcesses: config.upstreamMaxProcesses,
    maxOwnProcesses: config.upstreamMaxProcessesPerAgent,
    servesSeveral: deps.servesSeveral,
    hasSession: hooks.hasSession,
    idleMs: config.sessionIdleMs,
    isRegistered: (tenantId, serverId, at) => {
      const server = findRegistered(tenantId, serverId);
      if (server === undefined || at === undefined) return server !== undefined;
      return server.transport === at.transport && addressOf(server) === at.address;
    },
    findServer: findRegistered,
    findSealedCredential: (tenantId, serverId) =>
      replica.findUpstreamCredential(tenantId, serverId),
    findIneligibility: (tenantId, agentId) => {
      const agent = replica.findAgent(tenantId, agentId);
      if (agent === undefined) return 'Unauthorized: the agent is unknown.';
      return findIneligibility({ tenantId, agent }, deps)?.message;
    },
    findDeploymentId: deps.findDeploymentId,
    openSealed: deps.openSealed,
    onNotification: (tenantId, serverId, { method }) => {
      if (method === 'notifications/tools/list_changed') catalogue.forget(tenantId, serverId);
    },
    onReopened: hooks.onReopened,
    onHealthChanged: deps.onServerReport,
    log,
  });

  /** The agent's session with a server. Throws UpstreamFailure for one that is not there. */
  function findSession(
    { tenantId, agent, peer, era, hops }: AgentCall['caller'],
    serverId: string,
  ): UpstreamSession {
    const server = findRegistered(tenantId, serverId);
    if (server === undefined) throw new UpstreamFailure('refused', 'no such MCP server');
    return pool.getSession({ tenantId, server, agentId: agent.id, peer, era, hops });
  }

  const notes = createListNotes({ pool, log });
  const now = deps.now ?? Date.now;
  const findSettings = (tenantId: string) => rules.findActiveRules(tenantId)?.settings ?? null;
  const coverDifference = createCoverDifference(findSettings);
  const raiseToolAlerts = createToolAlerts({ raise: coverDifference.inAlerts(raiseAlert), now });
  const definitions =
    deps.sharedDir === undefined
      ? NO_DEFINITIONS
      : openToolDefinitions(
          join(deps.sharedDir, DEFINITIONS_FILE),
          (place) => {
            const { tenantId, serverId } = place;
            raiseToolAlerts(tenantId, serverId, [lapseAlert(place)]);
            deps.onServerReport?.(tenantId);
          },
          log,
        );
  const pins =
    deps.sharedDir === undefined
      ? NO_PINS
      : openPinnedTools(join(deps.sharedDir, PINS_FILE), {
          onObserved: (tenantId, serverId, changes) =>
            raiseToolAlerts(tenantId, serverId, changes.map(changeAlert)),
          onNews: (tenantId) => deps.onServerReport?.(tenantId),
          now,
          log,
        });
  const catalogue = createToolCatalogue({
    definitions,
    onListed: (tenantId, serverId, tools) =>
      pins.observe(tenantId, serverId, tools, findSettings(tenantId)),
    findActions: (tenantId, serverId) => findRegistered(tenantId, serverId)?.tool_actions,
    async listTools({ caller, ask }) {
      // Always for the agent of a call: the plane reads no server's list by itself.
      const asker = {
        cancellation: new Cancellation(),
        findIneligibility: () => findCallerIneligibility(caller, deps)?.message,
      };
      const { tools, leftOut } = await listAllTools(findSession(caller, ask.serverId), asker);
      notes.put(caller.tenantId, ask.serverId, 'tools/list', leftOut);
      return tools;
    },
    elapsed: () => performance.now(),
  });

  return {
    pool,
    catalogue,
    pins: { ...pins, reports: coverDifference.inReports(pins.reports) },
    notes,
    findSession,
    listStdioNames: stdio.listNames,
    /** The health of a tenant's servers. */
    report: (tenantId: string): ServerReport =>
      pool.serverReport(tenantId, [
        ...findRefused(tenantId),
        ...definitions.findLapsed(tenantId, rules.findActiveRules(tenantId)),
      ]),
    /** Call it after the last record was written. */
    close: () => {
      definitions.close();
      pins.close();
    },
  };
}
