/**
 * Keeps a tenant's rules current: pull, verify, activate, report. The active rules are swapped in
 * one assignment after every earlier stage passed; any failure keeps the last good ones, and where
 * there are none every call is denied. Proven by bundle-sync.test.ts.
 */
import { hash } from 'node:crypto';
import type { BundleVerificationKey } from '@governance/shared/bundle/bundle-signature';
import type { BundleDownload, ControlPlaneLink } from '@governance/shared/channel/channels';
import type { ActiveRules } from '../../contracts.ts';
import { createProgressWaiters } from '../../storage/progress-waiters.ts';
import { FREEZE_AFTER_MS } from '../feed/freshness.ts';
import { SYNC_BACKOFF } from '../link/backoff.ts';
import { BundleRefusedError } from '../link/bundle-error.ts';
import { startPollLoop } from '../link/poll-loop.ts';
import {
  aboutFailure,
  type SyncFailure,
  type SyncLog,
  toSyncFailure,
} from '../link/sync-failure.ts';
import type { BundleFiles } from './bundle-files.ts';
import { activatePolicy, type LoadPolicyEngine } from './policy-activation.ts';
import { verifyBundle } from './verify-bundle.ts';

const WAIT_MS = 25_000;

export interface BundleStatus {
  active: { revision: number; digest: string } | null;
  last_attempt_at: string | null;
  last_verified_at: string | null;
  last_activated_at: string | null;
  failure: SyncFailure | null;
}

export type BundleSync = Awaited<ReturnType<typeof startBundleSync>>;

/** Loads the last good bundle from disk, then begins to follow the control plane. */
export async function startBundleSync(options: {
  tenantId: string;
  link: Pick<ControlPlaneLink, 'pullBundle'>;
  /** The public keys that may sign bundles now. */
  keys: () => readonly BundleVerificationKey[];
  files: BundleFiles;
  load: LoadPolicyEngine;
  /** The newest revision that a verified statement named, and for how long it has been known. */
  findNamed?: () => { revision: number; forMs: number } | null;
  /** Called when other rules came into force, after the stored ones at the start. */
  onActivated?: () => void;
  /** Called for each refusal; `isNews` where the reason differs from the one before. */
  onRefused: (failure: SyncFailure, isNews: boolean) => void;
  log: SyncLog;
  now: () => number;
  backoffLimits?: { first: number; longest: number };
}) {
  const { tenantId, link, files, log } = options;
  const time = () => new Date(options.now()).toISOString();
  const status: BundleStatus = {
    active: null,
    last_attempt_at: null,
    last_verified_at: null,
    last_activated_at: null,
    failure: null,
  };
  let active: ActiveRules | null = null;
  let signedBy = '';
  let unsaved: { revision: number; bytes: Uint8Array; kid: string } | null = null;
  let stage = 'pull';
  let stopped = false;
  const waiters = createProgressWaiters(() => active?.revision ?? 0);

  async function activate(download: BundleDownload): Promise<void> {
    stage = 'verify';
    const keys = options.keys();
    // What a revoked key signed counts no more, or its last holder could keep all other rules out.
    const isStanding = keys.some(({ kid }) => kid === signedBy);
    const newest = isStanding ? (active?.revision ?? 0) : 0;
    const trust = { tenantId, keys, highWater: Math.max(files.readHighWater(keys), newest) };
    const bundle = await verifyBundle(download, trust);
    status.last_verified_at = time();
    requireNamed(bundle.revision);
    if (isStanding && bundle.revision === active?.revision) {
      if (bundle.digest === active.digest) return;
      throw new BundleRefusedError('revision_reused', 'the revision is active with other content');
    }
    stage = 'activate';
    const engine = await activatePolicy(bundle, options.load);
    if (stopped) return;
    const { revision, digest, settings, kid } = bundle;
    active = { revision, digest, settings, engine };
    status.active = { revision, digest };
    status.last_activated_at = time();
    signedBy = kid;
    unsaved = { revision, bytes: bundle.bytes, kid };
  }

  /** New rules take effect before they are stored: a full disk must not delay a denial. */
  async function save(): Promise<void> {
    if (!unsaved) return;
    stage = 'persist';
    await files.keep(unsaved.revision, unsaved.bytes, unsaved.kid);
    unsaved = null;
  }

  function report(error: unknown): void {
    const failure = toSyncFailure(stage, error, options.now());
    const news = failure.code !== status.failure?.code || failure.stage !== status.failure.stage;
    status.failure = failure;
    if (news) log.warn({ tenantId, ...aboutFailure(failure) }, 'no newer bundle was activated');
    if (error instanceof BundleRefusedError) options.onRefused(failure, news);
  }

  /**
   * Nobody may withhold newer rules unnoticed: the signed statement names the newest bundle.
   *
   * @throws BundleRefusedError stale where a newer one was named too long ago
   */
  function requireNamed(revision: number): void {
    const named = options.findNamed?.() ?? null;
    if (!named || revision >= named.revision || named.forMs <= FREEZE_AFTER_MS) return;
    const what = `revision ${revision} came where ${named.revision} is in force`;
    throw new BundleRefusedError('stale', what);
  }

  async function step(signal: AbortSignal): Promise<boolean> {
    // Retries what an earlier round could not store.
    await save();
    stage = 'pull';
    status.last_attempt_at = time();
    const digest = active?.digest ?? null;
    const download = await link.pullBundle({ digest, waitMs: WAIT_MS, signal });
    if (!download) {
      stage = 'verify';
      requireNamed(active?.revision ?? 0);
      status.failure = null;
      return false;
    }
    const before = active?.revision;
    try {
      await activate(download);
      if (active?.revision !== before) options.onActivated?.();
      await save();
      status.failure = null;
    } finally {
      // Waiters wait for a revision to be in force, stored or not.
      waiters.reached(tenantId, active?.revision ?? 0);
    }
    return true;
  }

  async function loadKept(): Promise<void> {
    for (const { revision, bytes } of files.read()) {
      try {
        await activate({ revision, digest: hash('sha256', bytes, 'hex'), bytes });
        unsaved = null;
        return;
      } catch (error) {
        report(error);
      }
    }
  }

  await loadKept();
  const loop = startPollLoop({
    step,
    onFailure: report,
    limitsOf: () => options.backoffLimits ?? SYNC_BACKOFF,
  });

  return {
    ...loop,
    stop: async (): Promise<void> => {
      stopped = true;
      waiters.drop(tenantId);
      await loop.stop();
    },
    activeRules: (): ActiveRules | null => active,
    /** Whether this revision or a newer one was activated within `ms`. */
    waitFor: (revision: number, ms: number): Promise<boolean> =>
      waiters.wait(tenantId, revision, ms),
    status: (): BundleStatus => ({ ...status }),
  };
}
