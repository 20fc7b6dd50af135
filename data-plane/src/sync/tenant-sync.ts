/** All loops that synchronise one tenant with its control plane, started and stopped as one. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type {
  ControlPlaneLink,
  Heartbeat,
  RegistrationAnswer,
  StreamReport,
} from '@governance/shared/channels';
import { createHistoryFollower, rememberRevocations } from '@governance/shared/follow-keys';
import type { DurableLedger } from '../ledger/ledger.ts';
import type { PayloadSpool } from '../payloads/payload-spool.ts';
import type { LocalReplica } from '../replica/replica.ts';
import { createBundleFiles } from './bundle/bundle-files.ts';
import { createBundleNews } from './bundle/bundle-news.ts';
import { type BundleStatus, type BundleSync, startBundleSync } from './bundle/bundle-sync.ts';
import type { LoadPolicyEngine } from './bundle/policy-activation.ts';
import { loadAdminHeads } from './feed/admin-heads.ts';
import { type FeedFollower, type FeedStatus, startFeedFollower } from './feed/feed-follower.ts';
import { createFreshness, type FreshnessStatus } from './feed/freshness.ts';
import type { PlaneClock } from './feed/plane-clock.ts';
import { type ContactStatus, createContact } from './link/contact.ts';
import { type HeartbeatStatus, startHeartbeat } from './link/heartbeat.ts';
import { isRefusedCode, type SyncFailure, type SyncLog } from './link/sync-failure.ts';
import { startPayloadShipper } from './shipping/payload-shipper.ts';
import { startPruner } from './shipping/pruner.ts';
import { startShipper } from './shipping/shipper.ts';
import type { ShipperStatus, ShipperStop } from './shipping/shipping-status.ts';
import { FAILING_MS, toStreamReport } from './shipping/stream-report.ts';
import type { SyncAlerts } from './sync-alerts.ts';
import type { LogWatchStore } from './watch/log-watch-store.ts';
import { type LogWatchStatus, startLogWatcher } from './watch/log-watcher.ts';

export interface TenantSyncStatus {
  feed: FeedStatus;
  bundle: BundleStatus;
  shipper: ShipperStatus;
  /** As the heartbeat reports it. */
  stream: StreamReport;
  heartbeat: HeartbeatStatus;
  freshness: FreshnessStatus;
  /** Refusals since the start, by reason. */
  refusals: { bundle: Record<string, number>; feed: Record<string, number> };
  control_plane: ContactStatus;
  /** Null where another process of this machine watches. */
  log_watch: LogWatchStatus | null;
}

export type TenantSync = Awaited<ReturnType<typeof startTenantSync>>;

/** What all tenants of a data plane share. */
export interface SyncSettings {
  dataDir: string;
  clock: PlaneClock;
  load: LoadPolicyEngine;
  alerts: SyncAlerts;
  /** How long rules are valid without a newer statement of the control plane. */
  offlineMaxAgeMs: number;
  /** How long records are kept after they were shipped. */
  ledgerKeepMs: number;
  /** How long records are collected before they are shipped. */
  shipDelayMs: number;
  /** With several processes, one of them watches the log. */
  logWatch: LogWatchStore | null;
  log: SyncLog;
  now: () => number;
  backoffLimits?: { first: number; longest: number };
}

export interface TenantSyncOptions extends SyncSettings {
  answer: RegistrationAnswer;
  /** Keeps the answer durably, with revocations that the feed announced. */
  keepAnswer: (answer: RegistrationAnswer) => void;
  link: ControlPlaneLink;
  ledger: DurableLedger;
  payloadSpool: PayloadSpool;
  replica: LocalReplica;
  heartbeat: (bundle: BundleSync) => Heartbeat;
  /** Called when the content last given by `heartbeat` was received. */
  onHeartbeat?: () => void;
  isRevoked: () => boolean;
  /** Called for a stream that has stopped. */
  onStreamStopped: (stop: ShipperStop) => void;
  /** Called when a signature names an unknown key: the keys may have changed. */
  onUnknownKey: () => void;
}

const ADMIN_HEADS_FOLDER = 'admin-heads';

/** Starts from what is stored on disk, so that an outage at the start changes nothing. */
export async function startTenantSync(options: TenantSyncOptions) {
  const { dataDir, ledger, replica, alerts, log, now } = options;
  const { tenant_id: tenantId, deployment_id: deploymentId } = options.answer;
  const limits = options.backoffLimits && { backoffLimits: options.backoffLimits };
  let { answer } = options;
  replica.addTenant(tenantId, deploymentId);
  // The feed announces a key before it signs, so that nothing has to be refused first.
  const followHistory = createHistoryFollower();
  const follow = () => {
    const told = replica.findKeyHistory(tenantId);
    const remembered = rememberRevocations(answer, told);
    if (remembered !== answer) {
      try {
        options.keepAnswer(remembered);
        answer = remembered;
      } catch (error) {
        // It is in force nevertheless. The replica has the history that announced it, and keeping it
        // is tried again with each change of the feed and after a restart.
        log.error({ err: error, tenantId }, 'a revocation of a key could not be kept');
      }
    }
    return followHistory(answer, told);
  };
  let keys = follow();

  const contact = createContact({
    link: options.link,
    refusal: () => findRefusal(feed?.status().failure, bundle?.status().failure),
    isRevoked: options.isRevoked,
    onBack: () => {
      for (const channel of channels) channel.wake();
    },
    now,
  });
  /** Ends the pauses after failures as soon as one of the loops gets an answer. */
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
  const adminHeads = loadAdminHeads({
    path: join(dataDir, ADMIN_HEADS_FOLDER, `${tenantId}.json`),
    onWentBack: (found) => {
      const [known, told] = [found.known.statement, found.told.statement];
      log.warn({ tenantId, known, told }, 'the admin chain went back');
      alerts.adminHeadWentBack(tenantId, found);
      heartbeat?.report();
    },
    log,
  });
  const watcher = options.logWatch
    ? startLogWatcher({
        ...{ tenantId, deploymentId, link, store: options.logWatch, log, now },
        onContradicted: (found) => {
          alerts.logContradicted(tenantId, found);
          heartbeat?.report();
        },
      })
    : null;
  const activeBundle = await startBundleSync({
    tenantId,
    link,
    keys: () => keys.bundle,
    files: createBundleFiles(dataDir, tenantId),
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
  const toldOfBundle = createBundleNews(activeBundle);
  const activeFeed = startFeedFollower({
    tenantId,
    link,
    replica,
    freshness,
    keys: () => keys.feed,
    backlog: () => ledger.backlog(tenantId),
    onApplied: (entries) => {
      keys = follow();
      toldOfBundle(entries);
    },
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
  const shipper = startShipper({
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
      log_watch: watcher?.report(),
      shipped: shipper.acknowledged() ?? undefined,
      // Unknown until the first batch after a start was tried; the control plane keeps the last
      // report.
      stream: shipper.isSettled() || isLedgerStopped() ? streamReport() : undefined,
    }),
    onReceived: () => {
      heardAt = performance.now();
      options.onHeartbeat?.();
    },
    log,
    now,
  });
  heartbeat = activeHeartbeat;
  const payloads = startPayloadShipper({
    tenantId,
    link,
    spool: options.payloadSpool,
    log,
    ...limits,
  });
  channels.push(activeFeed, activeBundle, shipper, payloads, activeHeartbeat);
  const pruner = startPruner({ tenantId, ledger, keepMs: options.ledgerKeepMs, log });

  return {
    bundle: activeBundle,
    feed: activeFeed,
    /** Takes the keys of a newer registration. */
    trust: (newer: RegistrationAnswer): void => {
      answer = newer;
      keys = follow();
      // What could not be verified may be valid now.
      activeFeed.hurry();
      activeBundle.hurry();
    },
    /** Why the tenant's rules are too old to permit anything; null while they are fresh. */
    findStaleness: freshness.findDenial,
    /** The heartbeat's content has changed. */
    report: activeHeartbeat.report,
    /** Retries everything at once, as after an outage. */
    kick: (): void => {
      activeFeed.kick();
      activeBundle.kick();
      shipper.kick();
    },
    status: (): TenantSyncStatus => ({
      feed: activeFeed.status(),
      bundle: activeBundle.status(),
      shipper: shipper.status(),
      stream: streamReport(),
      heartbeat: activeHeartbeat.status(),
      freshness: freshness.status(),
      refusals: { bundle: { ...refusals.bundle }, feed: { ...refusals.feed } },
      control_plane: contact.status(),
      log_watch: watcher?.status() ?? null,
    }),
    /**
     * Ships what it can within `ms`, then ends. A link that hangs must not block the process: its
     * records are shipped after the next start.
     */
    stop: async (ms: number): Promise<void> => {
      activeHeartbeat.stop();
      pruner.stop();
      await shipper.flush(ms);
      const ended = Promise.all([
        activeFeed.stop(),
        activeBundle.stop(),
        shipper.stop(),
        payloads.stop(),
        adminHeads.stored(),
        watcher?.stop(),
      ]);
      await Promise.race([ended, setTimeout(ms, undefined, { ref: false })]);
    },
  };
}

function findRefusal(...failures: (SyncFailure | null | undefined)[]): SyncFailure | null {
  return failures.find((failure) => failure && isRefusedCode(failure.code)) ?? null;
}
