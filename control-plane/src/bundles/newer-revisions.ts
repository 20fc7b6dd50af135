/** Revisions in use at data planes that are above the tenant's newest here. */
import { LRUCache } from 'lru-cache';

/**
 * A revision is a time in milliseconds, from a clock that may be ahead. A report of a revision
 * further ahead than this is ignored as false.
 */
const MAX_AHEAD_MS = 24 * 60 * 60 * 1000;
const NOTED_EVERY_MS = 60_000;
const NOTED_TENANTS = 10_000;

export function createNewerRevisions(now: () => Date) {
  const newest = new LRUCache<string, number>({ max: NOTED_TENANTS });
  const notedLately = new LRUCache<string, true>({ max: NOTED_TENANTS, ttl: NOTED_EVERY_MS });

  return {
    /** The newest one that was noted; 0 without one. */
    newestOf: (tenantId: string): number => newest.get(tenantId) ?? 0,

    /** @returns false where it was ignored: it is false, or the tenant had one a minute ago */
    note: (tenantId: string, revision: number): boolean => {
      if (revision > now().getTime() + MAX_AHEAD_MS || notedLately.has(tenantId)) return false;
      notedLately.set(tenantId, true);
      newest.set(tenantId, Math.max(revision, newest.get(tenantId) ?? 0));
      return true;
    },
  };
}
