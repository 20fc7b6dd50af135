/** What every tenant's synchronisation is started with, and what its heartbeat says. */

import type {
  ControlPlaneLink,
  Heartbeat,
  RegistrationAnswer,
  ServerReport,
} from '@governance/shared/channel/channels';
import { DAY_MS } from '@governance/shared/time/durations';
import type { PinReports } from '../contracts.ts';
import type { HeldCalls } from '../holds/held-calls.ts';
import type { BundleSync } from '../sync/bundle/bundle-sync.ts';
import type { LoadPolicyEngine } from '../sync/bundle/policy-activation.ts';
import { createPolicyLoader } from '../sync/bundle/policy-loader.ts';
import { DEFAULT_OFFLINE_MAX_AGE_SECONDS } from '../sync/feed/freshness.ts';
import type { SyncLog } from '../sync/link/sync-failure.ts';
import { DEFAULT_LEDGER_KEEP_DAYS } from '../sync/shipping/pruner.ts';
import { type SyncSettings, startTenantSync, type TenantSync } from '../sync/tenant-sync.ts';
import type { DataFolder } from './data-folder.ts';

const DEFAULT_SHIP_DELAY_MS = 1_000;

export interface TenantStartOptions {
  dataDir: string;
  log: SyncLog;
  /** Tool calls judged for a tenant in the last minute, for the heartbeat. */
  callsPerMinute?: (tenantId: string) => number;
  /** The health of a tenant's MCP servers, for the heartbeat. */
  serverReport?: (tenantId: string) => ServerReport;
  /** The pins of tools, for the heartbeat. */
  pinReports?: () => PinReports;
  /**
   * How long records are collected before they are shipped: 1 s by default, 50 ms in standalone
   * mode.
   */
  shipDelayMs?: number;
  /** How long rules are valid without a newer statement of the control plane: 24 h by default. */
  offlineMaxAgeSeconds?: number;
  /** How long records are kept after they were shipped: 7 days by default. */
  ledgerKeepDays?: number;
  /** Loads a policy into an engine; the built-in engine by default. */
  loadPolicy?: LoadPolicyEngine;
  backoffLimits?: { first: number; longest: number };
}

/**
 * @param on.forked two data planes write with one key: neither can be trusted, so both stop
 * @param on.unknownKey a tenant's data was signed by a key that is not known here
 * @param on.stated a statement of the control plane of this time was verified, by its clock of this
 *   generation
 */
export function createTenantStart(
  options: TenantStartOptions,
  folder: DataFolder,
  held: Pick<HeldCalls, 'countPending'>,
  now: () => number,
  on: {
    forked(tenantId: string, message: string): void;
    unknownKey(tenantId: string): void;
    stated(tenantId: string, time: number, generation: number): void;
  },
) {
  const { identity, ledger, payloadSpool, replica, standing } = folder;
  const started = now();
  const settings: SyncSettings = {
    dataDir: options.dataDir,
    clock: folder.clock,
    load: options.loadPolicy ?? createPolicyLoader(now),
    alerts: folder.alerts,
    offlineMaxAgeMs: (options.offlineMaxAgeSeconds ?? DEFAULT_OFFLINE_MAX_AGE_SECONDS) * 1000,
    ledgerKeepMs: (options.ledgerKeepDays ?? DEFAULT_LEDGER_KEEP_DAYS) * DAY_MS,
    shipDelayMs: options.shipDelayMs ?? DEFAULT_SHIP_DELAY_MS,
    logWatch: folder.logWatch,
    log: options.log,
    now,
    backoffLimits: options.backoffLimits,
  };

  function toHeartbeat(tenantId: string, deploymentId: string, bundle: BundleSync): Heartbeat {
    return {
      deployment_id: deploymentId,
      active_agent_count: replica.countActiveAgents(tenantId),
      proxy_rpm_1m: options.callsPerMinute?.(tenantId) ?? 0,
      escalations_pending: held.countPending(tenantId),
      opa_bundle_version: String(bundle.activeRules()?.revision ?? 'none'),
      uptime_seconds: Math.max(0, Math.round((now() - started) / 1000)),
      mcp_servers: options.serverReport?.(tenantId),
      tool_pins: options.pinReports?.().next(tenantId),
    };
  }

  return (answer: RegistrationAnswer, link: ControlPlaneLink): Promise<TenantSync> => {
    const { tenant_id: tenantId, deployment_id: deploymentId } = answer;
    return startTenantSync({
      ...settings,
      answer,
      keepAnswer: identity.saveRegistration,
      link,
      ledger,
      payloadSpool,
      replica,
      heartbeat: (bundle) => toHeartbeat(tenantId, deploymentId, bundle),
      onHeartbeat: () => options.pinReports?.().received(tenantId),
      isRevoked: () => standing.find(tenantId)?.reason === 'tenant_revoked',
      onStreamStopped: ({ state, failure }) => {
        const message = `Another data plane wrote with this one's key: ${failure.code}.`;
        if (state === 'forked') on.forked(tenantId, message);
      },
      onUnknownKey: () => on.unknownKey(tenantId),
      onStatement: (time, generation) => on.stated(tenantId, time, generation),
    });
  };
}
