/**
 * Why nobody of a tenant may act at this data plane: the control plane revoked it or saw another
 * writer with its key, its rules are stale, or it received facts that it does not know or cannot
 * store.
 */
import type { PlaneDenial } from '../contracts.ts';
import type { loadStanding } from '../identity/standing.ts';
import type { LocalReplica } from '../replica/replica.ts';
import type { TenantSync } from '../sync/tenant-sync.ts';

export function createTenantDenials(deps: {
  standing: ReturnType<typeof loadStanding>;
  replica: Pick<LocalReplica, 'findUnknownKind'>;
  findSync(tenantId: string): Pick<TenantSync, 'findStaleness' | 'feed'> | undefined;
}) {
  const { standing, replica } = deps;
  return {
    /** Null where they may. Cheap: asked at every call. */
    findDenial(tenantId: string): PlaneDenial | null {
      const denial = standing.find(tenantId);
      if (denial) return denial;
      const sync = deps.findSync(tenantId);
      const stale = sync?.findStaleness() ?? null;
      if (stale !== null) return { reason: 'offline_max_age', message: stale };
      if (sync?.feed.isUnstored()) {
        const message = 'The data plane cannot store what the control plane changed.';
        return { reason: 'facts_not_stored', message };
      }
      const kind = replica.findUnknownKind(tenantId)?.slice(0, 60);
      if (kind === undefined) return null;
      const message = `The data plane is too old to enforce what the control plane sent (${kind}).`;
      return { reason: 'fact_unknown', message };
    },
    /** The control plane revoked this data plane: stored durably, until it is reinstated. */
    revoke: (tenantId: string, message: string) =>
      standing.deny(tenantId, 'tenant_revoked', message),
    /** The control plane saw another writer with this plane's key: stored, never lifted. */
    fork: (tenantId: string, message: string) => standing.deny(tenantId, 'stream_forked', message),
    /** The control plane recognises this data plane again. This does not lift a fork. */
    reinstate: standing.reinstate,
  };
}
