/**
 * Builds tenants' bundles: reads the active policies and the settings in one snapshot, compiles
 * only what was not compiled before, signs, and stores the bundle together with its feed entry and
 * the tenant's revision. Unchanged content gets no new revision, unless a data plane already
 * decides by a newer one. A failed build leaves the last good bundle in force; a log line, a metric
 * and an alert report it.
 */
import type { PolicySource } from '@governance/policies/contract';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { AppError } from '@governance/shared/errors';
import { isUniqueViolation } from '../platform/database/database.ts';
import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { createBuildQueue } from './build-queue.ts';
import { bundleStore } from './bundle-store.ts';
import { createNewerRevisions } from './newer-revisions.ts';
import {
  type BundleState,
  type CheckedState,
  isUpToDate,
  makeNextBundle,
  type NextBundle,
  type NextBundleDeps,
} from './next-bundle.ts';
import {
  describeUnrecorded,
  type FindUnrecorded,
  UNRECORDED_REMEDY,
  UnrecordedPoliciesError,
  type UnrecordedPolicy,
} from './unrecorded-policies.ts';

/** Bundles kept per tenant: a data plane may still be fetching the previous one. */
const KEPT_BUNDLES = 5;

export interface BuiltBundle {
  revision: number;
  /** The feed entry that announces it; undefined when nothing new was built. */
  feedSeq: number | undefined;
}

export interface BundleObserver {
  /** A new bundle is stored; `ms` is the build's own time, without queueing. */
  built(
    tenantId: string,
    bundle: BuiltBundle & { bytes: number; ms: number; compiled: boolean },
  ): void;
  /** A bundle with policies that no record vouches for. Must not throw. */
  doubted(tenantId: string, policies: readonly UnrecordedPolicy[]): Promise<void>;
  /** The tenant's newest bundle is up to date. Must not throw. */
  settled(tenantId: string): Promise<void>;
  /** The tenant keeps its last good bundle. Must not throw. */
  failed(tenantId: string, error: unknown): Promise<void>;
}

export interface BundleBuilderDeps extends NextBundleDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads' | 'inPlatform'>;
  /** The active policies of the transaction's tenant, ordered by id. */
  readPolicies(tx: TenantTransaction): Promise<PolicySource[]>;
  /** Finds those that are not what was recorded: the bundle would sign what a hand wrote. */
  prepareCheck(): Promise<FindUnrecorded>;
  /** Its enforcement settings, of all features. */
  readSettings(tx: TenantTransaction): Promise<BundleSettings>;
  observer: BundleObserver;
  /** How long a build waits for more changes, in milliseconds. */
  debounceMs?: number;
}

export interface BundleBuilder {
  /**
   * Asks for a bundle that includes everything committed before this call, and waits for it.
   *
   * @throws AppError UNAVAILABLE when it could not be built: the change stays committed, the last
   * good bundle in force, and the build is retried
   */
  requestBuild(tenantId: string): Promise<BuiltBundle>;
  /**
   * Call it when a data plane uses a revision above the tenant's newest, which means that this
   * database was restored to an earlier state. The bundle is rebuilt with a higher revision, since
   * no data plane goes back to a lower one. At most once a minute per tenant.
   */
  noteNewerRevision(tenantId: string, revision: number): void;
  /** Builds missing and outdated bundles, one tenant after the other, until the signal aborts. */
  buildAll(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Changes that follow one another this soon share a build. */
const DEBOUNCE_MS = 20;
/** Tenants whose bundles are built at the same time. */
const CONCURRENT_BUILDS = 2;

export function createBundleBuilder(deps: BundleBuilderDeps): BundleBuilder {
  const { db, observer } = deps;
  const newer = createNewerRevisions(deps.now);

  async function readState(tx: TenantTransaction): Promise<BundleState> {
    const store = bundleStore(tx);
    const revision = await store.currentRevision();
    return {
      tenantId: tx.scope.tenantId,
      revision,
      newest: await store.find(revision),
      policies: await deps.readPolicies(tx),
      settings: await deps.readSettings(tx),
    };
  }

  const readChecked =
    (find: FindUnrecorded) =>
    async (tx: TenantTransaction): Promise<CheckedState> => {
      const check = await find(tx);
      const state = await readState(tx);
      return { ...state, ...(await check(state.policies)) };
    };

  /** Nothing is signed that no administrator saved, as far as that can be known. */
  function requireRecorded({ unrecorded }: CheckedState): void {
    const refused = unrecorded.filter(({ isDoubtful }) => !isDoubtful);
    if (refused.length > 0) throw new UnrecordedPoliciesError(refused);
  }

  /** Outside any transaction: the alert takes a connection of its own. */
  async function tellDoubts({ tenantId, unrecorded }: CheckedState): Promise<void> {
    if (unrecorded.length > 0) await observer.doubted(tenantId, unrecorded);
  }

  async function build(tenantId: string): Promise<BuiltBundle> {
    try {
      const built = (await buildAside(tenantId)) ?? (await buildLocked(tenantId));
      await observer.settled(tenantId);
      return built;
    } catch (error) {
      await observer.failed(tenantId, error);
      throw new AppError('UNAVAILABLE', whyNotBuilt(error), { cause: error });
    }
  }

  /**
   * Compiles outside any transaction, then stores if nothing changed meanwhile.
   *
   * @returns undefined when another replica stored a bundle in between
   */
  async function buildAside(tenantId: string): Promise<BuiltBundle | undefined> {
    const scope = systemScope(tenantId);
    const started = performance.now();
    // One snapshot: the revision must not be newer than the policies read with it.
    const inSnapshot = { isolationLevel: 'RepeatableRead' } as const;
    const seen = await db.inTenant(scope, readState, inSnapshot);
    if (await isUpToDate(deps, seen, newer.newestOf(tenantId))) {
      return { revision: seen.revision, feedSeq: undefined };
    }
    const find = await deps.prepareCheck();
    const state = await db.inTenant(scope, readChecked(find), inSnapshot);
    requireRecorded(state);
    await tellDoubts(state);
    const next = await makeNextBundle(deps, state, newer.newestOf(tenantId), (revision) =>
      db.inTenant(scope, (tx) => bundleStore(tx).findBytes(revision)),
    );
    if (!next) return { revision: state.revision, feedSeq: undefined };
    const stored = await db
      .inTenantWithHeads(scope, async (tx) => {
        await bundleStore(tx).lockBuilds();
        await storeBundle(tx, state, next);
      })
      .catch((error) => {
        // Another replica was first, or chose the same millisecond.
        if (error instanceof Outrun || isUniqueViolation(error)) return undefined;
        throw error;
      });
    return stored && reportBuilt(tenantId, next, stored.feedSeq, started);
  }

  /**
   * Compiles and stores under the tenant's lock, for replicas that build concurrently: each gets its
   * turn, however long the others compile.
   */
  async function buildLocked(tenantId: string): Promise<BuiltBundle> {
    const started = performance.now();
    const read = readChecked(await deps.prepareCheck());
    const { result, feedSeq } = await db.inTenantWithHeads(systemScope(tenantId), async (tx) => {
      const store = bundleStore(tx);
      await store.lockBuilds();
      let state = await read(tx);
      // Not one snapshot: a policy that was saved meanwhile is of two minds only once.
      if (state.unrecorded.length > 0) state = await read(tx);
      requireRecorded(state);
      const next = await makeNextBundle(deps, state, newer.newestOf(tenantId), store.findBytes);
      if (next) await storeBundle(tx, state, next);
      return { next, state };
    });
    await tellDoubts(result.state);
    if (!result.next) return { revision: result.state.revision, feedSeq: undefined };
    return reportBuilt(tenantId, result.next, feedSeq, started);
  }

  function reportBuilt(
    tenantId: string,
    { revision, bytes, isCompiled }: NextBundle,
    feedSeq: number | undefined,
    started: number,
  ): BuiltBundle {
    const built = { revision, feedSeq };
    const ms = performance.now() - started;
    observer.built(tenantId, { ...built, bytes: bytes.length, ms, compiled: isCompiled });
    return built;
  }

  const queue = createBuildQueue({
    build,
    debounceMs: deps.debounceMs ?? DEBOUNCE_MS,
    concurrency: CONCURRENT_BUILDS,
  });
  return {
    requestBuild: queue.request,
    noteNewerRevision: (tenantId, revision) => {
      if (!newer.note(tenantId, revision)) return;
      // The observer has reported it; the queue retries.
      void queue.request(tenantId).catch(() => undefined);
    },
    buildAll: async (signal) => {
      const tenants = await db.inPlatform(SYSTEM_ACTOR, (tx) =>
        tx.db.tenant.findMany({ select: { id: true }, orderBy: { createdAt: 'asc' } }),
      );
      for (const { id } of tenants) {
        if (signal?.aborted) return;
        // The observer has reported it and the queue retries; other tenants are not affected.
        await queue.request(id).catch(() => undefined);
      }
    },
    close: queue.close,
  };
}

function whyNotBuilt(error: unknown): string {
  if (error instanceof UnrecordedPoliciesError) {
    const which = describeUnrecorded(error.policies);
    return `The change is stored, but not in force: policies are not what was recorded, and the last bundle stays. ${which}. ${UNRECORDED_REMEDY}`;
  }
  return 'The change is stored, but the policy bundle could not be built: the last one stays in force, and the build is tried again.';
}

/** @throws Outrun when the state has changed since it was read */
async function storeBundle(
  tx: TenantTransaction,
  state: BundleState,
  { isCompiled: _, signed, ...bundle }: NextBundle,
): Promise<void> {
  const { revision, digest } = bundle;
  const store = bundleStore(tx);
  await store.insert(bundle);
  await store.insertSigned({ revision, digest, ...signed });
  await store.prune(KEPT_BUNDLES);
  if (!(await store.advance(state.revision, revision))) throw new Outrun();
  tx.feed.append({ kind: 'bundle', key: 'current', value: { revision, digest } });
}

/** Another build of the tenant was stored first. */
class Outrun extends Error {}
