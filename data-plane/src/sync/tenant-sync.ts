/** Everything that keeps one tenant in step with its control plane, started and stopped as one. */
import type {
  ControlPlaneLink,
  Heartbeat,
  RegistrationAnswer,
  StreamReport,
} from '@governance/shared/channels';
import type { DurableLedger } from '../ledger/ledger.ts';
import type { LocalReplica } from '../replica/replica.ts';
import type { AdminHeads } from './admin-heads.ts';
import type { BundleFiles } from './bundle-files.ts';
import { createBundleNews } from './bundle-news.ts';
import { type BundleStatus, type BundleSync, startBundleSync } from './bundle-sync.ts';
import { type ContactStatus, createContact } from './contact.ts';
import { type FeedFollower, type FeedStatus, startFeedFollower } from './feed-follower.ts';
import { createFreshness, type FreshnessStatus } from './freshness.ts';
import { type HeartbeatStatus, startHeartbeat } from './heartbeat.ts';
import type { PlaneClock } from './plane-clock.ts';
import type { LoadPolicyEngine } from './policy-activation.ts';
import { startPruner } from './pruner.ts';
import { type Shipper, type ShipperStatus, type ShipperStop, startShipper } from './shipper.ts';
import { FAILING_MS, toStreamReport } from './stream-report.ts';
import type { SyncAlerts } from './sync-alerts.ts';
import { isRefusedCode, type SyncFailure, type SyncLog } from './sync-status.ts';

export interface TenantSyncStatus {
  feed: FeedStatus;
  bundle: BundleStatus;
  shipper: ShipperStatus;
  /** As the heartbeat tells it. */
  stream: StreamReport;
  heartbeat: HeartbeatStatus;
  freshness: FreshnessStatus;
  /** What came and was refused, counted by its reason since the start. */
  refusals: { bundle: Record<string, number>; feed: Record<string, number> };
  control_plane: ContactStatus;
}

export interface TenantSync {
  bundle: BundleSync;
  feed: FeedFollower;
  /** Takes the keys of a newer registration. */
  trust(answer: RegistrationAnswer): void;
  /** Why the tenant's rules are too old to permit anything; null while they are good. */
  findStaleness(): string | null;
  /** Something that the heartbeat tells has changed. */
  report(): void;
  /** Tries everything at once, as after an outage. */
  kick(): void;
  status(): TenantSyncStatus;
  /** Ships what can be shipped within `ms`, then ends. */
  stop(ms: number): Promise<void>;
}

export interface TenantSyncOptions {
  answer: RegistrationAnswer;
  link: ControlPlaneLink;
  ledger: DurableLedger;
  replica: LocalReplica;
  clock: PlaneClock;
  files: BundleFiles;
  adminHeads: AdminHeads;
  load: LoadPolicyEngine;
  alerts: SyncAlerts;
  heartbeat: (bundle: BundleSync) => Heartbeat;
  isRevoked: () => boolean;
  /** Told of a stream that has stopped. */
  onStreamStopped: (stop: ShipperStop) => void;
  /** Told when something was signed by a key that is not known: the keys may have changed. */
  onUnknownKey: () => void;
  offlineMaxAgeMs: number;
  ledgerKeepMs: number;
  shipDelayMs: number;
  log: SyncLog;
  now: () => number;
  backoffLimits?: { first: number; longest: number };
}

/** Begins with what is kept from before, so that an outage at the start changes nothing. */
export async function startTenantSync(options: TenantSyncOptions): Promise<TenantSync> {
  const { ledger, replica, alerts, adminHeads, log, now } = options;
  const { tenant_id: tenantId, deployment_id: deploymentId } = options.answer;
  const limits = options.backoffLimits && { backoffLimits: options.backoffLimits };
  let { answer } = options;
  replica.addTenant(tenantId, deploymentId);

  const contact = createContact({
    link: options.link,
    refusal: () => findRefusal(feed?.status().failure, bundle?.status().failure),
    isRevoked: options.isRevoked,
    onBack: () => {
      for (const channel of channels) channel.wake();
    },
    now,
  });
  /** What waits after a failure and is woken by whoever hears the control plane first. */
  const channels: { wake(): void }[] = [];
  const { link } = contact;
  const freshness = createFreshness({
    clock: options.clock,
    maxAgeMs: options.offlineMaxAgeMs,
    keptMs: replica.place(tenantId).statementMs,
    onFrozen: (age) => alerts.feedFrozen(tenantId, age),
  });
  const refusals: TenantSyncStatus['refusals'] = { bundle: {}, feed: {} };
  const refused = (channel: 'bundle' | 'feed', { code }: SyncFailure) => {
    refusals[channel][code] = (refusals[channel][code] ?? 0) + 1;
  };
  /** The newest bundle that a verified statement named, and since when. */
  let named: { revision: number; since: number } | null = null;
  let feed: FeedFollower | undefined;
  let bundle: BundleSync | undefined;
  let heartbeat: ReturnType<typeof startHeartbeat> | undefined;
  const activeBundle = await startBundleSync({
    tenantId,
    link,
    keys: () => answer.bundle_keys,
    files: options.files,
    load: options.load,
    findNamed: () =>
      named && { revision: named.revision, forMs: options.clock.read() - named.since },
    onActivated: () => heartbeat?.report(),
    onRefused: (failure, isNews) => {
      refused('bundle', failure);
      if (!isNews) return;
      alerts.bundleRefused(tenantId, failure);
      if (failure.code === 'key_unknown') options.onUnknownKey();
    },
    log,
    now,
    ...limits,
  });
  bundle = activeBundle;
  const activeFeed = startFeedFollower({
    tenantId,
    link,
    replica,
    freshness,
    keys: () => answer.feed_keys,
    backlog: () => ledger.backlog(tenantId),
    onApplied: createBundleNews(activeBundle),
    onRewound: (from, to) => {
      log.warn({ tenantId, from, to }, 'the control plane went back in time');
      alerts.feedRewound(tenantId, from, to);
    },
    onStatement: ({ bundle: newest }) => {
      if (newest?.revision === named?.revision) return;
      named = newest && { revision: newest.revision, since: options.clock.read() };
    },
    onAdminHead: adminHeads.saw,
    onFailure: (failure, isNews) => {
      const isRefused = isRefusedCode(failure.code);
      if (isRefused) refused('feed', failure);
      if (!isNews) return;
      if (isRefused) alerts.feedRefused(tenantId, failure);
      if (failure.code === 'statement_unknown_key') options.onUnknownKey();
    },
    log,
    now,
    ...limits,
  });
  feed = activeFeed;
  const shipper: Shipper = startShipper({
    tenantId,
    link,
    ledger,
    delayMs: options.shipDelayMs,
    onStopped: (stop) => {
      options.onStreamStopped(stop);
      heartbeat?.report();
    },
    onResumed: () => heartbeat?.report(),
    log,
    now,
    ...limits,
  });
  let heardAt = Number.NEGATIVE_INFINITY;
  const isLedgerStopped = () => /^(full|failed)$/.test(ledger.status().condition);
  const streamReport = (): StreamReport =>
    toStreamReport({
      shipper: shipper.status(),
      ledger: ledger.status().condition,
      isFailing: shipper.failingMs() - (performance.now() - heardAt) > FAILING_MS,
      now: now(),
    });
  const activeHeartbeat = startHeartbeat({
    link,
    body: () => ({
      ...options.heartbeat(activeBundle),
      admin_heads: adminHeads.report(),
      shipped: shipper.acknowledged() ?? undefined,
      // After a start nothing is known of it until a batch was tried: what was told before stays.
      stream: shipper.isSettled() || isLedgerStopped() ? streamReport() : undefined,
    }),
    onReceived: () => {
      heardAt = performance.now();
    },
    log,
    now,
  });
  heartbeat = activeHeartbeat;
  channels.push(activeFeed, activeBundle, shipper, activeHeartbeat);
  const pruner = startPruner({ tenantId, ledger, keepMs: options.ledgerKeepMs, log });

  return {
    bundle: activeBundle,
    feed: activeFeed,
    trust: (newer) => {
      answer = newer;
    },
    findStaleness: freshness.findDenial,
    report: activeHeartbeat.report,
    kick: () => {
      activeFeed.kick();
      activeBundle.kick();
      shipper.kick();
    },
    status: () => ({
      feed: activeFeed.status(),
      bundle: activeBundle.status(),
      shipper: shipper.status(),
      stream: streamReport(),
      heartbeat: activeHeartbeat.status(),
      freshness: freshness.status(),
      refusals: { bundle: { ...refusals.bundle }, feed: { ...refusals.feed } },
      control_plane: contact.status(),
    }),
    /** A link that hangs must not keep the process: what it holds is shipped after the next start. */
    stop: async (ms) => {
      activeHeartbeat.stop();
      pruner.stop();
      await shipper.flush(ms);
      const ended = Promise.all([
        activeFeed.stop(),
        activeBundle.stop(),
        shipper.stop(),
        adminHeads.stored(),
      ]);
      await Promise.race([ended, delay(ms)]);
    },
  };
}

function findRefusal(...failures: (SyncFailure | null | undefined)[]): SyncFailure | null {
  return failures.find((failure) => failure && isRefusedCode(failure.code)) ?? null;
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
