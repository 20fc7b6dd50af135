import { isRefusedCode, type SyncFailure } from '../sync/link/sync-failure.ts';
import type { TenantStatus } from './data-plane-core.ts';

/** Why what arrived on a channel was refused; null where nothing was, or nothing arrived. */
export function findRefusal({ failure }: { failure: SyncFailure | null }): SyncFailure | null {
  return failure && isRefusedCode(failure.code) ? failure : null;
}

/**
 * Whether a tenant's calls are judged by the newest that its control plane sent, and its records
 * arrive there. What cannot be reached is no fault: the rules known stay in force for a while. What
 * arrives and is refused is one, since a kill switch would be refused as well.
 *
 * @param denied why every call of the tenant is denied; null where none is
 */
export function isTenantWell(
  { feed, bundle, stream }: Pick<TenantStatus, 'feed' | 'bundle' | 'stream'>,
  denied: string | null,
): boolean {
  const isRefused = findRefusal(feed) !== null || findRefusal(bundle) !== null;
  return denied === null && !stream.is_stopped && !isRefused;
}
