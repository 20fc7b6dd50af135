/** All loops that synchronise one tenant with its control plane, started and stopped as one. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type {
  ControlPlaneLink,
  Heartbeat,
  RegistrationAnswer,
  StreamReport,
} from '@governance/shared/channel/channels';
import type { SignedAdminHead } from '@governance/shared/channel/signed-statement';
import type { DurableLedger } from '../ledger/ledger.ts';
import type { PayloadSpool } from '../payloads/payload-spool.ts';
import type { LocalReplica } from '../replica/replica.ts';
import { createBundleFiles } from './bundle/bundle-files.ts';
import { createBundleNews } from './bundle/bundle-news.ts';
import { type BundleStatus, type BundleSync, startBundleSync } from './bundle/bundle-sync.ts';
import { createNamedBundle } from './bundle/named-bundle.ts';
import type { LoadPolicyEngine } from './bundle/policy-activation.ts';
import { loadAdminHeads } from './feed/admin-heads.ts';
import type { TenantProgress } from './feed/applied-barrier.ts';
import { startFeedFollower } from './feed/feed-follower.ts';
import type { FeedStatus } from './feed/feed-progress.ts';
import { createFreshness, type FreshnessStatus } from './feed/freshness.ts';
import type { PlaneClock } from './feed/plane-clock.ts';
import { loadRecognitions } from './feed/recognitions.ts';
import type { BackoffLimits } from './link/backoff.ts';
import { type ContactStatus, createContact } from './link/contact.ts';
import { type HeartbeatStatus, startHeartbeat } from './link/heartbeat.ts';
import { isRefusedCode, type SyncFailure, type SyncLog } from './link/sync-failure.ts';
import { createRefusals, type RefusalCounts } from './refusals.ts';
import { startPayloadShipper } from './shipping/payload-shipper.ts';
import { startPruner } from './shipping/pruner.ts';
import { startShipper } from './shipping/shipper.ts';
import type { ShipperStatus, ShipperStop } from './shipping/shipping-status.ts';
import { createStreamReporter } from './shipping/stream-report.ts';
import type { SyncAlerts } from './sync-alerts.ts';
import { createTenantKeys } from './tenant-keys.ts';
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
  refusals: RefusalCounts;
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
  backoffLimits?: BackoffLimits;
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
  /**
   * Called for each statement that was verified, with the time up to which it counts here, and the
   * generation of the clock that dated it.
   */
  onStatement: (time: number, generation: number) => void;
}

/** What every loop of a tenant is started with. */
interface LoopOptions {
  tenantId: string;
  /** Watched by `contact`. */
  link: ControlPlaneLink;
  log: SyncLog;
  now: () => number;
  backoffLimits?: BackoffLimits;
}

const ADMIN_HEADS_FOLDER = 'admin-heads';
const RECOGNITIONS_FOLDER = 'recognitions';

/** Starts from what is stored on disk, so that an outage at the start changes nothing. */
export async function startTenantSync(options: TenantSyncOptions) {
  const { ledger, alerts, log, now } = options;
  const { tenant_id: tenantId, deployment_id: deploymentId } = options.answer;
  options.replica.addTenant(tenantId, deploymentId);
  // Loops that are started later, asked by those started before them.
  let findRefusal = (): SyncFailure | null => null;
  let report = (): void => undefined;
  /** Ends the pauses after failures as soon as one of the loops gets an answer. */
  const channels: { wake(): void }[] = [];
  const contact = createContact({
    link: options.link,
    refusal: () => findRefusal(),
    isRevoked: options.isRevoked,
    onBack: (awaySince) => {
      if (awaySince) log.info({ tenantId, awaySince }, 'the control plane answers again');
      for (const channel of channels) channel.wake();
    },
    now,
  });
  const { link } = contact;
  const adminHeads = loadAdminHeads({
    path: join(options.dataDir, ADMIN_HEADS_FOLDER, `${tenantId}.json`),
    onWentBack: (found) => {
      const [known, told] = [found.known.statement, found.told.statement];
      log.warn({ tenantId, known, told }, 'the admin chain went back');
      alerts.adminHeadWentBack(tenantId, found);
      report();
    },
    log,
  });
  const watcher = options.logWatch
    ? startLogWatcher({
        ...{ tenantId, deploymentId, link, store: options.logWatch, log, now },
        onContradicted: (found) => {
          alerts.logContradicted(tenantId, found);
          report();
        },
      })
    : null;
  const loop: LoopOptions = { tenantId, link, log, now, backoffLimits: options.backoffLimits };
  const rules = await startRules(options, loop, () => report(), adminHeads.note);
  findRefusal = rules.findRefusal;
  const shipping = startShipping(options, loop, () => report());
  const heartbeat = startHeartbeat({
    tenantId,
    link,
    body: () => ({
      ...options.heartbeat(rules.bundle),
      admin_heads: adminHeads.report(),
      log_watch: watcher?.report(),
      shipped: shipping.shipper.acknowledged() ?? undefined,
      stream: shipping.stream.findReport(),
    }),
    onReceived: (sent, receipt) => {
      shipping.stream.heartbeatReceived();
      if (receipt.next && sent.shipped) shipping.shipper.goBackTo(receipt.next, sent.shipped);
      options.onHeartbeat?.();
    },
    log,
    now,
  });
  report = heartbeat.report;
  const { feed, bundle } = rules;
  const { shipper, payloads } = shipping;
  channels.push(feed, bundle, shipper, payloads, heartbeat);
  const pruner = startPruner({
    ...{ tenantId, ledger, keepMs: options.ledgerKeepMs, log, now },
    findStated: () => options.replica.place(tenantId).statementMs,
  });
  const progress: TenantProgress = {
    waitForFeed: (seq, ms) => options.replica.waitFor(tenantId, seq, ms),
    waitForRules: bundle.waitFor,
    kick: () => {
      feed.kick();
      bundle.kick();
    },
  };

  return {
    bundle,
    feed,
    /** For the barrier that waits until a change is enforced. */
    progress,
    trust: rules.trust,
    findStaleness: rules.findStaleness,
    /** The heartbeat's content has changed. */
    report: heartbeat.report,
    /** Retries everything at once, as after an outage. */
    kick: (): void => {
      for (const one of [feed, bundle, shipper]) one.kick();
    },
    status: (): TenantSyncStatus => ({
      ...rules.status(),
      shipper: shipper.status(),
      stream: shipping.stream.report(),
      heartbeat: heartbeat.status(),
      control_plane: contact.status(),
      log_watch: watcher?.status() ?? null,
    }),
    /**
     * Ships what it can within `ms`, then ends. A link that hangs must not block the process: its
     * records are shipped after the next start.
     */
    stop: async (ms: number): Promise<void> => {
      heartbeat.stop();
      pruner.stop();
      await shipper.flush(ms);
      const loops = [feed, bundle, shipper, payloads];
      const ended = Promise.all([
        ...loops.map((one) => one.stop()),
        adminHeads.stored(),
        watcher?.stop(),
      ]);
      await Promise.race([ended, setTimeout(ms, undefined, { ref: false })]);
    },
  };
}

/** What comes from the control plane: the rules, the facts, and the keys that sign both. */
async function startRules(
  options: TenantSyncOptions,
  loop: LoopOptions,
  onActivated: () => void,
  onAdminHead: (head: SignedAdminHead) => void,
) {
  const { replica, ledger, alerts, clock, log } = options;
  const { tenantId } = loop;
  const keys = createTenantKeys(options);
  const refusals = createRefusals({ tenantId, alerts, onUnknownKey: options.onUnknownKey });
  const named = createNamedBundle(clock);
  const freshness = createFreshness({
    clock,
    maxAgeMs: options.offlineMaxAgeMs,
    keptMs: replica.place(tenantId).statementMs,
    keptGeneration: replica.clockGeneration(tenantId),
    keepGeneration: (generation, newestMs) => {
      replica.beginClock(tenantId, generation, newestMs);
      log.warn(
        { tenantId, generation },
        'the control plane goes by another clock: times are forgotten',
      );
    },
    onFrozen: (age) => alerts.feedFrozen(tenantId, age),
  });
  const recognitions = loadRecognitions({
    path: join(options.dataDir, RECOGNITIONS_FOLDER, tenantId),
    deploymentId: options.answer.deployment_id,
    keptMs: replica.place(tenantId).statementMs,
    log,
  });
  const bundle = await startBundleSync({
    ...loop,
    keys: keys.ofBundles,
    files: createBundleFiles(options.dataDir, tenantId),
    load: options.load,
    findNamed: named.find,
    onActivated,
    onRefused: (failure, isNews) => refusals.add('bundle', failure, isNews),
  });
  const toldOfBundle = createBundleNews(bundle);
  const feed = startFeedFollower({
    ...loop,
    replica,
    freshness,
    recognitions,
    keys: keys.ofFeed,
    backlog: () => ledger.backlog(tenantId),
    onApplied: (entries) => {
      keys.refresh();
      toldOfBundle(entries);
    },
    onRewound: (from, to) => {
      log.warn({ tenantId, from, to }, 'the control plane went back in time');
      alerts.feedRewound(tenantId, from, to);
    },
    onStatement: (statement, counted, generation) => {
      named.note(statement);
      options.onStatement(counted, generation);
    },
    onAdminHead,
    onFailure: (failure, isNews) => {
      if (isRefusedCode(failure.code)) refusals.add('feed', failure, isNews);
    },
  });

  return {
    bundle,
    feed,
    /** Takes the keys of a newer registration. */
    trust: (newer: RegistrationAnswer): void => {
      keys.trust(newer);
      // What could not be verified may be valid now.
      feed.hurry();
      bundle.hurry();
    },
    /** Why the tenant's rules are too old to permit anything; null while they are fresh. */
    findStaleness: freshness.findDenial,
    /** What was refused of the newest answers; null for nothing. */
    findRefusal: (): SyncFailure | null => {
      const failures = [feed.status().failure, bundle.status().failure];
      return failures.find((failure) => failure && isRefusedCode(failure.code)) ?? null;
    },
    status: () => ({
      feed: feed.status(),
      bundle: bundle.status(),
      freshness: freshness.status(),
      refusals: refusals.counts(),
    }),
  };
}

/** What goes to the control plane: records and payloads. */
function startShipping(options: TenantSyncOptions, loop: LoopOptions, onStopChanged: () => void) {
  const { ledger, now } = options;
  const shipper = startShipper({
    ...loop,
    ledger,
    delayMs: options.shipDelayMs,
    onStopped: (stop) => {
      options.onStreamStopped(stop);
      onStopChanged();
    },
    onResumed: onStopChanged,
  });
  const payloads = startPayloadShipper({ ...loop, spool: options.payloadSpool });
  return { shipper, payloads, stream: createStreamReporter({ shipper, ledger, now }) };
}
