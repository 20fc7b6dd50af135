import type { Heartbeat, ServerReport } from '@governance/shared/channels';
import type { PinReports } from '../contracts.ts';
import type { HeldCalls } from '../holds/held-calls.ts';
import type { LocalReplica } from '../replica/replica.ts';
import type { BundleSync } from '../sync/bundle/bundle-sync.ts';

/** What the heartbeat reports of calls and servers, where this process knows it. */
export interface HeartbeatReports {
  /** Tool calls judged for a tenant in the last minute. */
  callsPerMinute?: (tenantId: string) => number;
  /** The health of a tenant's MCP servers. */
  serverReport?: (tenantId: string) => ServerReport;
  /** The pins of the tenant's tools. */
  pinReports?: () => PinReports;
}

/** Builds what makes a tenant's heartbeats. The uptime counts from now on. */
export function createHeartbeat(deps: {
  replica: Pick<LocalReplica, 'countActiveAgents'>;
  held: Pick<HeldCalls, 'countPending'>;
  reports: HeartbeatReports;
  now: () => number;
}) {
  const { replica, held, reports, now } = deps;
  const started = now();
  return (tenantId: string, deploymentId: string, bundle: BundleSync): Heartbeat => ({
    deployment_id: deploymentId,
    active_agent_count: replica.countActiveAgents(tenantId),
    proxy_rpm_1m: reports.callsPerMinute?.(tenantId) ?? 0,
    escalations_pending: held.countPending(tenantId),
    opa_bundle_version: String(bundle.activeRules()?.revision ?? 'none'),
    uptime_seconds: Math.max(0, Math.round((now() - started) / 1000)),
    mcp_servers: reports.serverReport?.(tenantId),
    tool_pins: reports.pinReports?.().next(tenantId),
  });
}
