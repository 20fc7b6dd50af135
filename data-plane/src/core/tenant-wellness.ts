import { isRefusedCode } from '../sync/link/sync-failure.ts';
import type { TenantStatus } from './data-plane-core.ts';

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
  const failures = [feed.failure, bundle.failure];
  const isRefused = failures.some((failure) => failure !== null && isRefusedCode(failure.code));
  return denied === null && !stream.is_stopped && !isRefused;
}
