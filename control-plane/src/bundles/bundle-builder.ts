/**
 * Builds tenants' bundles: reads the active policies and the settings in one snapshot, compiles
 * only what was not compiled before, signs, and stores the bundle together with its feed entry and
 * the tenant's revision. What does not differ from the newest bundle gets no new revision. A build
 * that fails leaves the last good bundle in force and is told by a log, a metric and an alert.
 */
import type { CompiledPolicySet, PolicySource, RegoCompiler } from '@governance/policies/contract';
import { AppError } from '@governance/shared/errors';
import { isUniqueViolation } from '../platform/database.ts';
import { SYSTEM_ACTOR, systemScope, type TenantDatabase } from '../platform/tenant-scope.ts';
import { readActivePolicies } from '../policies/policy-store.ts';
import { createBuildQueue } from './build-queue.ts';
import {
  type BundleSigner,
  composeBundle,
  contentDigest,
  readCompiledSet,
} from './bundle-content.ts';
import { bundleStore, type StoredBundle } from './bundle-store.ts';
import { readSettings } from './read-settings.ts';

/** Bundles kept of each tenant: data planes may still be fetching the one before. */
const KEPT_BUNDLES = 5;

/** Another replica that builds at the same moment wins a round at most; then it has nothing to do. */
const MAX_ROUNDS = 5;

export interface BuiltBundle {
  revision: number;
  /** Where the tenant's feed says so; undefined when there was nothing new to build. */
  feedSeq: number | undefined;
}

export interface BundleObserver {
  /** A new bundle is stored; `ms` is the build's time without the waiting before it. */
  built(
    tenantId: string,
    bundle: BuiltBundle & { bytes: number; ms: number; compiled: boolean },
  ): void;
  /** The tenant's newest bundle includes what there is. */
  settled(tenantId: string): void;
  /** The tenant keeps its last good bundle. Must not throw. */
  failed(tenantId: string, error: unknown): Promise<void>;
}

export interface BundleBuilderDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads' | 'inPlatform'>;
  compiler: Pick<RegoCompiler, 'compile' | 'sourcesDigest'>;
  /** The key that signs now. */
  signer(): Promise<BundleSigner>;
  now(): Date;
  observer: BundleObserver;
  /** How long a build waits for more changes, in milliseconds; 20 unless given. */
  debounceMs?: number;
}

export interface BundleBuilder {
  /**
   * Asks for a bundle that includes everything committed before this call, and waits for it.
   *
   * @throws AppError UNAVAILABLE when it could not be built: what was committed stands, the last
   *   good bundle stays in force, and the build is tried again by itself
   */
  requestBuild(tenantId: string): Promise<BuiltBundle>;
  /** Builds what is missing or outdated, for every tenant, one after the other, until the signal. */
  buildAll(signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export function createBundleBuilder(deps: BundleBuilderDeps): BundleBuilder {
  const { db, observer } = deps;

  async function build(tenantId: string): Promise<BuiltBundle> {
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const built = await buildOnce(tenantId);
        if (!built) continue;
        observer.settled(tenantId);
        return built;
      }
      throw new Error('other replicas kept building the same bundle');
    } catch (error) {
      await observer.failed(tenantId, error);
      throw new AppError(
        'UNAVAILABLE',
        'The change is stored, but the policy bundle could not be built: the last one stays in force, and the build is tried again.',
        { cause: error },
      );
    }
  }

  /** @returns undefined when another replica stored a bundle in between */
  async function buildOnce(tenantId: string): Promise<BuiltBundle | undefined> {
    const started = performance.now();
    const signer = await deps.signer();
    const state = await readState(tenantId);
    const sourcesDigest = deps.compiler.sourcesDigest(state.policies);
    const content = { tenantId, sourcesDigest, settings: state.settings, signer };
    const digestOfContent = contentDigest(content);
    if (state.newest?.contentDigest === digestOfContent) {
      return { revision: state.revision, feedSeq: undefined };
    }

    const reused = await reuseCompiled(tenantId, state.newest, sourcesDigest, signer);
    const compiled = reused ?? (await compile(state.policies));
    const revision = Math.max(state.revision + 1, deps.now().getTime());
    const { settings } = state;
    const bundle = await composeBundle({ tenantId, revision, compiled, settings, signer });
    const stored = await db
      .inTenantWithHeads(systemScope(tenantId), async (tx) => {
        const store = bundleStore(tx);
        await store.insert({
          revision,
          digest: bundle.digest,
          contentDigest: digestOfContent,
          sourcesDigest,
          bytes: new Uint8Array(bundle.bytes),
        });
        await store.prune(KEPT_BUNDLES);
        if (!(await store.advance(state.revision, revision))) throw new Outrun();
        const value = { revision, digest: bundle.digest };
        tx.feed.append({ kind: 'bundle', key: 'current', value });
      })
      .catch((error) => {
        // Both chose the same millisecond, or this one came second.
        if (error instanceof Outrun || isUniqueViolation(error)) return undefined;
        throw error;
      });
    if (!stored) return undefined;
    const built = { revision, feedSeq: stored.feedSeq };
    const ms = performance.now() - started;
    observer.built(tenantId, { ...built, bytes: bundle.bytes.length, ms, compiled: !reused });
    return built;
  }

  function readState(tenantId: string) {
    return db.inTenant(
      systemScope(tenantId),
      async (tx) => {
        const store = bundleStore(tx);
        const revision = await store.currentRevision();
        return {
          revision,
          newest: await store.find(revision),
          policies: await readActivePolicies(tx),
          settings: await readSettings(tx),
        };
      },
      // One moment: the revision must not be newer than the policies beside it.
      { isolationLevel: 'RepeatableRead' },
    );
  }

  async function reuseCompiled(
    tenantId: string,
    newest: StoredBundle | undefined,
    sourcesDigest: string,
    signer: BundleSigner,
  ): Promise<CompiledPolicySet | undefined> {
    if (newest?.sourcesDigest !== sourcesDigest) return undefined;
    const bytes = await db.inTenant(systemScope(tenantId), (tx) =>
      bundleStore(tx).findBytes(newest.revision),
    );
    if (!bytes) return undefined;
    try {
      const compiled = await readCompiledSet(bytes, { tenantId, signer });
      return compiled.digest === sourcesDigest ? compiled : undefined;
    } catch {
      // Damaged, or signed by an older key: compiling costs some time, trusting it could cost more.
      return undefined;
    }
  }

  async function compile(policies: PolicySource[]): Promise<CompiledPolicySet> {
    const result = await deps.compiler.compile(policies);
    if (result.ok) return result;
    const [first] = result.diagnostics;
    throw new Error(
      `the active policies do not compile: ${first?.policy_id ?? ''} ${first?.row}:${first?.col} ${first?.message}`,
    );
  }

  const queue = createBuildQueue({ build, debounceMs: deps.debounceMs ?? 20, concurrency: 2 });
  return {
    requestBuild: queue.request,
    buildAll: async (signal) => {
      const tenants = await db.inPlatform(SYSTEM_ACTOR, (tx) =>
        tx.db.tenant.findMany({ select: { id: true }, orderBy: { createdAt: 'asc' } }),
      );
      for (const { id } of tenants) {
        if (signal?.aborted) return;
        // Told by the observer and tried again; one tenant's failure is not the others'.
        await queue.request(id).catch(() => undefined);
      }
    },
    close: queue.close,
  };
}

class Outrun extends Error {}
