/**
 * The newest bundle of each tenant, from memory. A change costs one database read for all waiting
 * data planes; a poll costs none, apart from a check every ten seconds that the cached bundle is
 * still the newest.
 */
import type { BundleDownload, ControlPlaneLink } from '@governance/shared/channel/channels';
import { LRUCache } from 'lru-cache';
import { createSharedReads } from '../feed/shared-reads.ts';
import { createTenantListeners, type Waiter } from '../feed/tenant-listeners.ts';
import type { ChangeBus } from '../platform/database/change-bus.ts';
import { systemScope, type TenantDatabase } from '../platform/database/tenant-scope.ts';
import { bundleStore } from './bundle-store.ts';

/** The most bytes of bundles kept in memory. */
const MAX_CACHED_BYTES = 256 * 1024 * 1024;

export interface BundleSource {
  /** The newest bundle, undefined before the first was built. */
  findCurrent(tenantId: string): Promise<BundleDownload | undefined>;
  /**
   * The newest bundle if its digest is not `digest`, else null after at most `waitMs`.
   *
   * @throws AppError UNAVAILABLE when too many wait already
   */
  pullBundle(
    request: Waiter & Parameters<ControlPlaneLink['pullBundle']>[0],
  ): Promise<BundleDownload | null>;
  /** Ends every wait; each answers null. */
  close(): void;
}

export interface BundleSourceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  changes: Pick<ChangeBus, 'subscribe'>;
  /** How long a cached bundle is used before it is checked again. */
  recheckAfterMs?: number;
}

/** A replica may die between its commit and its notification. */
const RECHECK_AFTER_MS = 10_000;

interface Cached {
  /** The tenant's version when the read began. */
  version: number;
  /** When the read began, by performance.now(). */
  readAt: number;
  download: BundleDownload;
}

export function createBundleSource(deps: BundleSourceDeps): BundleSource {
  const { db, changes, recheckAfterMs = RECHECK_AFTER_MS } = deps;
  const cache = new LRUCache<string, Cached>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ download }) => download.bytes.length + 1_024,
  });
  // Subscribed first, so that a change ends the sharing before it wakes the readers.
  const reads = createSharedReads<BundleDownload | undefined>(changes);
  const listeners = createTenantListeners(changes);

  const findCurrent = async (tenantId: string): Promise<BundleDownload | undefined> => {
    const cached = cache.get(tenantId);
    if (cached?.version === reads.version(tenantId)) {
      if (performance.now() - cached.readAt < recheckAfterMs) return cached.download;
    }
    return reads.read(tenantId, 'current', async () => {
      const version = reads.version(tenantId);
      const readAt = performance.now();
      const download = await read(tenantId, cached?.download);
      if (download) cache.set(tenantId, { version, readAt, download });
      return download;
    });
  };

  /** Most changes of a tenant bring no new bundle: keep the bytes. */
  const read = (tenantId: string, known: BundleDownload | undefined) =>
    db.inTenant(systemScope(tenantId), async (tx) => {
      const store = bundleStore(tx);
      if (known && (await store.currentRevision()) === known.revision) return known;
      return store.findCurrent();
    });

  return {
    findCurrent,
    pullBundle: async ({ tenantId, deploymentId, digest, waitMs, signal }) => {
      const listener = listeners.listen({ tenantId, deploymentId }, { waitMs, signal });
      try {
        // Reads once more when the time is up: a notification may have been lost.
        for (let isLast = waitMs <= 0; ; ) {
          const download = await findCurrent(tenantId);
          if (download && download.digest !== digest) return download;
          if (isLast || signal?.aborted) return null;
          isLast = !(await listener.next());
        }
      } finally {
        listener.end();
      }
    },
    close: () => {
      listeners.close();
      reads.close();
    },
  };
}
