/**
 * The half of a data plane that does not meet agents: ledger, replica and rules, and for each
 * tenant the loops that keep them in step with its control plane. One ledger file and one replica
 * file serve all tenants; a tenant's outage stops nothing of another's.
 */
import { join } from 'node:path';
import type {
  AppliedBarrier,
  ControlPlaneLink,
  Heartbeat,
  RegistrationAnswer,
  ServerReport,
} from '@governance/shared/channels';
import type { RulesProvider } from './contracts.ts';
import { type DataPlaneIdentity, loadIdentity } from './identity/identity.ts';
import {
  createLedger,
  type DurableLedger,
  type LedgerObserver,
  type LedgerStatus,
} from './ledger/ledger.ts';
import { type LedgerCheckStatus, startLedgerChecker } from './ledger/ledger-checker.ts';
import { createReplica, type LocalReplica } from './replica/replica.ts';
import { loadAdminHeads } from './sync/admin-heads.ts';
import { createAppliedBarrier } from './sync/applied-barrier.ts';
import { createBundleFiles } from './sync/bundle-files.ts';
import type { BundleSync } from './sync/bundle-sync.ts';
import { DEFAULT_OFFLINE_MAX_AGE_SECONDS } from './sync/freshness.ts';
import { createPlaneClock } from './sync/plane-clock.ts';
import type { LoadPolicyEngine } from './sync/policy-activation.ts';
import { createPolicyLoader } from './sync/policy-loader.ts';
import { DEFAULT_LEDGER_KEEP_DAYS } from './sync/pruner.ts';
import { createAlerts } from './sync/raise-alert.ts';
import type { ShipperStop } from './sync/shipper.ts';
import { loadStanding } from './sync/standing.ts';
import { createSyncAlerts } from './sync/sync-alerts.ts';
import { failureMessage, type SyncLog } from './sync/sync-status.ts';
import { startTenantSync, type TenantSync, type TenantSyncStatus } from './sync/tenant-sync.ts';

const DEFAULT_SHIP_DELAY_MS = 1_000;
const DEFAULT_STOP_MS = 5_000;
const CLOCK_FILE = 'clock';
const ADMIN_HEADS_FOLDER = 'admin-heads';

export interface DataPlaneCoreOptions {
  dataDir: string;
  /** SERVICE_DATA_DIR, where that is another: the key of agents' tokens is there. */
  sharedDir?: string;
  version: string;
  log: SyncLog;
  /** Told once when the ledger can record nothing any more: the process has to exit. */
  onFatal: (error: Error) => void;
  /** How long records are collected before they are shipped: 1 s by default, 50 ms standalone. */
  shipDelayMs?: number;
  /** For how long rules are good without a newer statement of the control plane: 24 h. */
  offlineMaxAgeSeconds?: number;
  /** For how long records are kept after they were shipped: 7 days. */
  ledgerKeepDays?: number;
  /** What the ledger's files may take together, in bytes; null for as much as the disk has. */
  ledgerLimitBytes?: number | null;
  /** Tool calls judged for a tenant in the last minute, for the heartbeat. */
  callsPerMinute?: (tenantId: string) => number;
  /** How a tenant's MCP servers are, for the heartbeat. */
  serverReport?: (tenantId: string) => ServerReport;
  /** Tenants that the plane is to serve, as far as is known before they are. */
  expectedTenants?: number;
  observer?: LedgerObserver;
  /** Makes an engine of a policy; the evaluator of this product by default. */
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

/** Why nobody of a tenant may act, for as long as it lasts. */
export interface CoreDenial {
  reason: 'offline_max_age' | 'tenant_revoked' | 'stream_forked';
  /** For the agent: what is wrong, in words. */
  message: string;
}

export interface DataPlaneCore {
  readonly identity: DataPlaneIdentity;
  readonly ledger: DurableLedger;
  readonly replica: LocalReplica;
  readonly rules: RulesProvider;
  /** Answers when a change is enforced here. */
  readonly applied: AppliedBarrier;
  findDeploymentId(tenantId: string): string | undefined;
  /** The region that the tenant's list shows; undefined where the control plane did not say. */
  findRegion(tenantId: string): string | null | undefined;
  /** Tenants that it serves, those that are being added among them. */
  countTenants(): number;
  /**
   * Whether it is for more than one tenant: it has served several since its start, or is to. What
   * one tenant was given without naming it is then nobody's.
   */
  servesSeveral(): boolean;
  /**
   * Begins to serve a tenant: its stream gets a new epoch, the last good bundle is activated, and
   * the loops start. What the control plane has is not waited for: see `applied`. Asked again for
   * a tenant that is served, it takes the keys of the newer answer.
   *
   * @throws when the tenant's stream is damaged or cannot be opened durably
   */
  addTenant(answer: RegistrationAnswer, link: ControlPlaneLink): Promise<void>;
  /** Why nobody of the tenant may act; null where they may. Cheap: asked at every call. */
  denialFor(tenantId: string): CoreDenial | null;
  /** The control plane revoked this data plane: kept durably, until it is reinstated. */
  revoke(tenantId: string, message: string): void;
  /** The control plane knows of another writer with this plane's key: kept durably, never lifted. */
  fork(tenantId: string, message: string): void;
  /** The control plane knows this data plane again. A fork is not lifted by it. */
  reinstate(tenantId: string): void;
  /** Takes what is to be shown of the tenant's token. */
  noteToken(tenantId: string, token: TokenStatus): void;
  /** Has the control plane hear within moments what a tenant's heartbeat tells. */
  reportSoon(tenantId: string): void;
  /** Tries everything of a tenant at once. */
  kick(tenantId: string): void;
  /** Tells when a tenant's statement or bundle was signed by an unknown key; returns how to end that. */
  onUnknownKey(listener: (tenantId: string) => void): () => void;
  /** Ceases to serve a tenant: its agents are unknown from then on. What was recorded stays. */
  removeTenant(tenantId: string): Promise<void>;
  status(): { ledger: LedgerStatus; ledgerCheck: LedgerCheckStatus; tenants: TenantStatus[] };
  /** Ships what can be shipped within `ms`, makes everything durable and closes the files. */
  stop(ms?: number): Promise<void>;
}

interface Tenant {
  deploymentId: string;
  /** Undefined where the control plane did not say. */
  region: string | null | undefined;
  sync: TenantSync;
}

/**
 * Opens ledger, replica and identity in a data folder, which must exist.
 *
 * @throws when a file is damaged or another process uses the folder
 */
export async function createDataPlaneCore(options: DataPlaneCoreOptions): Promise<DataPlaneCore> {
  const { dataDir, log } = options;
  const now = options.now ?? Date.now;
  const identity = loadIdentity(dataDir, options.sharedDir);
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
  const alerts = createSyncAlerts(createAlerts({ ledger, log, now }));
  const replica = createReplica({ dataDir, onRefused: alerts.factRefused });
  const standing = loadStanding(dataDir);
  const clock = createPlaneClock({
    path: join(dataDir, CLOCK_FILE),
    now,
    ...(options.elapsed && { elapsed: options.elapsed }),
    onError: (error) => log.warn({ reason: failureMessage(error) }, 'the time was not kept'),
  });
  const load = options.loadPolicy ?? createPolicyLoader(now);
  const started = now();
  const tenants = new Map<string, Tenant>();
  const starting = new Map<string, Promise<void>>();
  const everServed = new Set<string>();
  const tokens = new Map<string, TokenStatus>();
  const keyListeners = new Set<(tenantId: string) => void>();

  const checker = startLedgerChecker({
    ledger,
    listTenants: () => [...tenants.keys()],
    onDamage: (tenantId, message) => {
      log.error({ tenantId, reason: message }, 'records that are kept are not what was recorded');
      alerts.ledgerDamaged(tenantId, message);
    },
    log,
    now,
  });

  function heartbeatOf(tenantId: string, deploymentId: string, bundle: BundleSync): Heartbeat {
    return {
      deployment_id: deploymentId,
      active_agent_count: replica.countActiveAgents(tenantId),
      proxy_rpm_1m: options.callsPerMinute?.(tenantId) ?? 0,
      // Holds come with a later feature; until then no call of this plane waits for a person.
      escalations_pending: 0,
      opa_bundle_version: String(bundle.activeRules()?.revision ?? 'none'),
      uptime_seconds: Math.max(0, Math.round((now() - started) / 1000)),
      mcp_servers: options.serverReport?.(tenantId),
    };
  }

  function addTenant(answer: RegistrationAnswer, link: ControlPlaneLink): Promise<void> {
    const tenantId = answer.tenant_id;
    const begun = starting.get(tenantId);
    if (begun) return begun;
    const served = tenants.get(tenantId);
    if (served) return Promise.resolve(trust(served, answer));
    everServed.add(tenantId);
    const start = startTenant(answer, link).finally(() => starting.delete(tenantId));
    starting.set(tenantId, start);
    return start;
  }

  async function startTenant(answer: RegistrationAnswer, link: ControlPlaneLink): Promise<void> {
    const { tenant_id: tenantId, deployment_id: deploymentId } = answer;
    identity.saveRegistration(answer);
    const opened = await ledger.open(tenantId, deploymentId);
    if (opened.outcomesUnknown > 0) {
      const { outcomesUnknown } = opened;
      log.warn({ tenantId, outcomesUnknown }, 'calls were under way when the data plane stopped');
    }
    const sync = await startTenantSync({
      answer,
      link,
      ledger,
      replica,
      clock,
      files: createBundleFiles(dataDir, tenantId),
      adminHeads: loadAdminHeads({
        path: join(dataDir, ADMIN_HEADS_FOLDER, `${tenantId}.json`),
        onWentBack: (found) => {
          log.warn(
            { tenantId, known: found.known.statement, told: found.told.statement },
            'the admin chain went back',
          );
          alerts.adminHeadWentBack(tenantId, found);
          tenants.get(tenantId)?.sync.report();
        },
        log,
      }),
      load,
      alerts,
      heartbeat: (bundle) => heartbeatOf(tenantId, deploymentId, bundle),
      isRevoked: () => standing.find(tenantId)?.reason === 'tenant_revoked',
      onStreamStopped: (stop) => endStream(tenantId, stop),
      onUnknownKey: () => {
        for (const listener of keyListeners) listener(tenantId);
      },
      offlineMaxAgeMs: (options.offlineMaxAgeSeconds ?? DEFAULT_OFFLINE_MAX_AGE_SECONDS) * 1000,
      ledgerKeepMs: (options.ledgerKeepDays ?? DEFAULT_LEDGER_KEEP_DAYS) * 86_400_000,
      shipDelayMs: options.shipDelayMs ?? DEFAULT_SHIP_DELAY_MS,
      log,
      now,
      ...(options.backoffLimits && { backoffLimits: options.backoffLimits }),
    });
    tenants.set(tenantId, { deploymentId, region: answer.region, sync });
  }

  function trust(tenant: Tenant, answer: RegistrationAnswer): void {
    identity.saveRegistration(answer);
    tenant.region = answer.region;
    tenant.sync.trust(answer);
  }

  /** Two writers with one key: nobody knows which of them tells the truth, so neither goes on. */
  function endStream(tenantId: string, { state, failure }: ShipperStop): void {
    if (state !== 'forked') return;
    deny(
      tenantId,
      'stream_forked',
      `Another data plane wrote with this one's key: ${failure.code}.`,
    );
  }

  function deny(
    tenantId: string,
    reason: 'tenant_revoked' | 'stream_forked',
    message: string,
  ): void {
    const since = new Date(now()).toISOString();
    try {
      standing.deny(tenantId, { reason, message, since });
    } catch (error) {
      // In force all the same; after a restart the control plane says it once more.
      log.error({ tenantId, reason: failureMessage(error) }, 'a denial could not be kept');
    }
  }

  function denialFor(tenantId: string): CoreDenial | null {
    const denial = standing.find(tenantId);
    if (denial) return denial;
    const stale = tenants.get(tenantId)?.sync.findStaleness() ?? null;
    return stale === null ? null : { reason: 'offline_max_age', message: stale };
  }

  async function removeTenant(tenantId: string): Promise<void> {
    const tenant = tenants.get(tenantId);
    if (!tenant) return;
    tenants.delete(tenantId);
    replica.removeTenant(tenantId);
    await tenant.sync.stop(DEFAULT_STOP_MS);
  }

  return {
    identity,
    ledger,
    replica,
    rules: {
      findActiveRules: (tenantId) => tenants.get(tenantId)?.sync.bundle.activeRules() ?? null,
    },
    applied: createAppliedBarrier((tenantId) => {
      const tenant = tenants.get(tenantId);
      return (
        tenant && {
          waitForFeed: (seq, ms) => replica.waitFor(tenantId, seq, ms),
          waitForRules: tenant.sync.bundle.waitFor,
          kick: () => {
            tenant.sync.feed.kick();
            tenant.sync.bundle.kick();
          },
        }
      );
    }, log),
    findDeploymentId: (tenantId) => tenants.get(tenantId)?.deploymentId,
    findRegion: (tenantId) => tenants.get(tenantId)?.region,
    countTenants: () => tenants.size + starting.size,
    servesSeveral: () => everServed.size > 1 || (options.expectedTenants ?? 0) > 1,
    addTenant,
    removeTenant,
    denialFor,
    revoke: (tenantId, message) => deny(tenantId, 'tenant_revoked', message),
    fork: (tenantId, message) => deny(tenantId, 'stream_forked', message),
    reinstate: standing.reinstate,
    noteToken: (tenantId, token) => {
      tokens.set(tenantId, token);
    },
    reportSoon: (tenantId) => tenants.get(tenantId)?.sync.report(),
    kick: (tenantId) => tenants.get(tenantId)?.sync.kick(),
    onUnknownKey: (listener) => {
      keyListeners.add(listener);
      return () => keyListeners.delete(listener);
    },
    status: () => ({
      ledger: ledger.status(),
      ledgerCheck: checker.status(),
      tenants: [...tenants].map(([tenantId, tenant]) => ({
        tenant_id: tenantId,
        deployment_id: tenant.deploymentId,
        token: tokens.get(tenantId) ?? null,
        ...tenant.sync.status(),
      })),
    }),
    stop: async (ms = DEFAULT_STOP_MS) => {
      checker.stop();
      await Promise.all([...tenants.values()].map((tenant) => tenant.sync.stop(ms)));
      tenants.clear();
      clock.stop();
      await ledger.stop();
      replica.close();
    },
  };
}
