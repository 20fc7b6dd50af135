/**
 * Receives heartbeats: from a deployment with its own token or by the local link, and from any
 * sender with a root's token. With a root's token, only heartbeats of deployments that registered
 * with that root count; others are only listed (unregistered-plane-store.ts) or ignored. Proven by
 * data-plane-routes.pg.test.ts and stopped-stream.pg.test.ts.
 */

import type {
  AdminHeadReport,
  Heartbeat,
  HeartbeatReceipt,
  LogWatchReport,
  StreamReport,
} from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { createRateLimiter } from '@governance/shared/http/rate-limiter';
import type { ToolPinReport } from '@governance/shared/mcp/tool-pins';
import { Id } from '@governance/shared/text';
import { HOUR_MS } from '@governance/shared/time/durations';
import { raiseAlert } from '../alerts/raise-alert.ts';
import { resolveAlert } from '../alerts/resolve-alert.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { bundleRevisionOf } from './data-plane.ts';
import { dataPlaneStore } from './data-plane-store.ts';
import { dataPlaneTokenStore } from './data-plane-token-store.ts';
import { heartbeatStore, type RecordedHeartbeat } from './heartbeat-store.ts';
import { unregisteredPlaneStore } from './unregistered-plane-store.ts';

export interface HeartbeatReceiverDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  /** Called when a data plane uses rules newer than any stored here. */
  onNewerRules?(tenantId: string, revision: number): void;
  /** Called with the admin-chain heads that a data plane remembers. */
  onAdminHeads?(tenantId: string, deploymentId: string, report: AdminHeadReport): Promise<void>;
  /** Called with the checkpoints of the log that a data plane keeps. */
  onLogWatch?(tenantId: string, deploymentId: string, report: LogWatchReport): Promise<void>;
  /** Called with the tools' pins. */
  onToolPins?(tenantId: string, pins: readonly ToolPinReport[]): Promise<void>;
  now: () => Date;
  /** Monotonic milliseconds, by which limits count. */
  limitClock: () => number;
}

/**
 * Stores a data plane's heartbeat and state.
 *
 * @param rootId the root whose token was presented; null for the deployment's own token or link
 * @throws AppError DATA_PLANE_NOT_FOUND when the tenant has no such data plane; DATA_PLANE_REVOKED
 * when it was revoked. Neither is thrown with a root's token.
 */
export type ReceiveHeartbeat = (
  scope: TenantScope,
  heartbeat: Heartbeat,
  rootId: string | null,
) => Promise<HeartbeatReceipt>;

/**
 * The most alerts per hour about stops of one data plane's stream, counted by each process. A
 * stream that keeps stopping and resuming would otherwise fill the alerts and the admin chain; its
 * last alert stays open.
 */
export const MAX_STOP_ALERTS = 6;
const STOPS_WINDOW_MS = HOUR_MS;

export function createHeartbeatReceiver(deps: HeartbeatReceiverDeps): ReceiveHeartbeat {
  const stops = createRateLimiter({
    limit: MAX_STOP_ALERTS,
    windowMs: STOPS_WINDOW_MS,
    elapsed: deps.limitClock,
  });
  return async (scope, { tool_pins: pins, ...heartbeat }, rootId) => {
    const at = deps.now();
    const recorded = await deps.db.inTenant(scope, async (tx) => {
      if (rootId !== null && !(await mayReport(tx, heartbeat, rootId, at))) return undefined;
      const plane = `${scope.tenantId}/${heartbeat.deployment_id}`;
      const isStopped = heartbeat.stream?.is_stopped ?? null;
      const mayRun = isStopped !== false || !stops.isUsedUp(plane);
      const stated = { heartbeat, isStopped: mayRun ? isStopped : null };
      const recorded = await heartbeatStore(tx).record(stated, at);
      if (recorded === undefined) throw new AppError('DATA_PLANE_NOT_FOUND');
      if (recorded.standing === 'revoked') throw new AppError('DATA_PLANE_REVOKED');
      if (mayRun && (await alertOfStream(tx, heartbeat, recorded, at))) stops.count(plane);
      return recorded;
    });
    const revision = bundleRevisionOf(heartbeat) ?? 0;
    if (recorded && revision > recorded.newestRevision)
      deps.onNewerRules?.(scope.tenantId, revision);
    const { deployment_id: deploymentId, admin_heads: heads, log_watch: watch } = heartbeat;
    if (recorded && heads) await deps.onAdminHeads?.(scope.tenantId, deploymentId, heads);
    if (recorded && watch) await deps.onLogWatch?.(scope.tenantId, deploymentId, watch);
    // Before the answer, so that the data plane sends a report again that fails here.
    if (recorded && pins) await deps.onToolPins?.(scope.tenantId, pins);
    const receipt: HeartbeatReceipt = { received: true, timestamp: at.toISOString() };
    return recorded?.next ? { ...receipt, next: recorded.next } : receipt;
  };
}

/**
 * Whether the deployment registered with the root; stores the heartbeat of a sender that never
 * registered.
 */
async function mayReport(
  tx: TenantTransaction,
  heartbeat: Heartbeat,
  rootId: string,
  at: Date,
): Promise<boolean> {
  const { deployment_id: deploymentId } = heartbeat;
  // No registered deployment has an id other than a UUID.
  const plane = Id.safeParse(deploymentId).success
    ? await dataPlaneStore(tx).find(deploymentId)
    : undefined;
  if (!plane) {
    await unregisteredPlaneStore(tx).recordHeartbeat(heartbeat, rootId, at);
    return false;
  }
  if (plane.standing === 'revoked') return false;
  return dataPlaneTokenStore(tx).isChildOf(deploymentId, rootId);
}

/**
 * Raises STREAM_STOPPED once per stop, and resolves it when the stream resumes.
 *
 * @returns whether it raised an alert
 */
async function alertOfStream(
  tx: TenantTransaction,
  { deployment_id: deploymentId, stream }: Heartbeat,
  { label, wasStopped }: RecordedHeartbeat,
  now: Date,
): Promise<boolean> {
  const dedupeKey = `stream-stopped/${deploymentId}`;
  if (stream === undefined || stream.is_stopped === wasStopped) return false;
  if (!stream.is_stopped) {
    await resolveAlert(tx, dedupeKey, now);
    return false;
  }
  await raiseAlert(tx, {
    alertType: 'STREAM_STOPPED',
    severity: 'critical',
    agentId: null,
    title: 'The records of a data plane no longer arrive',
    details: { deployment_id: deploymentId, label, ...toDetails(stream) },
    dedupeKey,
    now,
  });
  return true;
}

function toDetails({ state, backlog, last_error, stopped_at }: StreamReport) {
  return { state, backlog, last_error, stopped_at };
}
