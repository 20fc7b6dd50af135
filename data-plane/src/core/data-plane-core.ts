/**
 * The half of a data plane that does not meet agents: ledger, replica and rules, and for each
 * tenant the loops that synchronise them with its control plane. One ledger file and one replica
 * file serve all tenants; one tenant's outage does not stop another.
 */
import { join } from 'node:path';
import type {
  ControlPlaneLink,
  Heartbeat,
  RegistrationAnswer,
  ServerReport,
} from '@governance/shared/channels';
import { createRaiseAlert } from '../alerts/raise-alert.ts';
import type { PinReports, PlaneDenial, RulesProvider } from '../contracts.ts';
import { createHeldCalls } from '../holds/held-calls.ts';
import type { HeldPlaces } from '../holds/held-places.ts';
import { HELD_RESULTS_FILE, openHeldResults } from '../holds/held-results.ts';
import { loadIdentity } from '../identity/identity.ts';
import { enterIdentity } from '../identity/rotate-own-keys.ts';
import { loadStanding } from '../identity/standing.ts';
import { createLedger, type LedgerObserver } from '../ledger/ledger.ts';
import { startLedgerChecker } from '../ledger/ledger-checker.ts';
import { openPayloadSpool } from '../payloads/payload-spool.ts';
import { createReplica } from '../replica/replica.ts';
import { createListeners } from '../storage/listeners.ts';
import { createPendingWrites } from '../storage/pending-writes.ts';
import type { BundleSync } from '../sync/bundle/bundle-sync.ts';
import type { LoadPolicyEngine } from '../sync/bundle/policy-activation.ts';
import { createPolicyLoader } from '../sync/bundle/policy-loader.ts';
import { createAppliedBarrier } from '../sync/feed/applied-barrier.ts';
import { DEFAULT_OFFLINE_MAX_AGE_SECONDS } from '../sync/feed/freshness.ts';
import { createPlaneClock } from '../sync/feed/plane-clock.ts';
import { failureMessage, type SyncLog } from '../sync/link/sync-failure.ts';
import { DEFAULT_LEDGER_KEEP_DAYS } from '../sync/shipping/pruner.ts';
import { createSyncAlerts } from '../sync/sync-alerts.ts';
import { type SyncSettings, startTenantSync, type TenantSyncStatus } from '../sync/tenant-sync.ts';
import { LOG_WATCH_FILE, openLogWatchStore } from '../sync/watch/log-watch-store.ts';
import { createServedTenants } from './served-tenants.ts';

const DEFAULT_SHIP_DELAY_MS = 1_000;
const DEFAULT_STOP_MS = 5_000;
const PAYLOADS_FOLDER = 'payloads';
const DEFAULT_PAYLOAD_LIMIT_BYTES = 1024 ** 3;
const CLOCK_FILE = 'clock';

export interface DataPlaneCoreOptions {
  dataDir: string;
  /** SERVICE_DATA_DIR, where it differs: it holds the key of agents' tokens. */
  sharedDir?: string;
  version: string;
  log: SyncLog;
  /** Called once when the ledger can no longer record: the process must exit. */
  onFatal: (error: Error) => void;
  /**
   * How long records are collected before they are shipped: 1 s by default, 50 ms in standalone
   * mode.
   */
  shipDelayMs?: number;
  /** How long rules are valid without a newer statement of the control plane: 24 h. */
  offlineMaxAgeSeconds?: number;
  /** How long records are kept after they were shipped: 7 days. */
  ledgerKeepDays?: number;
  /** Limit of all ledger files together, in bytes; null for no limit but the disk. */
  ledgerLimitBytes?: number | null;
  /** Limit of the payloads that wait for the control plane, in bytes: 1 GiB. */
  payloadLimitBytes?: number;
  /** With several workers: which of them holds which call. */
  heldPlaces?: HeldPlaces | undefined;
  /** Tool calls judged for a tenant in the last minute, for the heartbeat. */
  callsPerMinute?: (tenantId: string) => number;
  /** The health of a tenant's MCP servers, for the heartbeat. */
  serverReport?: (tenantId: string) => ServerReport;
  /** The pins of the tenant's tools, for the heartbeat. */
  pinReports?: () => PinReports;
  /** How many tenants the settings say it will serve. */
  expectedTenants?: number;
  observer?: LedgerObserver;
  /** Loads a policy into an engine; the built-in engine by default. */
  loadPolicy?: LoadPolicyEngine;
  /** Unix milliseconds. */
  now?: () => number;
  /** A monotonic clock in milliseconds. */
  elapsed?: () => number;
  /** The used share of the ledger's disk, from 0 to 1. */
  readUsedShare?: () => Promise<number>;
  backoffLimits?: { first: number; longest: number };
}

export interface TenantStatus extends TenantSyncStatus {
  tenant_id: string;
  deployment_id: string;
  /** The token for the control plane; null where the two are one process. */
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
  const { dataDir, log } = options;
  const now = options.now ?? Date.now;
  // No command exchanges the keys from here on.
  const identityLock = enterIdentity(options.sharedDir ?? dataDir, log);
  const { identity, ledger } = await openFolder(options, now).catch((error) => {
    identityLock.release();
    throw error;
  });
  const writes = createPendingWrites(log);
  const alerts = createSyncAlerts(createRaiseAlert({ ledger, writes, now }));
  const payloadSpool = await openPayloadSpool({
    dir: join(dataDir, PAYLOADS_FOLDER),
    limitBytes: options.payloadLimitBytes ?? DEFAULT_PAYLOAD_LIMIT_BYTES,
    onLost: alerts.payloadsLost,
    now,
  });
  const replica = createReplica({ dataDir, onRefused: alerts.factRefused });
  const heldResults = openHeldResults(join(dataDir, HELD_RESULTS_FILE), {
    seal: identity.sealOwn,
    open: identity.openSealedNow,
  });
  const held = createHeldCalls({
    ledger,
    replica,
    results: heldResults,
    places: options.heldPlaces,
    now,
  });
  const watches = options.sharedDir === undefined || options.sharedDir === dataDir;
  const logWatch = watches ? tryOpenLogWatch(dataDir, log) : null;
  const standing = loadStanding(dataDir, log, now);
  const clock = createPlaneClock({
    path: join(dataDir, CLOCK_FILE),
    now,
    ...(options.elapsed && { elapsed: options.elapsed }),
    onError: (error) => log.warn({ reason: failureMessage(error) }, 'the time was not kept'),
  });
  const started = now();
  const tokens = new Map<string, TokenStatus>();
  const unknownKeys = createListeners<[tenantId: string]>();
  const settings: SyncSettings = {
    dataDir,
    clock,
    load: options.loadPolicy ?? createPolicyLoader(now),
    alerts,
    offlineMaxAgeMs: (options.offlineMaxAgeSeconds ?? DEFAULT_OFFLINE_MAX_AGE_SECONDS) * 1000,
    ledgerKeepMs: (options.ledgerKeepDays ?? DEFAULT_LEDGER_KEEP_DAYS) * 86_400_000,
    shipDelayMs: options.shipDelayMs ?? DEFAULT_SHIP_DELAY_MS,
    logWatch,
    log,
    now,
    ...(options.backoffLimits && { backoffLimits: options.backoffLimits }),
  };
  const tenants = createServedTenants({ identity, ledger, replica, held, log, startSync });
  const syncOf = (tenantId: string) => tenants.find(tenantId)?.sync;

  const checker = startLedgerChecker({
    ledger,
    listTenants: () => tenants.list().map(([tenantId]) => tenantId),
    onDamage: (tenantId, message) => {
      log.error({ tenantId, reason: message }, 'records that are kept are not what was recorded');
      alerts.ledgerDamaged(tenantId, message);
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
      heartbeat: (bundle) => heartbeatOf(tenantId, deploymentId, bundle),
      onHeartbeat: () => options.pinReports?.().received(tenantId),
      isRevoked: () => standing.find(tenantId)?.reason === 'tenant_revoked',
      // Two writers share one key. Neither can be trusted, so both stop.
      onStreamStopped: ({ state, failure }) => {
        const message = `Another data plane wrote with this one's key: ${failure.code}.`;
        if (state === 'forked') standing.deny(tenantId, 'stream_forked', message);
      },
      onUnknownKey: () => unknownKeys.tell(tenantId),
    });
  }

  function heartbeatOf(tenantId: string, deploymentId: string, bundle: BundleSync): Heartbeat {
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

  /** Why nobody of the tenant may act; null where they may. Cheap: asked at every call. */
  function findDenial(tenantId: string): PlaneDenial | null {
    const denial = standing.find(tenantId);
    if (denial) return denial;
    const stale = syncOf(tenantId)?.findStaleness() ?? null;
    if (stale !== null) return { reason: 'offline_max_age', message: stale };
    const kind = replica.findUnknownKind(tenantId)?.slice(0, 60);
    if (kind === undefined) return null;
    const message = `The data plane is too old to enforce what the control plane sent (${kind}).`;
    return { reason: 'fact_unknown', message };
  }

  function findProgress(tenantId: string) {
    const sync = syncOf(tenantId);
    return (
      sync && {
        waitForFeed: (seq: number, ms: number) => replica.waitFor(tenantId, seq, ms),
        waitForRules: sync.bundle.waitFor,
        kick: () => {
          sync.feed.kick();
          sync.bundle.kick();
        },
      }
    );
  }

  const rules: RulesProvider = {
    findActiveRules: (tenantId) => syncOf(tenantId)?.bundle.activeRules() ?? null,
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
    planeNow: clock.read,
    /** Resolves when a change is enforced here. */
    applied: createAppliedBarrier(findProgress, log),
    findDeploymentId: (tenantId: string) => tenants.find(tenantId)?.deploymentId,
    /** The region that the tenant's list shows; undefined where the control plane did not say. */
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
     * the loops start. It does not wait for what the control plane has: see `applied`. For a tenant
     * that is served already it takes the keys of the newer answer.
     *
     * @throws when the tenant's stream is damaged or cannot be opened durably
     */
    addTenant: tenants.add,
    /** Stops serving a tenant: its agents are unknown from then on. Its records stay. */
    removeTenant: tenants.remove,
    findDenial,
    /** For callers about whom the replica cannot decide. */
    askForNews: (tenantId: string, agentId: string | null) =>
      syncOf(tenantId)?.feed.askForNews(agentId) ?? null,
    /** Tenants whose feed is still expected to catch up after the start. */
    countCatchingUp: () => tenants.list().filter(([, { sync }]) => sync.feed.isCatchingUp()).length,
    /** The control plane revoked this data plane: stored durably, until it is reinstated. */
    revoke: (tenantId: string, message: string) =>
      standing.deny(tenantId, 'tenant_revoked', message),
    /** The control plane saw another writer with this plane's key: stored, never lifted. */
    fork: (tenantId: string, message: string) => standing.deny(tenantId, 'stream_forked', message),
    /** The control plane recognises this data plane again. This does not lift a fork. */
    reinstate: standing.reinstate,
    /** Stores the status of the tenant's token, for display. */
    noteToken: (tenantId: string, token: TokenStatus): void => {
      tokens.set(tenantId, token);
    },
    /** Sends a tenant's heartbeat soon, out of turn. */
    reportSoon: (tenantId: string) => syncOf(tenantId)?.report(),
    /** Retries all loops of a tenant at once. */
    kick: (tenantId: string) => syncOf(tenantId)?.kick(),
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
      clock.stop();
      await writes.flush();
      await ledger.stop();
      heldResults.close();
      logWatch?.close();
      replica.close();
      identityLock.release();
    },
  };
}

async function openFolder(options: DataPlaneCoreOptions, now: () => number) {
  const { dataDir } = options;
  const identity = loadIdentity(dataDir, options.sharedDir, (err) =>
    options.log.error({ err }, 'an earlier sealing key cannot be read'),
  );
  const ledger = await createLedger({
    dataDir,
    signingKey: identity.signingKey,
    writerVersion: options.version,
    onFatal: options.onFatal,
    now,
    ...(options.observer && { observer: options.observer }),
    ...(options.readUsedShare && { readUsedShare: options.readUsedShare }),
    limitBytes: options.ledgerLimitBytes ?? null,
  });
  return { identity, ledger };
}

/**
 * A file that cannot be opened is left untouched for an operator to examine; nothing else stops.
 */
function tryOpenLogWatch(dataDir: string, log: SyncLog) {
  try {
    return openLogWatchStore(join(dataDir, LOG_WATCH_FILE));
  } catch (error) {
    const about = { file: LOG_WATCH_FILE, reason: failureMessage(error) };
    log.error(about, 'what is kept of the log cannot be opened: the log is not watched');
    return null;
  }
}
