/**
 * The half of a data plane that does not meet agents: ledger, replica and rules, and for each
 * tenant the loops that keep them in step with its control plane. One ledger file and one replica
 * file serve all tenants; a tenant's outage stops nothing of another's.
 */
import type {
  AppliedBarrier,
  ControlPlaneLink,
  RegistrationAnswer,
} from '@governance/shared/channels';
import { AppError } from '@governance/shared/errors';
import type { RulesProvider } from './contracts.ts';
import { type DataPlaneIdentity, loadIdentity } from './identity/identity.ts';
import {
  createLedger,
  type DurableLedger,
  type LedgerObserver,
  type LedgerStatus,
} from './ledger/ledger.ts';
import { createReplica, type LocalReplica } from './replica/replica.ts';
import { createAppliedBarrier } from './sync/applied-barrier.ts';
import { createBundleFiles } from './sync/bundle-files.ts';
import { type BundleStatus, type BundleSync, startBundleSync } from './sync/bundle-sync.ts';
import { type FeedFollower, type FeedStatus, startFeedFollower } from './sync/feed-follower.ts';
import { type HeartbeatStatus, startHeartbeat } from './sync/heartbeat.ts';
import type { LoadPolicyEngine } from './sync/policy-activation.ts';
import { createPolicyLoader } from './sync/policy-loader.ts';
import { createAlerts } from './sync/raise-alert.ts';
import { type Shipper, type ShipperStatus, startShipper } from './sync/shipper.ts';
import type { SyncFailure, SyncLog } from './sync/sync-status.ts';

const DEFAULT_SHIP_DELAY_MS = 1_000;
const DEFAULT_STOP_MS = 5_000;

export interface DataPlaneCoreOptions {
  dataDir: string;
  version: string;
  log: SyncLog;
  /** Told once when the ledger can record nothing any more: the process has to exit. */
  onFatal: (error: Error) => void;
  /** How long records are collected before they are shipped: 1 s by default, 50 ms standalone. */
  shipDelayMs?: number;
  /** What the ledger's files may take together, in bytes; null for as much as the disk has. */
  ledgerLimitBytes?: number | null;
  /** Tool calls judged for a tenant in the last minute, for the heartbeat. */
  callsPerMinute?: (tenantId: string) => number;
  observer?: LedgerObserver;
  /** Why this plane cannot serve so many tenants, if so. */
  findTenantProblem?: (tenants: number) => string | undefined;
  /** Makes an engine of a policy; the evaluator of this product by default. */
  loadPolicy?: LoadPolicyEngine;
  /** Unix milliseconds. */
  now?: () => number;
  /** The used share of the ledger's disk, from 0 to 1. */
  readUsedShare?: () => Promise<number>;
}

export interface TenantStatus {
  tenant_id: string;
  deployment_id: string;
  feed: FeedStatus;
  bundle: BundleStatus;
  shipper: ShipperStatus;
  heartbeat: HeartbeatStatus;
}

export interface DataPlaneCore {
  readonly identity: DataPlaneIdentity;
  readonly ledger: DurableLedger;
  readonly replica: LocalReplica;
  readonly rules: RulesProvider;
  /** Answers when a change is enforced here. */
  readonly applied: AppliedBarrier;
  findDeploymentId(tenantId: string): string | undefined;
  /**
   * Begins to serve a tenant: its stream gets a new epoch, the last good bundle is activated, and
   * the loops start. What the control plane has is not waited for: see `applied`. Asked again for
   * a tenant that is served, it does nothing.
   *
   * @throws AppError UNAVAILABLE when the plane cannot serve one more tenant
   * @throws when the tenant's stream is damaged or cannot be opened durably
   */
  addTenant(answer: RegistrationAnswer, link: ControlPlaneLink): Promise<void>;
  /** Ceases to serve a tenant: its agents are unknown from then on. What was recorded stays. */
  removeTenant(tenantId: string): Promise<void>;
  status(): { ledger: LedgerStatus; tenants: TenantStatus[] };
  /** Ships what can be shipped within `ms`, makes everything durable and closes the files. */
  stop(ms?: number): Promise<void>;
}

interface Tenant {
  deploymentId: string;
  feed: FeedFollower;
  bundle: BundleSync;
  shipper: Shipper;
  heartbeat: ReturnType<typeof startHeartbeat>;
}

/**
 * Opens ledger, replica and identity in a data folder, which must exist.
 *
 * @throws when a file is damaged or another process uses the folder
 */
export async function createDataPlaneCore(options: DataPlaneCoreOptions): Promise<DataPlaneCore> {
  const { dataDir, log } = options;
  const now = options.now ?? Date.now;
  const identity = loadIdentity(dataDir);
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
  const alert = createAlerts({ ledger, log, now });
  const replica = createReplica({ dataDir, onRefused: reportRefusedFact });
  const load = options.loadPolicy ?? createPolicyLoader(now);
  const started = now();
  const tenants = new Map<string, Tenant>();
  const starting = new Map<string, Promise<void>>();

  function reportRefusedFact(fact: {
    tenantId: string;
    kind: string;
    key: string;
    reason: string;
  }) {
    alert(fact.tenantId, {
      alert_type: 'FACT_REFUSED',
      severity: 'high',
      title: 'A fact from the control plane was refused; what it concerns is denied',
      details: { kind: fact.kind, key: fact.key, reason: fact.reason.slice(0, 500) },
      dedupe_key: `fact-refused:${fact.kind}:${fact.key}`,
    });
  }

  function reportRefusedBundle(tenantId: string, failure: SyncFailure): void {
    alert(tenantId, {
      alert_type: 'BUNDLE_REFUSED',
      severity: 'critical',
      title: 'A policy bundle was refused; the rules from before stay in force',
      details: { stage: failure.stage, code: failure.code, message: failure.message.slice(0, 500) },
      dedupe_key: `bundle-refused:${failure.code}`,
    });
  }

  function reportStoppedStream(tenantId: string, state: string, failure: SyncFailure): void {
    alert(tenantId, {
      alert_type: 'STREAM_STOPPED',
      severity: 'critical',
      title: 'The records of this data plane are no longer shipped',
      details: { state, code: failure.code, message: failure.message.slice(0, 500) },
      dedupe_key: `stream-stopped:${state}`,
    });
  }

  function heartbeatOf(tenantId: string, deploymentId: string, bundle: BundleSync) {
    return {
      deployment_id: deploymentId,
      active_agent_count: replica.countActiveAgents(tenantId),
      proxy_rpm_1m: options.callsPerMinute?.(tenantId) ?? 0,
      // Holds come with a later feature; until then no call of this plane waits for a person.
      escalations_pending: 0,
      opa_bundle_version: String(bundle.activeRules()?.revision ?? 'none'),
      uptime_seconds: Math.max(0, Math.round((now() - started) / 1000)),
    };
  }

  function addTenant(answer: RegistrationAnswer, link: ControlPlaneLink): Promise<void> {
    const tenantId = answer.tenant_id;
    const begun = starting.get(tenantId);
    if (begun) return begun;
    if (tenants.has(tenantId)) return Promise.resolve();
    const problem = options.findTenantProblem?.(tenants.size + starting.size + 1);
    if (problem) return Promise.reject(new AppError('UNAVAILABLE', `SERVICE_OPA_URL ${problem}`));
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
    replica.addTenant(tenantId, deploymentId);
    const bundle = await startBundleSync({
      tenantId,
      link,
      keys: answer.bundle_keys,
      files: createBundleFiles(dataDir, tenantId),
      load,
      onRefused: (failure) => reportRefusedBundle(tenantId, failure),
      log,
      now,
    });
    const feed = startFeedFollower({
      tenantId,
      link,
      replica,
      onApplied: (entries) => {
        if (entries.some((entry) => entry.kind === 'bundle')) bundle.kick();
      },
      log,
      now,
    });
    const shipper = startShipper({
      tenantId,
      link,
      ledger,
      delayMs: options.shipDelayMs ?? DEFAULT_SHIP_DELAY_MS,
      onStopped: (state, failure) => reportStoppedStream(tenantId, state, failure),
      log,
      now,
    });
    const heartbeat = startHeartbeat({
      link,
      body: () => heartbeatOf(tenantId, deploymentId, bundle),
      log,
      now,
    });
    tenants.set(tenantId, { deploymentId, feed, bundle, shipper, heartbeat });
  }

  /** A link that hangs must not keep the process: what it holds is shipped after the next start. */
  async function stopTenant(tenant: Tenant, ms: number): Promise<void> {
    tenant.heartbeat.stop();
    await tenant.shipper.flush(ms);
    const ended = Promise.all([tenant.feed.stop(), tenant.bundle.stop(), tenant.shipper.stop()]);
    await Promise.race([ended, delay(ms)]);
  }

  async function removeTenant(tenantId: string): Promise<void> {
    const tenant = tenants.get(tenantId);
    if (!tenant) return;
    tenants.delete(tenantId);
    replica.removeTenant(tenantId);
    await stopTenant(tenant, DEFAULT_STOP_MS);
  }

  return {
    identity,
    ledger,
    replica,
    rules: { findActiveRules: (tenantId) => tenants.get(tenantId)?.bundle.activeRules() ?? null },
    applied: createAppliedBarrier((tenantId) => {
      const tenant = tenants.get(tenantId);
      return (
        tenant && {
          waitForFeed: (seq, ms) => replica.waitFor(tenantId, seq, ms),
          waitForRules: tenant.bundle.waitFor,
          kick: () => {
            tenant.feed.kick();
            tenant.bundle.kick();
          },
        }
      );
    }, log),
    findDeploymentId: (tenantId) => tenants.get(tenantId)?.deploymentId,
    addTenant,
    removeTenant,
    status: () => ({
      ledger: ledger.status(),
      tenants: [...tenants].map(([tenantId, tenant]) => ({
        tenant_id: tenantId,
        deployment_id: tenant.deploymentId,
        feed: tenant.feed.status(),
        bundle: tenant.bundle.status(),
        shipper: tenant.shipper.status(),
        heartbeat: tenant.heartbeat.status(),
      })),
    }),
    stop: async (ms = DEFAULT_STOP_MS) => {
      await Promise.all([...tenants.values()].map((tenant) => stopTenant(tenant, ms)));
      tenants.clear();
      await ledger.stop();
      replica.close();
    },
  };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
