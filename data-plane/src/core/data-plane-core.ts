/**
 * The half of a data plane that serves no agents: ledger, replica and rules, and for each tenant
 * the loops that synchronise them with its control plane. One ledger file and one replica file
 * serve all tenants. An outage of one tenant's control plane does not stop the other tenants.
 */
import type {
  ControlPlaneLink,
  Heartbeat,
  RegistrationAnswer,
  ServerReport,
} from '@governance/shared/channels';
import type { PinReports, RulesProvider } from '../contracts.ts';
import { createHeldCalls } from '../holds/held-calls.ts';
import type { HeldPlaces } from '../holds/held-places.ts';
import { startLedgerChecker } from '../ledger/ledger-checker.ts';
import { createListeners } from '../storage/listeners.ts';
import type { BundleSync } from '../sync/bundle/bundle-sync.ts';
import type { LoadPolicyEngine } from '../sync/bundle/policy-activation.ts';
import { createPolicyLoader } from '../sync/bundle/policy-loader.ts';
import { createAppliedBarrier } from '../sync/feed/applied-barrier.ts';
import { DEFAULT_OFFLINE_MAX_AGE_SECONDS } from '../sync/feed/freshness.ts';
import { DEFAULT_LEDGER_KEEP_DAYS } from '../sync/shipping/pruner.ts';
import { type SyncSettings, startTenantSync, type TenantSyncStatus } from '../sync/tenant-sync.ts';
import { type DataFolder, type DataFolderOptions, openDataFolder } from './data-folder.ts';
import { createServedTenants } from './served-tenants.ts';
import { createTenantDenials } from './tenant-denials.ts';

const DEFAULT_SHIP_DELAY_MS = 1_000;
const DEFAULT_STOP_MS = 5_000;

export interface DataPlaneCoreOptions extends DataFolderOptions {
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
  /** With several workers: which of them holds calls of which agent. */
  heldPlaces?: HeldPlaces | undefined;
  /** How many tenants it will serve, by its settings. */
  expectedTenants?: number;
  /** Loads a policy into an engine; the built-in engine by default. */
  loadPolicy?: LoadPolicyEngine;
  /** Unix milliseconds. */
  now?: () => number;
  backoffLimits?: { first: number; longest: number };
}

export interface TenantStatus extends TenantSyncStatus {
  tenant_id: string;
  deployment_id: string;
  /** The token for the control plane; null where both planes are one process. */
  token: TokenStatus | null;
}

export interface TokenStatus {
  expires_at: string | null;
  /** Since the start. */
  renewals: number;
}

export type DataPlaneCore = Awaited<ReturnType<typeof createDataPlaneCore>>;

/**
 * Opens ledger, replica and identity in a data folder, which must exist.
 *
 * @throws when a file is damaged or another process uses the folder
 */
export async function createDataPlaneCore(options: DataPlaneCoreOptions) {
  const { log } = options;
  const now = options.now ?? Date.now;
  const folder = await openDataFolder(options, now);
  const { identity, ledger, payloadSpool, replica, heldResults, standing } = folder;
  const places = options.heldPlaces;
  const held = createHeldCalls({ ledger, replica, results: heldResults, places, now });
  const started = now();
  const settings = syncSettings(options, folder, now);
  const tokens = new Map<string, TokenStatus>();
  const unknownKeys = createListeners<[tenantId: string]>();
  const tenants = createServedTenants({ identity, ledger, replica, held, log, startSync });
  const findSync = (tenantId: string) => tenants.find(tenantId)?.sync;
  const denials = createTenantDenials({ standing, replica, findSync });

  const checker = startLedgerChecker({
    ledger,
    listTenants: () => tenants.list().map(([tenantId]) => tenantId),
    onDamage: (tenantId, message) => {
      log.error({ tenantId, reason: message }, 'records that are kept are not what was recorded');
      folder.alerts.ledgerDamaged(tenantId, message);
    },
    log,
    now,
  });

  function startSync(answer: RegistrationAnswer, link: ControlPlaneLink) {
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
      // Two data planes write with one key. Neither can be trusted, so both stop.
      onStreamStopped: ({ state, failure }) => {
        const message = `Another data plane wrote with this one's key: ${failure.code}.`;
        if (state === 'forked') denials.fork(tenantId, message);
      },
      onUnknownKey: () => unknownKeys.tell(tenantId),
    });
  }

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

  const rules: RulesProvider = {
    findActiveRules: (tenantId) => findSync(tenantId)?.bundle.activeRules() ?? null,
  };

  return {
    identity,
    ledger,
    payloadSpool,
    replica,
    held,
    heldResults,
    rules,
    /** Unix milliseconds by a clock that never runs back, not even over a restart. */
    planeNow: folder.clock.read,
    /** Resolves when a change is enforced here. */
    applied: createAppliedBarrier((id) => findSync(id)?.progress, log),
    findDeploymentId: (tenantId: string) => tenants.find(tenantId)?.deploymentId,
    /** The region as the tenant's list of deployments shows it; undefined where not stated. */
    findRegion: (tenantId: string) => tenants.find(tenantId)?.region,
    /** The number of tenants served, including those being added. */
    countTenants: tenants.count,
    /**
     * Whether it serves, has served since its start, or will serve more than one tenant. An entry
     * of the servers file that names no tenants then belongs to none.
     */
    servesSeveral: () => tenants.countEver() > 1 || (options.expectedTenants ?? 0) > 1,
    /**
     * Begins to serve a tenant: its stream gets a new epoch, the last good bundle is activated, and
     * the loops start. It does not wait until the control plane's changes are applied: see
     * `applied`. For a tenant that is already served, it takes over the keys of the newer answer.
     *
     * @throws when the tenant's stream is damaged or cannot be opened durably
     */
    addTenant: tenants.add,
    /** Stops serving a tenant: its agents are unknown from then on. Its records stay. */
    removeTenant: tenants.remove,
    ...denials,
    /** Reads the feed at once, for a caller about whom the replica cannot decide. */
    askForNews: (tenantId: string, agentId: string | null) =>
      findSync(tenantId)?.feed.askForNews(agentId) ?? null,
    /** Tenants whose feed is still expected to catch up after the start. */
    countCatchingUp: () => tenants.list().filter(([, { sync }]) => sync.feed.isCatchingUp()).length,
    /** Stores the status of the tenant's token, for `status`. */
    noteToken: (tenantId: string, token: TokenStatus): void => {
      tokens.set(tenantId, token);
    },
    /** Sends a tenant's heartbeat soon, before it is due. */
    reportSoon: (tenantId: string) => findSync(tenantId)?.report(),
    /** Retries all loops of a tenant at once. */
    kick: (tenantId: string) => findSync(tenantId)?.kick(),
    /** Calls back when a tenant's data was signed by an unknown key; returns the unsubscribe. */
    onUnknownKey: unknownKeys.add,

    status: () => ({
      ledger: ledger.status(),
      ledgerCheck: checker.status(),
      tenants: tenants.list().map(
        ([tenantId, { deploymentId, sync }]): TenantStatus => ({
          tenant_id: tenantId,
          deployment_id: deploymentId,
          token: tokens.get(tenantId) ?? null,
          ...sync.status(),
        }),
      ),
    }),
    /** Ships what it can within `ms`, makes everything durable and closes the files. */
    stop: async (ms = DEFAULT_STOP_MS): Promise<void> => {
      checker.stop();
      held.stop();
      // Payloads sealed now can still be sent.
      await payloadSpool.flush();
      await tenants.stop(ms);
      await folder.close();
    },
  };
}

function syncSettings(
  options: DataPlaneCoreOptions,
  { clock, alerts, logWatch }: DataFolder,
  now: () => number,
): SyncSettings {
  return {
    dataDir: options.dataDir,
    clock,
    load: options.loadPolicy ?? createPolicyLoader(now),
    alerts,
    offlineMaxAgeMs: (options.offlineMaxAgeSeconds ?? DEFAULT_OFFLINE_MAX_AGE_SECONDS) * 1000,
    ledgerKeepMs: (options.ledgerKeepDays ?? DEFAULT_LEDGER_KEEP_DAYS) * 86_400_000,
    shipDelayMs: options.shipDelayMs ?? DEFAULT_SHIP_DELAY_MS,
    logWatch,
    log: options.log,
    now,
    backoffLimits: options.backoffLimits,
  };
}
